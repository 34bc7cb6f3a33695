"""ds_swizzle, ds_permute, ds_bpermute, and the transposing reads of gfx950."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import isa
from helpers.lanes import LANES, active

SOME_LANES = 0xFFFF_00FF_F0F0_FFFF


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("offset", [0, 4, 252])
def test_bpermute_pulls(offset: int, mask: int) -> None:
    rng = np.random.default_rng(1)
    address = rng.integers(0, 2**32, 64, dtype=np.uint32)
    data = rng.integers(0, 2**32, 64, dtype=np.uint32)
    code = f"ds_bpermute_b32 v2, v0, v1 offset:{offset}"
    end = isa.run("gfx942", code, vgpr={0: address, 1: data}, exec_mask=mask)
    source = (address.astype(np.int64) + offset) % 2**32 // 4 % 64
    pulled = np.where(active(mask)[source], data[source], 0)
    np.testing.assert_array_equal(end.vgpr[2], np.where(active(mask), pulled, isa.POISON))


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
def test_permute_pushes_and_the_highest_lane_wins(mask: int) -> None:
    target = np.random.default_rng(2).integers(0, 64, 64)
    code = "ds_permute_b32 v2, v0, v1 offset:8"
    end = isa.run("gfx942", code, vgpr={0: 4 * target, 1: LANES + 100}, exec_mask=mask)
    pushed = np.zeros(64, np.uint32)
    for lane in range(64):
        if mask >> lane & 1:
            pushed[(target[lane] + 2) % 64] = lane + 100
    np.testing.assert_array_equal(end.vgpr[2], np.where(active(mask), pushed, isa.POISON))


def bitmask(and_: int, or_: int, xor: int) -> tuple[str, list[int]]:
    sources = [(lane & 32) | (((lane & and_) | or_) ^ xor) for lane in range(64)]
    return f"{and_ | or_ << 5 | xor << 10:#x}", sources


PATTERNS = {
    "identity": bitmask(31, 0, 0),
    "swap neighbours": bitmask(31, 0, 1),
    "reverse": bitmask(31, 0, 31),
    "broadcast 8s": bitmask(24, 5, 0),
    "all three": bitmask(21, 8, 6),
    "quad": (
        "swizzle(QUAD_PERM, 3, 0, 2, 2)",
        [lane // 4 * 4 + (3, 0, 2, 2)[lane % 4] for lane in range(64)],
    ),
    "rotate down": ("0xc0a0", [(lane & 32) | (lane + 5) % 32 for lane in range(64)]),
    "rotate up": ("0xc4a0", [(lane & 32) | (lane - 5) % 32 for lane in range(64)]),
    "rotate within 8": ("0xc038", [(lane & 0x38) | (lane + 1) % 8 for lane in range(64)]),
}


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", PATTERNS)
def test_swizzle(name: str, mask: int) -> None:
    offset, sources = PATTERNS[name]
    code = f"ds_swizzle_b32 v2, v1 offset:{offset}"
    end = isa.run("gfx942", code, vgpr={1: LANES + 7}, exec_mask=mask)
    moved = np.where(active(mask)[sources], LANES[sources] + 7, 0)
    np.testing.assert_array_equal(end.vgpr[2], np.where(active(mask), moved, isa.POISON))


def test_fft_swizzle_is_refused() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "ds_swizzle_b32 v2, v1 offset:0xe000", vgpr={1: LANES})
    assert trap.value.kind == "unsupported modifier"
    assert "FFT" in trap.value.text


@pytest.mark.parametrize(("name", "dtype"), [("b16", np.uint16), ("b8", np.uint8)])
def test_transposing_reads(name: str, dtype: type) -> None:
    """16 lanes read a matrix of 16 columns row by row; each of them gets a column."""
    lds = np.random.default_rng(3).integers(0, 256, 1024, dtype=np.uint8)
    offsets = np.random.default_rng(4).permutation(64) * 8  # every lane reads where it likes
    end = isa.run(
        "gfx950", f"ds_read_b64_tr_{name} v[2:3], v0 offset:16", vgpr={0: offsets}, lds=lds
    )
    read = np.stack([lds[o + 16 : o + 24] for o in offsets])
    matrices = read.view(dtype).reshape(4, -1, 16)  # [group, row, column]
    want = matrices.transpose(0, 2, 1).reshape(64, -1)
    got = np.ascontiguousarray(end.vgpr[2:4].T).view(dtype)
    np.testing.assert_array_equal(got, want)
