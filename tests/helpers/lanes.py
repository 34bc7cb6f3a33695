"""Lanes, addresses and the forms of vector memory instructions, for their tests."""

from __future__ import annotations

import functools

import numpy as np
from helpers import isa

LANES = np.arange(64, dtype=np.uint32)
SOME_LANES = 0xF0F0_0000_1234_8001


def active(mask: int) -> np.ndarray:
    """EXEC as a truth value a lane."""
    return np.array([mask >> lane & 1 for lane in range(64)], bool)


def memory(size: int = 8192) -> np.ndarray:
    """Random bytes, the same every time."""
    return np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)


def addresses(array: np.ndarray, offsets: np.ndarray, first: int = 0) -> dict[int, np.ndarray]:
    """A pair of VGPRs that holds 64-bit addresses into an array."""
    full = offsets.astype(np.uint64) + np.uint64(isa.address(array))
    low = (full & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return {first: low, first + 1: (full >> np.uint64(32)).astype(np.uint32)}


@functools.cache
def assembled(target: str, texts: tuple[str, ...]) -> dict[str, bytes]:
    """Code of each text, assembled in one go."""
    return dict(zip(texts, isa.assemble(target, texts), strict=True))


def gather(array: np.ndarray, offsets: np.ndarray, dtype: type, count: int = 1) -> np.ndarray:
    """[lane, element] of the bytes at each lane's offset."""
    size = np.dtype(dtype).itemsize * count
    rows = np.stack([array[o : o + size] for o in offsets.astype(int)])
    return rows.view(dtype).reshape(64, count)


LOADS = {  # name: type, elements
    "ubyte": (np.uint8, 1),
    "sbyte": (np.int8, 1),
    "ushort": (np.uint16, 1),
    "sshort": (np.int16, 1),
    "dword": (np.uint32, 1),
    "dwordx2": (np.uint32, 2),
    "dwordx3": (np.uint32, 3),
    "dwordx4": (np.uint32, 4),
}
STORES = {  # name: bytes, shift of the data
    "byte": (1, 0),
    "byte_d16_hi": (1, 16),
    "short": (2, 0),
    "short_d16_hi": (2, 16),
    "dword": (4, 0),
    "dwordx2": (8, 0),
    "dwordx3": (12, 0),
    "dwordx4": (16, 0),
}
D16 = {
    "ubyte_d16": (np.uint8, 0),
    "ubyte_d16_hi": (np.uint8, 16),
    "sbyte_d16": (np.int8, 0),
    "sbyte_d16_hi": (np.int8, 16),
    "short_d16": (np.uint16, 0),
    "short_d16_hi": (np.uint16, 16),
}


def data_registers(rows: int, first: int = 4) -> str:
    """A register or tuple, as the assembler spells it."""
    return f"v{first}" if rows == 1 else f"v[{first}:{first + rows - 1}]"


def rows_of(words: np.ndarray, first: int) -> dict[int, np.ndarray]:
    """Registers that hold one 32- or 64-bit word a lane."""
    halves = np.ascontiguousarray(words).view(np.uint32).reshape(64, -1).T
    return {first + n: row for n, row in enumerate(halves)}


def loaded(array: np.ndarray, offsets: np.ndarray, name: str) -> np.ndarray:
    """[row, lane] that a load of this name finds at each lane's offset."""
    dtype, count = LOADS[name]
    return gather(array, offsets, dtype, count).astype(np.int64).astype(np.uint32).T


def stored(
    array: np.ndarray, offsets: np.ndarray, name: str, data: np.ndarray, mask: int
) -> np.ndarray:
    """The array after a store of this name; data is [row, lane]."""
    size, shift = STORES[name]
    after = array.copy()
    lane_bytes = np.ascontiguousarray((data >> np.uint32(shift)).T).view(np.uint8)
    for lane in np.flatnonzero(active(mask)):
        at = int(offsets[lane])
        after[at : at + size] = lane_bytes[lane, :size]
    return after


def random_rows(seed: int = 1) -> np.ndarray:
    """Four rows of register values."""
    return np.random.default_rng(seed).integers(0, 2**32, (4, 64), dtype=np.uint32)


def resource(base: int, records: int, stride: int = 0, word3: int = 0x20000) -> dict[int, int]:
    """A buffer descriptor in s[8:11]."""
    return isa.pair(8, base | stride << 48) | {10: records, 11: word3}


def whole(array: np.ndarray, stride: int = 0) -> dict[int, int]:
    """A descriptor of all bytes of an array."""
    return resource(isa.address(array), array.nbytes, stride)
