"""Buffer: device memory that is owned; exported to and made from other libraries' arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import ml_dtypes  # noqa: F401 - gives NumPy the name bfloat16
import numpy as np

from .allocation import Allocation, PinnedBuffer
from .array_view import ArrayView, device_type
from .captures import refuse_blocking
from .device_span import DeviceSpan, as_array_view
from .devices import on_device
from .dlpack import DeviceType, Tensor, export_tensor
from .hip_abi import LEGACY_STREAM, PER_THREAD_STREAM
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

NO_SYNCHRONIZATION = -1


class Buffer(Allocation, DeviceSpan):
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

    @property
    def strides(self) -> None:
        """None: a buffer is C-contiguous."""
        return

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The buffer for CuPy, PyTorch and Numba; bfloat16 is '<V2' (see `dtype`)."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[DeviceType, int]:
        """Return DLPack's (device type, ordinal): ROCm's type on AMD and emulated devices."""
        return device_type(), self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the buffer as a DLPack capsule.

        Which stream wrote last is not known here, so any `stream` but -1 waits for the device.
        """
        del max_version  # a capsule without a version is legal for every consumer
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError(f"{self!r}: exported where it is, without a copy")
        if stream in (LEGACY_STREAM, PER_THREAD_STREAM):
            raise ValueError(f"stream={stream}: no stream on ROCm; use None, 0, -1 or a handle")
        if stream != NO_SYNCHRONIZATION:
            refuse_blocking("Buffer.__dlpack__", stream or 0, "export with stream=-1")
            with on_device(self.device):
                call("hipDeviceSynchronize")
        kind, ordinal = self.__dlpack_device__()
        tensor = Tensor(self.address, kind, ordinal, self.shape, self.dtype, None, self)
        return export_tensor(tensor)


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
