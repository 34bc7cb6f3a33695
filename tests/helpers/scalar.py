"""Runs scalar instructions on edge values and compares with a Python oracle.

An oracle takes unsigned Python integers and SCC and gives the destination as an integer (any
sign, any size: it is cut to the register) and the new SCC.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

from helpers import isa
from helpers.assembler import assemble

Result = tuple[int, bool]
Oracle = Callable[..., Result]

EDGES_32 = (
    0, 1, 2, 5, 31, 32, 63, 64, 0x7F, 0x80, 0xFFFF, 0x8000, 0x10000, 0x7FFFFFFF, 0x80000000,
    0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x55555555, 0x000F0008, 0x00200000, 0x001F001F,
)  # fmt: skip
EDGES_64 = (
    0, 1, 3, 0xFFFFFFFF, 1 << 32, 0x7FFFFFFFFFFFFFFF, 1 << 63, (1 << 63) + 1,
    0xFFFFFFFF00000000, (1 << 64) - 1, 0x0123456789ABCDEF, 0x8000000080000000,
)  # fmt: skip
DESTINATION, SOURCES = 4, (8, 10)


def signed(value: int, bits: int) -> int:
    """Two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def operands(widths: Sequence[int], seed: int) -> list[tuple[int, ...]]:
    """Pairs (or single values) of edges and random numbers."""
    chosen = random.Random(seed)
    pools = [
        [*(EDGES_32 if width == 32 else EDGES_64), *(chosen.getrandbits(width) for _ in range(6))]
        for width in widths
    ]
    every = list(itertools.product(*pools))
    return chosen.sample(every, min(len(every), 100))


def register(code: int, width: int) -> str:
    """The assembler's name of a scalar register or pair."""
    return f"s{code}" if width == 32 else f"s[{code}:{code + 1}]"


def values(code: int, width: int, value: int) -> dict[int, int]:
    """Register contents for `isa.run`."""
    return {code: value} if width == 32 else isa.pair(code, value)


def check(text: str, code: bytes, oracle: Oracle, out: int, widths: Sequence[int]) -> None:
    """Runs `code` on operand tuples, SCC clear and set in turn, and compares D and SCC."""
    for number, operand in enumerate(operands(widths, seed=len(text))):
        scc = number % 2 == 1
        sgpr: dict[int, int] = {}
        for place, width, value in zip(SOURCES, widths, operand, strict=False):
            sgpr |= values(place, width, value)
        end = isa.run("gfx942", code, sgpr=sgpr, scc=scc)
        result, new_scc = oracle(*operand, scc)
        got = end.s64(DESTINATION) if out == 64 else int(end.sgpr[DESTINATION])
        what = (text, [hex(v) for v in operand], scc)
        assert hex(got) == hex(result & ((1 << out) - 1)), what
        assert end.scc == new_scc, what


def lines(mnemonics: Sequence[str], widths: Callable[[str], tuple[int, ...]]) -> dict[str, bytes]:
    """Code of `mnemonic D, S0, ...` for each, assembled at once; widths are (D, S0, ...)."""
    text = {}
    for mnemonic in mnemonics:
        out, *sources = widths(mnemonic)
        registers = [register(DESTINATION, out)]
        registers += [register(c, w) for c, w in zip(SOURCES, sources, strict=False)]
        text[mnemonic] = f"{mnemonic} {', '.join(registers)}"
    return dict(zip(text, assemble("gfx942", list(text.values())), strict=True))
