"""Buffer: device memory that is owned; exported to and made from other libraries' arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import ml_dtypes  # noqa: F401 - gives NumPy the name bfloat16
import numpy as np

from .allocation import Allocation, PinnedBuffer
from .array_view import ArrayView
from .device_array import DeviceArray
from .device_span import as_array_view
from .runtime import call
from .stream import Stream

__all__ = [
    "ArrayView",
    "Buffer",
    "PinnedBuffer",
    "as_array_view",
    "empty",
    "from_numpy",
    "zeros",
]


class Buffer(Allocation, DeviceArray):
    """Device memory, uninitialised when made; C-contiguous.

    Args:
        shape: Number of elements, or a tuple of extents.
        dtype: NumPy element type; ml_dtypes.bfloat16 is one.
        device: The device it is on; None: the current one of this thread.
    """

    destroy: ClassVar[str] = "hipFree"
    __slots__ = ()

    def __init__(
        self, shape: int | tuple[int, ...], dtype: Any = np.uint8, device: int | None = None
    ) -> None:
        super().__init__(shape, dtype, device)

    def _allocate(self) -> int:
        return int(call("hipMalloc", self.nbytes))


def empty(shape: int | tuple[int, ...], dtype: Any, device: int | None = None) -> Buffer:
    """Return an uninitialised buffer."""
    return Buffer(shape, dtype, device)


def zeros(shape: int | tuple[int, ...], dtype: Any, stream: Any) -> Buffer:
    """Return a buffer of zeros on the stream's device, set in stream order."""
    buffer = Buffer(shape, dtype, _device_of(stream))
    buffer.fill(0, stream)
    return buffer


def from_numpy(array: np.ndarray[Any, Any], stream: Any) -> Buffer:
    """Return a buffer on the stream's device with a NumPy array's content."""
    buffer = Buffer(array.shape, array.dtype, _device_of(stream))
    buffer.copy_from(array, stream)
    return buffer


def _device_of(stream: Any) -> int | None:
    return stream.device if isinstance(stream, Stream) else None
