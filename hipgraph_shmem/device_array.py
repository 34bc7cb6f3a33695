"""DeviceArray: a device span that other libraries read by DLPack or __cuda_array_interface__."""

from __future__ import annotations

from typing import Any

from .array_view import device_type
from .captures import refuse_device_wait
from .device_span import DeviceSpan
from .devices import on_device
from .dlpack import DeviceType, Tensor, export_tensor
from .hip_abi import LEGACY_STREAM, PER_THREAD_STREAM
from .runtime import call

__all__ = ["DeviceArray"]

NO_SYNCHRONIZATION = -1


class DeviceArray(DeviceSpan):
    """C-contiguous elements on a device, exported where they are."""

    __slots__ = ()

    @property
    def strides(self) -> None:
        """None: the array is C-contiguous."""
        return

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array for CuPy, PyTorch and Numba; bfloat16 is '<V2' (see `dtype`)."""
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
        """Export the array as a DLPack capsule.

        Which stream wrote last is not known here, so any `stream` but -1 waits for the device.
        """
        del max_version  # a capsule without a version is legal for every consumer
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError(f"{self!r}: exported where it is, without a copy")
        if stream in (LEGACY_STREAM, PER_THREAD_STREAM):
            raise ValueError(f"stream={stream}: no stream on ROCm; use None, 0, -1 or a handle")
        if stream != NO_SYNCHRONIZATION:
            refuse_device_wait("__dlpack__", "export with stream=-1")
            with on_device(self.device):
                call("hipDeviceSynchronize")
        kind, ordinal = self.__dlpack_device__()
        tensor = Tensor(self.address, kind, ordinal, self.shape, self.dtype, None, self)
        return export_tensor(tensor)
