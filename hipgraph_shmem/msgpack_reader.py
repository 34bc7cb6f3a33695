"""A reader of MessagePack, the format of AMDGPU kernel metadata: the part that metadata uses."""

from __future__ import annotations

import struct
from types import MappingProxyType
from typing import Any

__all__ = ["unpack"]

MAX_DEPTH = 16

_SCALARS = MappingProxyType({
    0xCA: ">f", 0xCB: ">d",
    0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
})  # fmt: skip
_CONSTANTS = MappingProxyType({0xC0: None, 0xC2: False, 0xC3: True})
_STRINGS = MappingProxyType({0xD9: ">B", 0xDA: ">H", 0xDB: ">I"})
_BINARIES = MappingProxyType({0xC4: ">B", 0xC5: ">H", 0xC6: ">I"})
_ARRAYS = MappingProxyType({0xDC: ">H", 0xDD: ">I"})
_MAPS = MappingProxyType({0xDE: ">H", 0xDF: ">I"})


def unpack(data: bytes) -> Any:
    """Return the first value in the data.

    Raises:
        ValueError: the data end too soon, or hold a type that metadata does not use.
    """
    return _Reader(data).value(0)


class _Reader:
    """A place in the data, and what is read from there on."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ValueError(f"MessagePack nested deeper than {MAX_DEPTH}")
        tag = self._take(1)[0]
        if tag < 0x80 or tag >= 0xE0:
            return tag if tag < 0x80 else tag - 0x100
        if tag < 0x90:
            return self._map(tag & 0x0F, depth)
        if tag < 0xA0:
            return self._array(tag & 0x0F, depth)
        if tag < 0xC0:
            return self._string(tag & 0x1F)
        return self._tagged(tag, depth)

    def _tagged(self, tag: int, depth: int) -> Any:
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in _SCALARS:
            return self._number(_SCALARS[tag])
        if tag in _STRINGS:
            return self._string(self._number(_STRINGS[tag]))
        if tag in _BINARIES:
            return self._take(self._number(_BINARIES[tag]))
        if tag in _ARRAYS:
            return self._array(self._number(_ARRAYS[tag]), depth)
        if tag in _MAPS:
            return self._map(self._number(_MAPS[tag]), depth)
        raise ValueError(f"MessagePack type {tag:#x} is not used by kernel metadata")

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise ValueError(f"MessagePack ends at byte {len(self._data)}, {end} are needed")
        piece = self._data[self._at : end]
        self._at = end
        return piece

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _string(self, count: int) -> str:
        return self._take(count).decode("utf-8", errors="replace")

    def _array(self, count: int, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> dict[Any, Any]:
        return {self.value(depth + 1): self.value(depth + 1) for _ in range(count)}
