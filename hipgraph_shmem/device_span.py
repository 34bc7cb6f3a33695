"""DeviceSpan: bytes on a device, copied and filled in stream order; Buffer and Symbol are spans."""

from __future__ import annotations

from typing import Any

import numpy as np

from .allocation import PinnedBuffer
from .array_view import ArrayView, foreign_view, is_host_array
from .captures import keep_while_captured, recorder_of, refuse_blocking
from .hip_abi import MemcpyKind
from .runtime import call
from .stream import Stream, as_stream, wait_for

__all__ = ["DeviceSpan", "as_array_view", "contiguous", "contiguous_host"]

_FILLS = ((1, "hipMemsetD8Async"), (2, "hipMemsetD16Async"), (4, "hipMemsetD32Async"))


class DeviceSpan:
    """C-contiguous elements on a device; the subclass says where, and keeps the memory."""

    __slots__ = ()

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int
    device: int

    @property
    def address(self) -> int:
        """Where the first element is."""
        raise NotImplementedError

    def view(self) -> ArrayView:
        """Return the span as an ArrayView that keeps it."""
        return ArrayView(self.address, self.shape, self.dtype, None, self.device, self)

    def copy_from(self, source: Any, stream: Any, *, live: bool = False) -> None:
        """Fill the span from host or device memory, in stream order.

        The bytes of a host array are read before this returns. From a PinnedBuffer or device
        memory they are read when the stream gets there. Under capture this is one memcpy node:
        of a host array's bytes as they are now, or, with `live`, as they are at each replay.

        Args:
            source: NumPy array, bytes, PinnedBuffer, Buffer, or another library's device array.
            stream: Stream or raw handle.
            live: Under capture, read a host array at each replay; the graph keeps it.
        """
        raw = self._stream(stream)
        if isinstance(source, PinnedBuffer):
            self._check_same("source", source.shape, source.dtype, source.nbytes)
            self._copy_in(source.address, MemcpyKind.HOST_TO_DEVICE, raw, source)
        elif is_host_array(source):
            self._copy_from_host(_host_bytes(source, "source", self), raw, live=live)
        else:
            view = contiguous(as_array_view(source, "source"), "source")
            self._check_same("source", view.shape, view.dtype, view.nbytes)
            self._copy_in(view.address, MemcpyKind.DEVICE_TO_DEVICE, raw, view.owner)

    def copy_to(self, target: Any, stream: Any) -> None:
        """Copy the span's bytes to host or device memory, in stream order.

        A NumPy array is written before this returns; a PinnedBuffer or device memory when the
        stream gets there. Under capture this is one memcpy node, which writes at each replay.
        """
        raw = self._stream(stream)
        if isinstance(target, DeviceSpan):
            target.copy_from(self, stream)
        elif isinstance(target, PinnedBuffer):
            self._check_same("target", target.shape, target.dtype, target.nbytes)
            self._copy_out(target.address, MemcpyKind.DEVICE_TO_HOST, raw, target)
        elif is_host_array(target):
            self._copy_to_host(target, raw)
        else:
            view = contiguous(as_array_view(target, "target"), "target")
            self._check_same("target", view.shape, view.dtype, view.nbytes)
            if view.readonly:
                raise ValueError(f"target={target!r}: it is read-only")
            self._copy_out(view.address, MemcpyKind.DEVICE_TO_DEVICE, raw, view.owner)

    def fill(self, value: int, stream: Any, *, width: int = 1) -> None:
        """Set every element of `width` bytes (1, 2 or 4) to an integer, in stream order."""
        name = dict(_FILLS).get(width)
        if name is None or self.nbytes % width:
            raise ValueError(f"width={width}: use 1, 2 or 4, a divisor of the {self.nbytes} bytes")
        bits = 8 * width
        if not -(1 << bits - 1) <= value < 1 << bits:
            raise ValueError(f"value={value}: does not fit into {width} bytes; use width=4 or less")
        raw = self._stream(stream)
        word = value & (1 << bits) - 1
        if width == _FILLS[-1][0] and word >> bits - 1:
            word -= 1 << bits  # hipMemsetD32Async takes a signed int
        if self.nbytes:
            call(name, self.address, word, self.nbytes // width, raw)
            keep_while_captured(raw, self)

    def to_numpy(self, stream: Any) -> np.ndarray[Any, Any]:
        """Return a NumPy array with the span's content after the work in the stream."""
        raw = self._stream(stream)
        refuse_blocking("to_numpy", raw, "capture copy_to(array), and read after a launch")
        array = np.empty(self.shape, self.dtype)
        self._copy_to_host(array, raw)
        return array

    def _stream(self, stream: Any) -> int:
        raw = as_stream(stream)
        if isinstance(stream, Stream) and raw and stream.device != self.device:
            raise ValueError(
                f"stream={stream!r} is of device {stream.device}, the memory of {self.device}: "
                "use a stream of that device"
            )
        return raw

    def _check_same(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], nbytes: int
    ) -> None:
        if self.dtype == np.uint8 and len(self.shape) == 1:
            if nbytes != self.nbytes:
                raise ValueError(f"{name} has {nbytes} bytes, the device memory {self.nbytes}")
        elif (shape, dtype) != (self.shape, self.dtype):
            raise ValueError(
                f"{name} has shape {shape}, dtype {dtype}; the device memory has {self.shape}, "
                f"{self.dtype}: they must be equal"
            )

    def _copy_in(self, address: int, kind: MemcpyKind, raw: int, owner: object) -> None:
        # HIP refuses zero bytes under capture, and does nothing otherwise: nothing here.
        if self.nbytes:
            call("hipMemcpyAsync", self.address, address, self.nbytes, kind, raw)
            keep_while_captured(raw, self, owner)

    def _copy_out(self, address: int, kind: MemcpyKind, raw: int, owner: object) -> None:
        if self.nbytes:
            call("hipMemcpyAsync", address, self.address, self.nbytes, kind, raw)
            keep_while_captured(raw, self, owner)

    def _copy_from_host(self, source: np.ndarray[Any, Any], raw: int, *, live: bool) -> None:
        recorded = _is_recorded("copy_from", raw)
        if recorded and not live:
            source = source.copy()
        self._copy_in(source.ctypes.data, MemcpyKind.HOST_TO_DEVICE, raw, source)
        if not recorded and self.nbytes:
            wait_for(raw)

    def _copy_to_host(self, target: Any, raw: int) -> None:
        array = _host_bytes(target, "target", self)
        if not array.flags.writeable:
            raise ValueError("target: it is read-only; give a writable NumPy array")
        recorded = _is_recorded("copy_to", raw)
        self._copy_out(array.ctypes.data, MemcpyKind.DEVICE_TO_HOST, raw, array)
        if not recorded and self.nbytes:
            wait_for(raw)


