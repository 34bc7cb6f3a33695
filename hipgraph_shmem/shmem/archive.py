"""Static libraries read as files: the symbols they define and need, the GPUs they hold code for."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Archive", "read_archive"]

MAGIC = b"!<arch>\n"
HEADER_BYTES = 60
ELF_MAGIC = b"\x7fELF\x02\x01"
SECTION_BYTES = 64
SYMBOL_BYTES = 24
SHT_SYMTAB = 2
LOCAL = 0

# Device code of a fat object, as the old and the new offload driver write it.
_PROCESSOR = rb"(gfx(?:[0-9]+(?:-[0-9]+)?-generic|[0-9a-f]{3,4})(?::[a-z]+[+-])*)"
_TARGET = re.compile(rb"(?:amdgcn-amd-amdhsa-[a-z]*-|arch\x00)" + _PROCESSOR)


@dataclass(frozen=True, slots=True)
class Archive:
    """What an archive holds.

    Attributes:
        path: Its file.
        defined: Names of symbols that its members define for others.
        undefined: Names that they need and no member defines.
        processors: GPUs that it has code for, for example gfx942.
    """

    path: Path
    defined: frozenset[str]
    undefined: frozenset[str]
    processors: tuple[str, ...]


def read_archive(path: Path) -> Archive:
    """Read a static library.

    Raises:
        ValueError: it is none, or a damaged one.
    """
    with path.open("rb") as file:
        if path.stat().st_size < len(MAGIC):
            raise ValueError(f"{path}: no static library: {path.stat().st_size} bytes")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
            if image[: len(MAGIC)] != MAGIC:
                raise ValueError(f"{path}: no static library: it starts with {image[:8]!r}")
            defined: set[str] = set()
            needed: set[str] = set()
            try:
                for start, end in _members(image):
                    for name, is_defined in _symbols(image[start:end]):
                        (defined if is_defined else needed).add(name)
            except (ValueError, struct.error) as error:
                raise ValueError(f"{path}: damaged static library: {error}") from error
            processors = {match.decode() for match in _TARGET.findall(image)}
    return Archive(path, frozenset(defined), frozenset(needed - defined), tuple(sorted(processors)))


def _members(image: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Yield start and end of each member that is an ELF object."""
    at = len(MAGIC)
    while at + HEADER_BYTES <= len(image):
        size = int(image[at + 48 : at + 58])
        start = at + HEADER_BYTES
        if start + size > len(image):
            raise ValueError(f"member at {at} of {size} bytes ends behind the file")
        if image[start : start + len(ELF_MAGIC)] == ELF_MAGIC:
            yield start, start + size
        at = start + size + (size & 1)


def _symbols(member: bytes) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether it is defined) of each symbol of an object that others see."""
    (sections_at,) = struct.unpack_from("<Q", member, 40)
    (section_count,) = struct.unpack_from("<H", member, 60)
    if section_count == 0:  # more than 65279: the first section's size tells
        (section_count,) = struct.unpack_from("<Q", member, sections_at + 32)
    for index in range(section_count):
        kind, offset, size, link = _section(member, sections_at, index)
        if kind != SHT_SYMTAB:
            continue
        _, names_at, names_size, _ = _section(member, sections_at, link)
        names = member[names_at : names_at + names_size]
        for at in range(offset + SYMBOL_BYTES, offset + size, SYMBOL_BYTES):
            name_at, info, _, section = struct.unpack_from("<IBBH", member, at)
            if info >> 4 != LOCAL and name_at:
                yield names[name_at : names.index(b"\0", name_at)].decode(), section != 0


def _section(member: bytes, sections_at: int, index: int) -> tuple[int, int, int, int]:
    """Return type, offset, size and link of a section."""
    at = sections_at + SECTION_BYTES * index
    kind, _, _, offset, size, link = struct.unpack_from("<IQQQQI", member, at + 4)
    return kind, offset, size, link
