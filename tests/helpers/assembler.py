"""Assembles AMDGPU text with ziglang's clang, so that LLVM decides what the words are."""

from __future__ import annotations

import functools
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

TARGETS = ("gfx90a", "gfx942", "gfx950")
SHT_PROGBITS, SHT_SYMTAB, SHT_DYNSYM = 1, 2, 11
FUNCTION = 2
SYMBOL_BYTES = 24


def _headers(elf: bytes) -> list[tuple[int, ...]]:
    """Name, type, flags, address, offset, size, link of every section."""
    (at,) = struct.unpack_from("<Q", elf, 40)
    entry_size, count = struct.unpack_from("<HH", elf, 58)
    if count == 0:  # more sections than the field holds: the first header has the number
        (count,) = struct.unpack_from("<Q", elf, at + 32)
    return [struct.unpack_from("<IIQQQQI", elf, at + i * entry_size) for i in range(count)]


def _string(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def sections(elf: bytes) -> dict[str, bytes]:
    """Contents of the sections of an ELF file by name."""
    headers = _headers(elf)
    (names_index,) = struct.unpack_from("<H", elf, 62)
    if names_index == 0xFFFF:
        names_index = headers[0][6]
    names = elf[headers[names_index][4] :]
    return {
        _string(names, name): elf[offset : offset + size]
        for name, kind, _, _, offset, size, _ in headers
        if kind == SHT_PROGBITS
    }


def functions(elf: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and code of every function in the symbol tables of an ELF file.

    Hand-written kernels have no size: their code goes on to the end of the section.
    """
    headers = _headers(elf)
    seen = set()
    for _, kind, _, _, offset, size, link in headers:
        if kind not in (SHT_SYMTAB, SHT_DYNSYM):
            continue
        names = elf[headers[link][4] :]
        for at in range(offset, offset + size, SYMBOL_BYTES):
            name, info, _, index, value, length = struct.unpack_from("<IBBHQQ", elf, at)
            if info & 15 != FUNCTION or not 0 < index < len(headers) or (index, value) in seen:
                continue
            seen.add((index, value))
            _, _, _, address, start, section_size, _ = headers[index]
            begin = value - address
            end = begin + length if length else section_size
            yield _string(names, name), elf[start + begin : start + end]


def assemble_source(target: str, source: str) -> tuple[bytes, str]:
    """The ELF file that clang makes of the source (empty on failure), and its messages."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.s")
        path.write_text(source)
        command = [
            *(sys.executable, "-m", "ziglang", "clang", "-c", str(path), "-o", f"{path}.o"),
            *("-target", "amdgcn-amd-amdhsa", f"-mcpu={target}"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return b"", done.stderr
        return pathlib.Path(f"{path}.o").read_bytes(), done.stderr


def _in_sections(snippets: Sequence[str]) -> str:
    """Each snippet in a section of its own, from line 2 i + 1 on when snippets are single lines."""
    return "".join(
        f'.section .text.n{i},"ax",@progbits\n{snippet}\n' for i, snippet in enumerate(snippets)
    )


@functools.lru_cache(maxsize=64)
def _assemble(target: str, snippets: tuple[str, ...]) -> tuple[bytes, ...]:
    elf, messages = assemble_source(target, _in_sections(snippets))
    if not elf:
        raise ValueError(f"clang refuses this assembly for {target}:\n{messages}")
    code = sections(elf)
    return tuple(code.get(f".text.n{i}", b"") for i in range(len(snippets)))


def assemble(target: str, snippets: Sequence[str]) -> list[bytes]:
    """Code bytes of each snippet (one or more lines), assembled in one go and cached."""
    return list(_assemble(target, tuple(snippets)))


def assemble_each(target: str, lines: Sequence[str]) -> list[bytes | None]:
    """Like `assemble` for single lines, with None for a line that the assembler refuses."""
    kept = list(lines)
    _elf, messages = assemble_source(target, _in_sections(kept))
    refused = {int(line) // 2 - 1 for line in re.findall(r"x\.s:(\d+):\d+: error", messages)}
    if refused:
        kept = ["" if i in refused else line for i, line in enumerate(lines)]
    code = assemble(target, kept)
    return [None if i in refused else code[i] for i in range(len(lines))]