def as_array_view(array: Any, name: str = "array") -> ArrayView:
    """Return where a device array is: Buffer, Symbol, or an array of another library.

    Raises:
        TypeError: a host array, or no array.
        ValueError: memory of another kind of device.
    """
    if isinstance(array, DeviceSpan):
        return array.view()
    return foreign_view(array, name)


def _is_recorded(name: str, raw: int) -> bool:
    """Tell whether a copy of host memory is recorded; if not it is waited for, where that may be.

    Raises:
        CaptureError: waiting would lose an open capture; nothing has been copied.
    """
    if recorder_of(raw) is not None:
        return True
    refuse_blocking(name, raw, "copy through a PinnedBuffer, which waits for nothing")
    return False


def contiguous(view: ArrayView, name: str) -> ArrayView:
    """Return the view, or raise if it has gaps."""
    if not view.is_contiguous:
        raise ValueError(
            f"{name} has shape {view.shape} and strides {view.strides_bytes}: make it C-contiguous"
        )
    return view


def _host_bytes(source: Any, name: str, span: DeviceSpan) -> np.ndarray[Any, Any]:
    """Return host data as an array of its own memory, after checking that it fits the span."""
    if isinstance(source, np.ndarray | np.generic):
        array: np.ndarray[Any, Any] = np.asarray(source)
        span._check_same(name, array.shape, array.dtype, array.nbytes)
    else:
        array = np.frombuffer(source, np.uint8)
        if array.nbytes != span.nbytes:
            raise ValueError(f"{name} has {array.nbytes} bytes, the device memory {span.nbytes}")
    return contiguous_host(array, name)


def contiguous_host(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Return the host array, or raise if it has gaps."""
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous: pass numpy.ascontiguousarray({name})")
    return array
