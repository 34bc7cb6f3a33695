"""ArrayView: device memory of others, read through DLPack or __cuda_array_interface__."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .devices import device_info
from .dlpack import DeviceType, read_tensor
from .runtime import library

__all__ = ["ArrayView", "device_type", "foreign_view", "is_host_array"]

NO_SYNCHRONIZATION = -1


@dataclass(frozen=True, slots=True)
class ArrayView:
    """Where an array is on a device; `owner` keeps the memory, strides None: C-contiguous."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides_bytes: tuple[int, ...] | None
    device: int
    owner: object
    readonly: bool = False

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow each other in C order."""
        if self.strides_bytes is None or self.nbytes == 0:
            return True
        step = self.dtype.itemsize
        for extent, stride in zip(reversed(self.shape), reversed(self.strides_bytes), strict=True):
            if extent != 1 and stride != step:
                return False
            step *= extent
        return True


def device_type() -> DeviceType:
    """Return how DLPack calls the devices of the loaded library."""
    return DeviceType.CUDA if library().kind == "cuda" else DeviceType.ROCM


def is_host_array(array: Any) -> bool:
    """Tell whether an object holds its data in host memory."""
    return isinstance(array, np.ndarray | np.generic | bytes | bytearray | memoryview)


def foreign_view(array: Any, name: str) -> ArrayView:
    """Read where an array of another library is; no synchronisation takes place.

    Work on it must be ordered by streams: by the stream that made it, or one that waits for it.

    Raises:
        TypeError: a host array, or an object that is no device array.
        ValueError: memory of another kind of device.
    """
    if isinstance(array, ArrayView):
        return array
    if is_host_array(array):
        raise TypeError(
            f"{name}: host array passed where device memory is expected: copy it into a Buffer"
        )
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _from_dlpack(array, name)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(
            f"{name}={array!r}: expected a Buffer, or an object with __dlpack__ or "
            "__cuda_array_interface__"
        )
    return _from_interface(array, interface, name)


def _from_dlpack(array: Any, name: str) -> ArrayView:
    kind, _ = array.__dlpack_device__()
    if kind != device_type():
        found = DeviceType(kind).name if kind in tuple(DeviceType) else f"device type {kind}"
        raise ValueError(
            f"{name}: its memory is {found} memory, this process uses {device_type().name}: "
            "copy it into a Buffer"
        )
    tensor = read_tensor(array.__dlpack__(stream=NO_SYNCHRONIZATION))
    _check_address(tensor.address, tensor.shape, name)
    return ArrayView(
        address=tensor.address,
        shape=tensor.shape,
        dtype=tensor.dtype,
        strides_bytes=tensor.strides_bytes,
        device=tensor.device,
        owner=tensor.owner,
    )


def _from_interface(array: Any, interface: dict[str, Any], name: str) -> ArrayView:
    address, readonly = interface["data"]
    shape = tuple(int(extent) for extent in interface["shape"])
    strides = interface.get("strides")
    # Its `stream` is not used: 1 and 2 mean streams on CUDA, and are no handles on ROCm.
    _check_address(address or 0, shape, name)
    return ArrayView(
        address=address or 0,
        shape=shape,
        dtype=np.dtype(getattr(array, "dtype", interface["typestr"])),
        strides_bytes=None if strides is None else tuple(strides),
        device=device_info().ordinal,
        owner=array,
        readonly=bool(readonly),
    )


def _check_address(address: int, shape: tuple[int, ...], name: str) -> None:
    if not address and 0 not in shape:
        raise ValueError(f"{name}: its data pointer is null and its shape {shape} is not empty")
