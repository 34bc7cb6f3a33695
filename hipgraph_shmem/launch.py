"""Launching kernels: LaunchConfig, and arguments packed where the metadata say."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .access import Access
from .allocation import PinnedBuffer
from .captures import declare_while_captured, keep_while_captured
from .code_object import Argument, KernelMetadata
from .device_span import DeviceSpan, as_array_view
from .hip_abi import LaunchParam
from .module import Kernel
from .runtime import failure, pointer, state
from .stream import Stream, as_stream

__all__ = ["LaunchConfig", "launch", "launch_packed", "pack"]

POINTER_BYTES = 8
_ADDRESS = struct.Struct("<Q")
_FLOAT = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")
_OURS = (DeviceSpan, PinnedBuffer)
_BY_VALUE = (bytes, ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)
_LAUNCH = "hipModuleLaunchKernel"


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """Grid in blocks, block in threads, and dynamic LDS in bytes.

    Raises:
        ValueError: an extent below 1, or a negative size.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int] = (64, 1, 1)
    lds_bytes: int = 0
    threads: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, extents in (("grid", self.grid), ("block", self.block)):
            if len(extents) != 3 or min(extents) < 1:
                raise ValueError(f"{name}={extents}: give three extents of at least 1")
        if self.lds_bytes < 0:
            raise ValueError(f"lds_bytes={self.lds_bytes}: give 0 or more")
        x, y, z = self.block
        object.__setattr__(self, "threads", x * y * z)


class _Extra(ctypes.Structure):
    """The `extra` list of hipModuleLaunchKernel: one block of arguments, laid out by us."""

    _fields_ = (
        ("pointer_tag", ctypes.c_size_t),
        ("block", ctypes.c_char_p),
        ("size_tag", ctypes.c_size_t),
        ("size", ctypes.c_void_p),
        ("end", ctypes.c_size_t),
    )


def launch(
    stream: Any,
    kernel: Kernel,
    config: LaunchConfig,
    *args: Any,
    access: Access | None = None,
) -> None:
    """Submit a kernel to a stream; under capture, record it.

    Arguments are converted by the kernel's metadata. A pointer takes a Buffer, Symbol,
    PinnedBuffer, another library's contiguous device array, a raw address (int) or None. A value
    takes a Python or NumPy scalar, or a struct as bytes or ctypes; the metadata do not tell
    integers from floats, so 2 is passed as an integer and 2.0 as a float.

    `access` says what the launch reads and writes, for `Graph.check`; None: what its metadata say.

    Raises:
        TypeError: an argument of the wrong kind; it says which and what is expected.
        ValueError: a wrong count, a value out of range, or a block the kernel cannot have.
    """
    launch_packed(stream, kernel, config, pack(kernel.metadata, args), *args, access=access)


def launch_packed(
    stream: Any,
    kernel: Kernel,
    config: LaunchConfig,
    block: bytes,
    *keep: object,
    access: Access | None = None,
) -> None:
    """Submit a kernel whose argument block is packed already; a captured graph keeps `keep`."""
    raw = stream.handle if type(stream) is Stream else as_stream(stream)
    _check(stream, kernel, config, block)
    extra = _Extra(
        LaunchParam.BUFFER_POINTER,
        block,
        LaunchParam.BUFFER_SIZE,
        ctypes.addressof(kernel.size),
        LaunchParam.END,
    )
    function = state.pointers.get(_LAUNCH) or pointer(_LAUNCH)
    code = function(
        kernel.handle, *config.grid, *config.block, config.lds_bytes, raw, None, ctypes.byref(extra)
    )
    if code:
        raise failure(_LAUNCH, code)
    if state.open_captures:
        keep_while_captured(raw, kernel, *keep)
        if access is not None:
            declare_while_captured(raw, access)


