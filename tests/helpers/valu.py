"""Checks one vector ALU instruction against an oracle over edge values and random operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from helpers import isa

POISON = isa.POISON
TYPES = {
    "u16": np.uint16,
    "i16": np.int16,
    "f16": np.float16,
    "u32": np.uint32,
    "i32": np.int32,
    "f32": np.float32,
    "u64": np.uint64,
    "i64": np.int64,
    "f64": np.float64,
}
BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
FLOAT_EDGES = {
    2: [
        0,
        0x8000,
        1,
        0x8001,
        0x3FF,
        0x400,
        0x3C00,
        0xBC00,
        0x3800,
        0x7BFF,
        0xFBFF,
        0x7C00,
        0xFC00,
        0x7E00,
        0x7D01,
    ],
    4: [
        0,
        1 << 31,
        1,
        0x80000001,
        0x7FFFFF,
        0x800000,
        0x3F800000,
        0xBF800000,
        0x3F000000,
        0x7F7FFFFF,
        0xFF7FFFFF,
        0x7F800000,
        0xFF800000,
        0x7FC00000,
        0x7FA00001,
        0x4B800000,
        0x4F000000,
        0xCF000000,
        0x4F800000,
    ],
    8: [
        0,
        1 << 63,
        1,
        (1 << 63) | 1,
        0xFFFFFFFFFFFFF,
        1 << 52,
        0x3FF << 52,
        0xBFF << 52,
        0x3FE << 52,
        (0x7FF << 52) - 1,
        0x7FF << 52,
        0xFFF << 52,
        0x7FF8 << 48,
        0x7FF4 << 48,
        0x41E << 52,
        0xC1E << 52,
        0x41F << 52,
    ],
}
POSITIONS = (2, 4, 6)  # registers of the sources; results from v10


def values(kind: str, rng: np.random.Generator) -> np.ndarray:
    """64 operands: edges of the type, small numbers and random bits in random order."""
    dtype = np.dtype(TYPES[kind])
    size = dtype.itemsize
    bits = rng.integers(0, 1 << (8 * size), 64, dtype=BITS[size], endpoint=False)
    if dtype.kind == "f":
        edges = np.array(FLOAT_EDGES[size], BITS[size])
        numbers = (rng.standard_normal(24) * 8).astype(dtype)
        numbers[:8] = np.rint(numbers[:8] * 2) / 2
        bits[:24] = numbers.view(BITS[size])
    else:
        top = 1 << (8 * size)
        edges = np.array(
            [0, 1, 2, 31, 32, 63, top // 2 - 1, top // 2, top - 1, top - 2, 0xFF, 0x80], BITS[size]
        )
        bits[:16] = rng.integers(0, 70, 16).astype(BITS[size])
    bits[24 : 24 + len(edges)] = edges
    return rng.permutation(bits).view(dtype)


def registers(position: int, array: np.ndarray, rng: np.random.Generator) -> dict[int, np.ndarray]:
    """Register rows that hold an operand; the unused half of a 16-bit one holds noise."""
    size = array.dtype.itemsize
    bits = array.view(BITS[size]).astype(np.uint64)
    if size == 2:
        bits |= rng.integers(0, 1 << 16, 64, dtype=np.uint64) << np.uint64(16)
    rows = {position: (bits & np.uint64(0xFFFFFFFF)).astype(np.uint32)}
    if size == 8:
        rows[position + 1] = (bits >> np.uint64(32)).astype(np.uint32)
    return rows


def name(number: int, kind: str) -> str:
    """How the assembler calls the register of an operand."""
    return f"v[{number}:{number + 1}]" if np.dtype(TYPES[kind]).itemsize == 8 else f"v{number}"


def result(state: isa.State, kind: str, number: int = 10) -> np.ndarray:
    """The result in its type."""
    dtype = np.dtype(TYPES[kind])
    if dtype.itemsize == 8:
        return state.v64(number).view(dtype)
    row = state.vgpr[number].copy()
    return row.astype(np.uint16).view(dtype) if dtype.itemsize == 2 else row.view(dtype)


def assert_same(got: np.ndarray, want: np.ndarray, ulps: int = 0, context: object = "") -> None:
    """Equal bits, or both NaN, or within `ulps` of a float's last place."""
    want = np.asarray(want).astype(got.dtype)
    bits = BITS[got.dtype.itemsize]
    same = got.view(bits) == want.view(bits)
    if got.dtype.kind == "f":
        same |= np.isnan(got) & np.isnan(want)
        if ulps:
            with np.errstate(all="ignore"):
                same |= np.abs(got.astype(np.float64) - want) <= ulps * np.spacing(
                    np.abs(want)
                ).astype(np.float64)
    bad = np.flatnonzero(~same)
    assert bad.size == 0, (
        f"{context}: lanes {bad[:4]}: got {got[bad[:4]]!r}, want {want[bad[:4]]!r}"
    )


@dataclass(frozen=True, slots=True)
class Case:
    """An instruction, the types of its operands, and what it computes on arrays of 64."""

    mnemonic: str
    kinds: str  # "f32 f32 -> f32"
    oracle: Callable[..., np.ndarray]
    ulps: int = 0
    keeps_high: bool = False
    target: str = "gfx942"

    @property
    def sources(self) -> list[str]:
        """Types of the sources."""
        return self.kinds.split("->")[0].split()

    @property
    def destination(self) -> str:
        """Type of the result."""
        return self.kinds.split("->")[1].strip()

    def text(self, suffix: str = "") -> str:
        """The instruction on registers, with modifiers behind it."""
        operands = [name(10, self.destination)]
        operands += [name(p, k) for p, k in zip(POSITIONS, self.sources, strict=False)]
        return f"{self.mnemonic} {', '.join(operands)} {suffix}".strip()


def check(case: Case, code: bytes, mode: int = isa.MODE_HIP, repeats: int = 3) -> None:
    """Runs the instruction with several operand sets, the last one with half the lanes off."""
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        operands = [values(kind, rng) for kind in case.sources]
        rows: dict[int, np.ndarray] = {
            10: np.full(64, POISON, np.uint32),
            11: np.full(64, POISON, np.uint32),
        }
        for position, operand in zip(POSITIONS, operands, strict=False):
            rows |= registers(position, operand, rng)
        exec_mask = isa.ALL_LANES if seed + 1 < repeats else 0x0F0F_3333_5555_00FF
        state = isa.run(case.target, code, vgpr=rows, exec_mask=exec_mask, mode=mode)
        lanes = np.array([exec_mask >> i & 1 for i in range(64)], bool)
        with np.errstate(all="ignore"):
            want = case.oracle(*operands)
        got = result(state, case.destination)
        assert_same(got[lanes], np.asarray(want)[lanes], case.ulps, case.mnemonic)
        np.testing.assert_array_equal(state.vgpr[10][~lanes], POISON)
        if np.dtype(TYPES[case.destination]).itemsize == 2:
            high = POISON >> 16 if case.keeps_high else 0
            np.testing.assert_array_equal(state.vgpr[10][lanes] >> 16, high)


def assembled(cases: Sequence[Case]) -> dict[Case, bytes]:
    """Code of every case, one assembler run for each target."""
    codes: dict[Case, bytes] = {}
    for target in sorted({case.target for case in cases}):
        mine = [case for case in cases if case.target == target]
        codes |= dict(zip(mine, isa.assemble(target, [case.text() for case in mine]), strict=True))
    return codes
