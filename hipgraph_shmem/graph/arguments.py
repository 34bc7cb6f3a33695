"""Kernel arguments read back from a node, and the device addresses among them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..code_object import Argument, KernelMetadata
from ..hip_abi import LaunchParam
from ..runtime import call
from .params import KernelNodeParams

__all__ = ["PointerArgument", "pointer_arguments", "read_arguments"]

_WORD = struct.Struct("<Q")
_GLOBAL_POINTER = "global_buffer"


@dataclass(frozen=True, slots=True)
class PointerArgument:
    """A device address that a kernel is given.

    Attributes:
        argument: Where it is given.
        address: Its value; not null.
        is_certain: Whether the metadata say that it is an address, or it only may be one, inside
            a value that is large enough.
    """

    argument: Argument
    address: int
    is_certain: bool


def read_arguments(node: int, metadata: KernelMetadata) -> bytes:
    """Return the argument block of a kernel node, laid out as the metadata say."""
    params = KernelNodeParams()
    call("hipGraphKernelNodeGetParams", node, ctypes.addressof(params))
    if params.extra:
        packed = _from_extra(params.extra)
        return packed.ljust(metadata.kernarg_bytes, b"\0")
    block = bytearray(metadata.kernarg_bytes)
    if params.kernel_params:
        values = (ctypes.c_void_p * len(metadata.explicit)).from_address(params.kernel_params)
        for argument, value in zip(metadata.explicit, values, strict=True):
            piece = ctypes.string_at(value or 0, argument.size) if value else b""
            block[argument.offset : argument.offset + len(piece)] = piece
    return bytes(block)


def pointer_arguments(metadata: KernelMetadata, block: bytes) -> Iterator[PointerArgument]:
    """Yield the addresses in an argument block, those that a struct may hide included."""
    for argument in metadata.explicit:
        is_pointer = argument.kind == _GLOBAL_POINTER
        if argument.is_pointer and not is_pointer:
            continue  # an offset in LDS
        end = argument.offset + argument.size
        aligned = -(-argument.offset // _WORD.size) * _WORD.size
        for at in range(aligned, end - _WORD.size + 1, _WORD.size):
            (address,) = _WORD.unpack_from(block, at)
            if address:
                yield PointerArgument(argument, address, is_pointer)


def _from_extra(extra: int) -> bytes:
    """Read the list of tag and value pairs that hipModuleLaunchKernel takes."""
    address = size = 0
    at = extra
    while (tag := ctypes.c_size_t.from_address(at).value) != LaunchParam.END:
        value = ctypes.c_void_p.from_address(at + ctypes.sizeof(ctypes.c_void_p)).value or 0
        if tag == LaunchParam.BUFFER_POINTER:
            address = value
        elif tag == LaunchParam.BUFFER_SIZE:
            size = ctypes.c_size_t.from_address(value).value
        at += 2 * ctypes.sizeof(ctypes.c_void_p)
    return ctypes.string_at(address, size)
