"""What the objects that a recording keeps are: host memory, and memory or modules closed since."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..access import reach
from ..allocation import PinnedBuffer
from ..module import Kernel
from .ranges import Range
from .recording import is_gone

__all__ = ["closed_kernels", "closed_memory", "host_memory"]

_BYTES = (bytes, bytearray, memoryview, ctypes.Array, ctypes.Structure)


def closed_kernels(kept: Iterable[object]) -> dict[int, Kernel]:
    """Return the kernels whose module is closed, by hipFunction_t."""
    return {each.function: each for each in kept if isinstance(each, Kernel) and each.closed}


def closed_memory(kept: Iterable[object]) -> list[tuple[object, Range]]:
    """Return the device and pinned memory that is closed, with where it was."""
    return [
        (each, Range(*each.extent)) for each in kept if hasattr(each, "extent") and is_gone(each)
    ]


def host_memory(kept: Iterable[object]) -> Iterator[Range]:
    """Yield the host memory that lives as long as the objects."""
    for each in kept:
        if isinstance(each, PinnedBuffer):
            yield Range(*each.extent)
        elif isinstance(each, np.ndarray):
            yield _around(each)
        elif isinstance(each, _BYTES):
            yield _around(np.frombuffer(memoryview(each).cast("B"), np.uint8))


def _around(array: np.ndarray[Any, Any]) -> Range:
    """Return from the first to the last byte of an array's elements."""
    address = array.ctypes.data
    if not array.size:
        return Range(address, address)
    below, above = reach(array.shape, array.strides)
    return Range(address + below, address + above + array.itemsize)
