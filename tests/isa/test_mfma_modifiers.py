"""Modifiers of matrix products: broadcasts of A, lane patterns of B, negation, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import isa
from helpers.matrix import BY_NAME, CASES, DTYPES, input_rows, integers, product, run, text


@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
@pytest.mark.parametrize(
    ("shape", "cbsz", "abid"),
    [
        ((32, 1, 2), 1, 0),
        ((32, 1, 2), 1, 1),
        ((16, 1, 4), 1, 1),
        ((16, 1, 4), 2, 3),
        ((4, 1, 16), 1, 1),
        ((4, 1, 16), 3, 5),
        ((4, 1, 16), 4, 15),
    ],
)
def test_cbsz_gives_neighbouring_blocks_of_a_the_values_of_one(
    target: str, shape: tuple[int, int, int], cbsz: int, abid: int
) -> None:
    case = next(c for c in CASES if (c.target, c.m, c.k, c.blocks) == (target, *shape))
    assert case.a == "f32"
    a, b, c = integers(case, 9)
    got = run(case, a, b, c, text(case, modifiers=f"cbsz:{cbsz} abid:{abid}"))
    sources = [(block // 2**cbsz) * 2**cbsz + abid for block in range(case.blocks)]
    np.testing.assert_array_equal(got, product(a[sources], b, c))


BLGP = {
    1: [*range(32), *range(32)],
    2: [*range(32, 64), *range(32, 64)],
    3: [*range(16, 64), *range(16)],
    4: [*range(16)] * 4,
    5: [*range(16, 32)] * 4,
    6: [*range(32, 48)] * 4,
    7: [*range(48, 64)] * 4,
}


@pytest.mark.parametrize("blgp", BLGP)
@pytest.mark.parametrize(
    ("target", "mnemonic"),
    [
        ("gfx942", "v_mfma_f32_16x16x4_f32"),
        ("gfx942", "v_mfma_f32_32x32x4_2b_f16"),
        ("gfx942", "v_mfma_f32_4x4x4_16b_bf16"),
        ("gfx90a", "v_mfma_f32_16x16x16bf16_1k"),
        ("gfx90a", "v_mfma_i32_32x32x8i8"),
    ],
)
def test_blgp_permutes_the_lanes_of_b(target: str, mnemonic: str, blgp: int) -> None:
    case = BY_NAME[target, mnemonic]
    a, b, c = integers(case, 10)
    lanes = input_rows(case, case.b, b)[:, BLGP[blgp]]
    elements = np.ascontiguousarray(lanes.T).view(DTYPES[case.b])
    block, column, k = np.indices(b.shape)
    moved = elements[case.input_place(column, k, block)]
    got = run(case, a, b, c, text(case, modifiers=f"blgp:{blgp}"))
    np.testing.assert_array_equal(got, product(a, moved, c))


@pytest.mark.parametrize("negated", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize("mnemonic", ["v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64"])
def test_f64_inputs_may_be_negated(mnemonic: str, negated: tuple[int, int, int]) -> None:
    case = BY_NAME["gfx942", mnemonic]
    a, b, c = integers(case, 11)
    got = run(case, a, b, c, text(case, modifiers=f"neg:[{','.join(map(str, negated))}]"))
    signs = [1 - 2 * flag for flag in negated]
    np.testing.assert_array_equal(got, product(signs[0] * a, signs[1] * b, signs[2] * c))


@pytest.mark.parametrize(
    ("target", "mnemonic", "modifier"),
    [
        ("gfx942", "v_mfma_f32_16x16x16_bf16", "blgp:1"),
        ("gfx942", "v_mfma_f32_16x16x16_bf16", "cbsz:1"),
        ("gfx942", "v_mfma_f32_32x32x1_2b_f32", "cbsz:2"),
        ("gfx942", "v_mfma_f32_16x16x1_4b_f32", "cbsz:1 abid:2"),
        ("gfx90a", "v_mfma_f64_16x16x4f64", "blgp:1"),
    ],
)
def test_modifiers_that_a_shape_lacks_are_refused(
    target: str, mnemonic: str, modifier: str
) -> None:
    case = BY_NAME[target, mnemonic]
    with pytest.raises(isa.Trap) as trap:
        run(case, *integers(case, 12), text(case, modifiers=modifier))
    assert trap.value.kind == "unsupported modifier"
    assert mnemonic in trap.value.text
