"""Which instructions of a kernel the emulated device has no meaning for."""

from __future__ import annotations

import ctypes
import re
from collections import Counter

from ..env import settings
from ..errors import RuntimeLibraryError
from ..hip_library import Library, open_library

__all__ = ["Decoder", "open_decoder"]

#: What a disassembler appends to tell encodings of one instruction apart.
_ENCODING = re.compile(r"_(e32|e64|sdwa|dpp)$")
_TEXT_BYTES = 1024
_WORD = 4


class Decoder:
    """The instruction tables of an emulated device's library."""

    def __init__(self, library: Library) -> None:
        """Read nothing yet."""
        self._functions = library.pointers
        self._functions.hipgraphEmuRows.restype = ctypes.c_long
        self._meaningful: dict[str, frozenset[str] | None] = {}

    def without_meaning(self, processor: str, code: bytes) -> dict[str, int] | None:
        """Count the instructions, by mnemonic, that trap when they are reached.

        Words that are no instruction count as such. None: the device has no such processor.
        """
        meaningful = self._names(processor)
        if meaningful is None:
            return None
        found: Counter[str] = Counter()
        text = ctypes.create_string_buffer(_TEXT_BYTES)
        at = 0
        while at + _WORD <= len(code):
            rest = code[at : at + 5 * _WORD]
            size = self._functions.hipgraphEmuDecode(
                processor.encode(), rest, ctypes.c_size_t(len(rest) // _WORD), text, _TEXT_BYTES
            )
            words = text.value.decode().split()
            name = _ENCODING.sub("", words[0]) if size > 0 and words else "(no instruction)"
            if name not in meaningful:
                found[name] += 1
            at += max(size, _WORD)
        return dict(found)

    def _names(self, processor: str) -> frozenset[str] | None:
        if processor not in self._meaningful:
            self._meaningful[processor] = self._read_names(processor)
        return self._meaningful[processor]

    def _read_names(self, processor: str) -> frozenset[str] | None:
        rows, name = self._functions.hipgraphEmuRows, processor.encode()
        size = rows(name, None, ctypes.c_size_t(0))
        if size < 0:
            return None
        text = ctypes.create_string_buffer(size)
        rows(name, text, ctypes.c_size_t(size))
        lines = (line.split("\t") for line in text.value.decode().splitlines())
        return frozenset(mnemonic for _, _, mnemonic, done in lines if done == "1")


def open_decoder() -> Decoder | None:
    """Load the emulated device's library; None where it does not load."""
    choice = settings().runtime
    try:
        library = open_library(choice if "/" in choice else "emu")
    except RuntimeLibraryError:
        return None
    return Decoder(library) if library.kind == "emu" else None