def pack(metadata: KernelMetadata, args: tuple[Any, ...]) -> bytes:
    """Return the kernarg segment: every argument at its offset, zeros elsewhere.

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: a wrong count, or a value out of range.
    """
    explicit = metadata.explicit
    if len(args) != len(explicit):
        expected = ", ".join(_describe(argument) for argument in explicit)
        raise ValueError(
            f"{metadata.name} takes {len(explicit)} arguments, {len(args)} given; it expects "
            f"({expected})"
        )
    block = bytearray(metadata.kernarg_bytes)
    for index, (argument, value) in enumerate(zip(explicit, args, strict=True)):
        offset, size = argument.offset, argument.size
        if type(value) is int:
            piece = _integer(argument, value, index)
        elif argument.is_pointer:
            piece = _ADDRESS.pack(_address(argument, value, index))
        else:
            piece = _value(argument, value, index)
        block[offset : offset + size] = piece
    return bytes(block)


def _check(stream: Any, kernel: Kernel, config: LaunchConfig, block: bytes) -> None:
    metadata = kernel.metadata
    if len(block) != metadata.kernarg_bytes:
        raise ValueError(
            f"block has {len(block)} bytes, the kernarg segment of {metadata.name} "
            f"{metadata.kernarg_bytes}: use pack()"
        )
    if config.threads > metadata.max_threads_per_block > 0:
        raise ValueError(
            f"config.block={config.block}: {metadata.name} runs up to "
            f"{metadata.max_threads_per_block} threads a block"
        )
    if metadata.required_block is not None and config.block != metadata.required_block:
        raise ValueError(
            f"config.block={config.block}: {metadata.name} was compiled for exactly "
            f"{metadata.required_block}"
        )
    if type(stream) is Stream and stream.device != kernel.module.device:
        raise ValueError(
            f"stream={stream!r} is of device {stream.device}, {metadata.name} is loaded on "
            f"{kernel.module.device}: load the module on the stream's device"
        )


def _integer(argument: Argument, value: int, index: int) -> bytes:
    size = argument.size
    is_negative = value < 0
    if size <= POINTER_BYTES and not (is_negative and argument.is_pointer):
        try:
            return value.to_bytes(size, "little", signed=is_negative)
        except OverflowError:
            pass
    raise ValueError(f"{_place(argument, index)}: {value} does not fit")


def _address(argument: Argument, value: Any, index: int) -> int:
    if isinstance(value, _OURS):
        return value.address
    if value is None:
        return 0
    if isinstance(value, np.integer) and value >= 0:
        return int(value)
    place = _place(argument, index)
    if isinstance(value, int | float | np.number):
        raise TypeError(f"{place}: {value!r} is no device address")
    view = as_array_view(value, place)
    if not view.is_contiguous:
        raise ValueError(
            f"{place}: shape {view.shape} with strides {view.strides_bytes} is not contiguous: "
            "copy it, or pass its address as int if the kernel knows the strides"
        )
    return view.address


def _value(argument: Argument, value: Any, index: int) -> bytes:
    """Return the bytes of an argument passed by value, exactly as many as declared."""
    size = argument.size
    if isinstance(value, np.generic):
        piece = value.tobytes()
    elif isinstance(value, bool):
        piece = _integer(argument, int(value), index)
    elif isinstance(value, float):
        piece = _float(argument, value, index)
    elif isinstance(value, _BY_VALUE):
        piece = bytes(value)
    else:
        raise TypeError(
            f"{_place(argument, index)}: {type(value).__name__} cannot be passed by value; pass "
            "a scalar, or a struct as bytes or ctypes"
        )
    if len(piece) != size:
        raise TypeError(f"{_place(argument, index)}: {type(value).__name__} has {len(piece)} bytes")
    return piece


def _float(argument: Argument, value: float, index: int) -> bytes:
    if argument.size == _FLOAT.size:
        return _FLOAT.pack(value)
    if argument.size == _DOUBLE.size:
        return _DOUBLE.pack(value)
    raise TypeError(
        f"{_place(argument, index)}: a Python float has 4 or 8 bytes; pass numpy.float16 or "
        "ml_dtypes.bfloat16"
    )


def _place(argument: Argument, index: int) -> str:
    return f"argument {index} ({_describe(argument)})"


def _describe(argument: Argument) -> str:
    name = f"{argument.name}: " if argument.name else ""
    return f"{name}{'pointer' if argument.is_pointer else f'{argument.size}-byte value'}"
