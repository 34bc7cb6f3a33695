"""Sparse matrix products (smfmac) against NumPy on the matrix that A stands for."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from helpers import isa
from helpers.matrix import DTYPES, OUTPUT, numbered, registers, to_rows

A, B, D, INDEX = 0, 16, 64, 1
# mnemonic -> m, k, types of A and B; fp8 formats by target
SHAPES = {
    **{f"v_smfmac_f32_16x16x32_{t}": (16, 32, t, t) for t in ("f16", "bf16")},
    **{f"v_smfmac_f32_32x32x16_{t}": (32, 16, t, t) for t in ("f16", "bf16")},
    "v_smfmac_i32_16x16x64_i8": (16, 64, "i8", "i8"),
    "v_smfmac_i32_32x32x32_i8": (32, 32, "i8", "i8"),
    **{
        f"v_smfmac_f32_{m}x{m}x{k}_{a}_{b}": (m, k, a, b)
        for m, k in ((16, 64), (32, 32))
        for a in ("fp8", "bf8")
        for b in ("fp8", "bf8")
    },
}


def dtype(target: str, kind: str) -> type:
    return DTYPES[f"{kind} fnuz" if target == "gfx942" and "8" in kind and kind != "i8" else kind]


class Sparse:
    """Random operands of one instruction, the registers that hold them, and the product."""

    def __init__(self, target: str, mnemonic: str) -> None:
        rng = np.random.default_rng(1)
        self.m, k, a_kind, b_kind = SHAPES[mnemonic]
        a_type, b_type = dtype(target, a_kind), dtype(target, b_kind)
        # The two elements of four that A has, per row and group of four along k.
        pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
        chosen = pairs[rng.integers(0, 6, (self.m, k // 4))].reshape(self.m, k // 2)
        kept = rng.integers(-4, 5, (self.m, k // 2)).astype(a_type)
        full = np.zeros((self.m, k))
        row, column = np.indices(kept.shape)
        full[row, column // 2 * 4 + chosen] = kept.astype(np.float64)
        b = rng.integers(-4, 5, (self.m, k)).astype(b_type)
        self.result = np.int32 if a_kind == "i8" else np.float32
        c = rng.integers(-50, 51, (self.m, self.m)).astype(self.result)
        self.want = full @ b.astype(np.float64).T + c
        # A lane holds k / groups consecutive k of its row (of A: half of them).
        groups = 64 // self.m
        per_a, per_b = k // 2 // groups, k // groups
        lanes_a, lanes_b = np.zeros((64, per_a), a_type), np.zeros((64, per_b), b_type)
        index = np.zeros((64, per_a), np.uint32)
        lanes_a[row + self.m * (column // per_a), column % per_a] = kept
        index[row + self.m * (column // per_a), column % per_a] = chosen
        row, column = np.indices(b.shape)
        lanes_b[row + self.m * (column // per_b), column % per_b] = b
        lanes_d = np.zeros((64, self.m * self.m // 64), self.result)
        row, column = np.indices(c.shape)
        self.place = OUTPUT[self.m](row, column, 0)
        lanes_d[self.place] = c
        self.rows = {A: to_rows(lanes_a), B: to_rows(lanes_b), D: to_rows(lanes_d)}
        self.set_bits = 2 * per_a
        self.index = (index << (2 * np.arange(per_a, dtype=np.uint32))).sum(1, dtype=np.uint32)
        operands = [registers("v", first, len(self.rows[first])) for first in (D, A, B)]
        self.text = f"{mnemonic} {', '.join(operands)}, v{128 + INDEX}"

    def run(self, target: str, modifiers: str, index: np.ndarray) -> np.ndarray:
        registers = {128 + INDEX: index}
        for first, rows in self.rows.items():
            registers |= numbered(first, rows)
        end = isa.run(target, f"{self.text} {modifiers}", vgpr=registers)
        rows = end.vgpr[D : D + len(self.rows[D])]
        return np.ascontiguousarray(rows.T).view(self.result)[self.place]


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("mnemonic", SHAPES)
def test_sparse_products(target: str, mnemonic: str) -> None:
    case = Sparse(target, mnemonic)
    np.testing.assert_array_equal(case.run(target, "", case.index), case.want)


@pytest.mark.parametrize("mnemonic", ["v_smfmac_f32_16x16x32_f16", "v_smfmac_i32_32x32x32_i8"])
def test_abid_chooses_the_index_set_unless_cbsz_says_the_first(mnemonic: str) -> None:
    case = Sparse("gfx942", mnemonic)
    sets = 32 // case.set_bits
    noise = np.random.default_rng(2).integers(0, 2**32, 64, dtype=np.uint32)
    for chosen in range(sets):
        shift = np.uint32(chosen * case.set_bits)
        mask = np.uint32(((1 << case.set_bits) - 1) << chosen * case.set_bits)
        index = (noise & ~mask) | case.index << shift
        np.testing.assert_array_equal(case.run("gfx942", f"abid:{chosen}", index), case.want)
    first = (noise & ~np.uint32((1 << case.set_bits) - 1)) | case.index
    np.testing.assert_array_equal(case.run("gfx942", "cbsz:1 abid:1", first), case.want)
    with pytest.raises(isa.Trap) as trap:
        case.run("gfx942", f"abid:{sets}", case.index)
    assert trap.value.kind == "unsupported modifier"


def test_elements_that_a_lacks_are_not_multiplied() -> None:
    """Infinities of B meet only zeros that are not there."""
    case = Sparse("gfx942", "v_smfmac_f32_16x16x32_bf16")
    lanes = np.full((64, 8), np.inf, ml_dtypes.bfloat16)
    lanes[:, [0, 1, 4, 5]] = 1
    case.rows[B] = to_rows(lanes)
    index = np.full(64, 0b01000100, np.uint32)  # every group has its elements 0 and 1
    assert np.isfinite(case.run("gfx942", "", index)).all()


def test_sparse_shapes_of_gfx950_are_refused_by_name() -> None:
    code = "v_smfmac_f32_16x16x64_f16 v[0:3], v[4:7], v[8:15], v16"
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx950", code, vgpr=dict.fromkeys(range(17), 0))
    assert trap.value.kind == "unsupported instruction"
    assert "v_smfmac_f32_16x16x64_f16" in trap.value.text
