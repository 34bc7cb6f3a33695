"""Matrix products: every shape and type against NumPy, numerics, register files."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from helpers import isa
from helpers.matrix import (
    BY_NAME,
    CASES,
    DTYPES,
    C,
    Case,
    input_rows,
    integers,
    numbered,
    product,
    result_matrix,
    result_rows,
    run,
    text,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.target}-{case.mnemonic}")
def test_integer_inputs_are_exact(case: Case) -> None:
    a, b, c = integers(case, 1)
    np.testing.assert_array_equal(run(case, a, b, c), product(a, b, c).astype(case.result))


def random_cases() -> list[Case]:
    kinds = ("bf16", "f16", "f32", "f64", "fp8 fnuz", "fp8")
    return [case for case in CASES if case.a == case.b and case.a in kinds]


@pytest.mark.parametrize("case", random_cases(), ids=lambda case: f"{case.target}-{case.mnemonic}")
def test_random_inputs_are_within_the_rounding_bound(case: Case) -> None:
    rng = np.random.default_rng(2)
    a, b = (
        rng.standard_normal((case.blocks, case.m, case.k)).astype(DTYPES[case.a]) for _ in range(2)
    )
    c = rng.standard_normal((case.blocks, case.m, case.m)).astype(case.result)
    bound = product(np.abs(a), np.abs(b), np.abs(c)) * case.k * np.finfo(case.result).eps
    assert (np.abs(run(case, a, b, c) - product(a, b, c)) <= bound).all()


@pytest.mark.parametrize(
    ("target", "mnemonic"),
    [
        ("gfx90a", "v_mfma_f32_16x16x16bf16_1k"),
        ("gfx942", "v_mfma_f32_16x16x16_bf16"),
        ("gfx942", "v_mfma_f32_32x32x8_f16"),
        ("gfx942", "v_mfma_f32_16x16x32_fp8_bf8"),
        ("gfx950", "v_mfma_f32_32x32x16_bf16"),
    ],
)
def test_sums_round_after_every_product_in_the_order_of_k(target: str, mnemonic: str) -> None:
    case = BY_NAME[target, mnemonic]
    rng = np.random.default_rng(3)
    shape = (case.blocks, case.m, case.k)
    a = rng.standard_normal(shape).astype(DTYPES[case.a])
    b = rng.standard_normal(shape).astype(DTYPES[case.b])
    c = rng.standard_normal((case.blocks, case.m, case.m)).astype(np.float32)
    want = c.copy()
    for k in range(case.k):  # products of these types are exact in float32
        left, right = a[:, :, k].astype(np.float32), b[:, :, k].astype(np.float32)
        want += left[:, :, None] * right[:, None, :]
    np.testing.assert_array_equal(run(case, a, b, c).view(np.uint32), want.view(np.uint32))


@pytest.mark.parametrize("banks", ["avva", "vavv", "vvav", "aava", "vaav", "aaaa"])
def test_every_operand_may_be_an_accvgpr(banks: str) -> None:
    case = BY_NAME["gfx942", "v_mfma_f32_16x16x16_bf16"]
    a, b, c = integers(case, 4)
    got = run(case, a, b, c, text(case, banks), banks)
    np.testing.assert_array_equal(got, product(a, b, c))


@pytest.mark.parametrize(
    ("mnemonic", "constant", "value"),
    [
        ("v_mfma_f32_16x16x16_bf16", "0", 0),
        ("v_mfma_f32_16x16x16_bf16", "1.0", 1),
        ("v_mfma_f32_32x32x2_f32", "-4.0", -4),
        ("v_mfma_i32_16x16x32_i8", "64", 64),
        ("v_mfma_i32_16x16x32_i8", "-16", -16),
        ("v_mfma_f64_16x16x4_f64", "0.5", 0.5),
        ("v_mfma_f64_4x4x4_4b_f64", "2.0", 2),
    ],
)
def test_c_may_be_an_inline_constant(mnemonic: str, constant: str, value: float) -> None:
    case = BY_NAME["gfx942", mnemonic]
    a, b, c = integers(case, 5)
    got = run(case, a, b, c, text(case, c=constant))
    np.testing.assert_array_equal(got, product(a, b, np.full_like(c, value, np.float64)))


def test_an_integer_constant_for_f32_is_its_bit_pattern() -> None:
    case = BY_NAME["gfx942", "v_mfma_f32_16x16x16_bf16"]
    a, b, c = integers(case, 6)
    got = run(case, 0 * a, b, c, text(case, c="1"))
    np.testing.assert_array_equal(got.view(np.uint32), np.ones_like(got, np.uint32))


def test_exec_does_not_count() -> None:
    case = BY_NAME["gfx942", "v_mfma_f32_32x32x8_bf16"]
    a, b, c = integers(case, 7)
    np.testing.assert_array_equal(run(case, a, b, c, exec_mask=0), product(a, b, c))


def test_d_may_overlap_a_and_b_and_equal_c() -> None:
    case = BY_NAME["gfx942", "v_mfma_f32_16x16x16_bf16"]
    a, b, c = integers(case, 8)
    want = product(a, b, c)
    rows = numbered(0, input_rows(case, "bf16", a)) | numbered(2, input_rows(case, "bf16", b))
    rows |= numbered(C, result_rows(case, c))
    overlaps = f"v_mfma_f32_16x16x16_bf16 v[0:3], v[0:1], v[2:3], v[{C}:{C + 3}]"
    end = isa.run("gfx942", overlaps, vgpr=rows)
    np.testing.assert_array_equal(result_matrix(case, end.vgpr[0:4]), want)
    in_place = f"v_mfma_f32_16x16x16_bf16 v[{C}:{C + 3}], v[0:1], v[2:3], v[{C}:{C + 3}]"
    end = isa.run("gfx942", in_place, vgpr=rows)
    np.testing.assert_array_equal(result_matrix(case, end.vgpr[C : C + 4]), want)


def test_i8_sums_wrap() -> None:
    case = BY_NAME["gfx942", "v_mfma_i32_16x16x32_i8"]
    a, b = (np.full((1, 16, 32), -128, np.int8) for _ in range(2))
    c = np.full((1, 16, 16), 2**31 - 1, np.int32)
    want = (2**31 - 1 + 32 * 128 * 128 + 2**31) % 2**32 - 2**31
    np.testing.assert_array_equal(run(case, a, b, c), np.full_like(c, want))


def test_xf32_sees_ten_fraction_bits() -> None:
    case = BY_NAME["gfx942", "v_mfma_f32_16x16x8_xf32"]
    a = np.full((1, 16, 8), 1 + 2.0**-10 + 2.0**-11 + 2.0**-20, np.float32)
    b = np.full((1, 16, 8), -1 - 2.0**-12, np.float32)
    c = np.zeros((1, 16, 16), np.float32)
    np.testing.assert_array_equal(run(case, a, b, c), np.full_like(c, -8 * (1 + 2.0**-10)))


def test_bf16_denormals_are_kept() -> None:
    case = BY_NAME["gfx942", "v_mfma_f32_16x16x16_bf16"]
    a = np.full((1, 16, 16), 2.0**-130, ml_dtypes.bfloat16)
    b = np.full((1, 16, 16), 2.0**10, ml_dtypes.bfloat16)
    c = np.zeros((1, 16, 16), np.float32)
    np.testing.assert_array_equal(run(case, a, b, c), np.full_like(c, 16 * 2.0**-120))


@pytest.mark.parametrize(
    ("target", "mnemonic", "bits"),
    [
        ("gfx942", "v_mfma_f32_16x16x32_fp8_fp8", 0x80),
        ("gfx942", "v_mfma_f32_16x16x32_bf8_bf8", 0x80),
        ("gfx950", "v_mfma_f32_16x16x32_fp8_fp8", 0x7F),
        ("gfx950", "v_mfma_f32_16x16x32_bf8_bf8", 0x7F),
    ],
)
def test_a_nan_poisons_its_row_only(target: str, mnemonic: str, bits: int) -> None:
    case = BY_NAME[target, mnemonic]
    a, b, c = integers(case, 13)
    want = product(a, b, c)
    a.view(np.uint8)[0, 5, 17] = bits
    want[0, 5] = np.nan
    np.testing.assert_array_equal(run(case, a, b, c), want)


@pytest.mark.parametrize("target", isa.TARGETS)
def test_accvgpr_moves_obey_exec(target: str) -> None:
    lanes = np.arange(64, dtype=np.uint32)
    program = "v_accvgpr_write_b32 a3, v1\nv_accvgpr_write_b32 a4, -3\nv_accvgpr_read_b32 v2, a5"
    end = isa.run(
        target, program, vgpr={1: lanes, 2: 7}, accvgpr={3: 8, 4: 9, 5: lanes + 100}, exec_mask=0xF0
    )
    active = (lanes >= 4) & (lanes < 8)
    np.testing.assert_array_equal(end.accvgpr[3], np.where(active, lanes, 8))
    np.testing.assert_array_equal(end.accvgpr[4], np.where(active, 2**32 - 3, 9))
    np.testing.assert_array_equal(end.vgpr[2], np.where(active, lanes + 100, 7))


@pytest.mark.parametrize(
    "code",
    [
        "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23]",
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23], v24, v25",
    ],
)
def test_narrow_float_products_of_gfx950_are_refused_by_name(code: str) -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx950", code, vgpr=dict.fromkeys(range(26), 0))
    assert trap.value.kind == "unsupported instruction"
    assert "16x16x128_f8f6f4" in trap.value.text
