"""CopyPlan: what a memcpy node copies, and what must live for it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..allocation import PinnedBuffer
from ..array_view import is_host_array
from ..device_span import as_array_view, contiguous, contiguous_host
from ..hip_abi import MemcpyKind

__all__ = ["CopyPlan", "plan_copy"]

#: By (source on the device, destination on the device).
_DIRECTIONS = MappingProxyType(
    {
        (False, False): MemcpyKind.HOST_TO_HOST,
        (False, True): MemcpyKind.HOST_TO_DEVICE,
        (True, False): MemcpyKind.DEVICE_TO_HOST,
        (True, True): MemcpyKind.DEVICE_TO_DEVICE,
    }
)


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """A copy of contiguous bytes.

    Attributes:
        destination: Address written.
        source: Address read.
        nbytes: How many bytes.
        direction: Which sides are on the device.
        keep: The owners of both sides.
    """

    destination: int
    source: int
    nbytes: int
    direction: MemcpyKind
    keep: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a copy."""

    address: int
    nbytes: int
    owner: object
    on_device: bool = False
    readonly: bool = False


def plan_copy(destination: Any, source: Any, *, live: bool) -> CopyPlan:
    """Plan to copy all of `source` to the start of `destination`.

    Args:
        destination: A device array, PinnedBuffer or NumPy array.
        source: The same, or bytes.
        live: Read a host array at each replay; else its bytes are copied now.

    Raises:
        TypeError: One of them is no array.
        ValueError: Not contiguous, read-only, empty, or the source does not fit.
    """
    target = _side(destination, "destination", snapshot=False)
    if target.readonly:
        raise ValueError(f"destination={destination!r}: it is read-only")
    origin = _side(source, "source", snapshot=not live)
    if origin.nbytes > target.nbytes:
        raise ValueError(
            f"source={source!r}: {origin.nbytes} bytes do not fit into the"
            f" {target.nbytes} of destination={destination!r}"
        )
    if not origin.nbytes:
        raise ValueError(f"source={source!r}: HIP has no node that copies 0 bytes")
    direction = _DIRECTIONS[origin.on_device, target.on_device]
    keep = target.owner, origin.owner
    return CopyPlan(target.address, origin.address, origin.nbytes, direction, keep)


def _side(array: Any, name: str, *, snapshot: bool) -> _Side:
    if isinstance(array, PinnedBuffer):
        return _Side(array.address, array.nbytes, array)
    if is_host_array(array):
        host = _host_array(array, name)
        if snapshot:
            host = host.copy()
        readonly = not host.flags.writeable
        return _Side(host.ctypes.data, host.nbytes, host, readonly=readonly)
    view = contiguous(as_array_view(array, name), name)
    return _Side(view.address, view.nbytes, view.owner, on_device=True, readonly=view.readonly)


def _host_array(array: Any, name: str) -> np.ndarray[Any, Any]:
    if isinstance(array, np.ndarray | np.generic):
        host: np.ndarray[Any, Any] = np.asarray(array)
    else:
        host = np.frombuffer(array, np.uint8)
    return contiguous_host(host, name)
