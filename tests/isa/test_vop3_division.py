"""v_div_scale, v_div_fmas and v_div_fixup, alone and as the division that compilers build."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import exact, isa, valu

F32, F64 = np.float32, np.float64

DIVIDE_F32 = """
v_div_scale_f32 v3, s[4:5], v2, v2, v1
v_div_scale_f32 v4, vcc, v1, v2, v1
v_rcp_f32_e32 v5, v3
v_fma_f32 v6, -v3, v5, 1.0
v_fma_f32 v5, v6, v5, v5
v_mul_f32_e32 v6, v4, v5
v_fma_f32 v7, -v3, v6, v4
v_fma_f32 v6, v7, v5, v6
v_fma_f32 v3, -v3, v6, v4
v_div_fmas_f32 v3, v3, v5, v6
v_div_fixup_f32 v0, v3, v2, v1
"""

DIVIDE_F64 = """
v_div_scale_f64 v[6:7], s[4:5], v[4:5], v[4:5], v[2:3]
v_rcp_f64_e32 v[8:9], v[6:7]
v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0
v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]
v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0
v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]
v_div_scale_f64 v[10:11], vcc, v[2:3], v[4:5], v[2:3]
v_mul_f64 v[12:13], v[10:11], v[8:9]
v_fma_f64 v[6:7], -v[6:7], v[12:13], v[10:11]
v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[12:13]
v_div_fixup_f64 v[0:1], v[6:7], v[4:5], v[2:3]
"""


def quotient(a, b, fmt):
    a, b = float(a), float(b)
    if not (np.isfinite(a) and np.isfinite(b)) or a == 0 or b == 0:
        with np.errstate(all="ignore"):
            return float(F64(a) / F64(b))
    value = Fraction(a) / Fraction(b)
    return exact.to_float(exact.rounded(value, fmt), fmt)


def floats(rng, dtype, count):
    """Random bit patterns, so that every exponent occurs, and values near each other."""
    bits = {4: np.uint32, 8: np.uint64}[dtype(0).itemsize]
    wild = rng.integers(0, 1 << (8 * dtype(0).itemsize), count, dtype=bits).view(dtype)
    wild[: count // 3] = rng.standard_normal(count // 3)
    return wild


@pytest.fixture(scope="module")
def codes():
    return isa.assemble("gfx942", [DIVIDE_F32, DIVIDE_F64])


@pytest.mark.parametrize("seed", range(24))
def test_f32_division_is_correctly_rounded(seed, codes):
    rng = np.random.default_rng(seed)
    a, b = floats(rng, F32, 64), floats(rng, F32, 64)
    if seed % 3 == 0:  # quotients around and below the smallest normal number
        exponents = rng.integers(-24, 3, 64)
        b = (np.abs(rng.standard_normal(64)) + 1).astype(F32)
        a = np.ldexp(rng.standard_normal(64), -126 + exponents).astype(F32)
    if seed % 3 == 1:
        a[:16], b[:16] = valu.values("f32", rng)[:16], valu.values("f32", rng)[:16]
        b[16:32] = np.ldexp(rng.standard_normal(16), 126).astype(F32)
    end = isa.run("gfx942", codes[0], vgpr={1: a, 2: b})
    want = np.array([quotient(x, y, exact.F32) for x, y in zip(a, b, strict=True)], F32)
    valu.assert_same(end.vgpr[0].view(F32), want, context=seed)


@pytest.mark.parametrize("seed", range(24))
def test_f64_division_is_correctly_rounded(seed, codes):
    rng = np.random.default_rng(seed)
    a, b = floats(rng, F64, 64), floats(rng, F64, 64)
    if seed % 3 == 0:
        b = np.abs(rng.standard_normal(64)) + 1
        a = np.ldexp(rng.standard_normal(64), -1022 + rng.integers(-54, 3, 64))
    rows = valu.registers(2, a, rng) | valu.registers(4, b, rng)
    end = isa.run("gfx942", codes[1], vgpr=rows)
    want = np.array([quotient(x, y, exact.F64) for x, y in zip(a, b, strict=True)], F64)
    valu.assert_same(end.v64(0).view(F64), want, context=seed)


def test_div_scale_scales_only_where_it_must():
    numerator = np.array([1, 3, 1e38, 1e-40, 1e-20, 1e-38] + [1] * 58, F32)
    denominator = np.array([2, 3, 1e-3, 1, 1e-40, 1e38] + [1] * 58, F32)
    text = "v_div_scale_f32 v3, s[4:5], v2, v2, v1\nv_div_scale_f32 v4, vcc, v1, v2, v1"
    end = isa.run("gfx942", text, vgpr={1: numerator, 2: denominator})
    up, down = F32(2.0**64), F32(2.0**-64)
    want_denominator = denominator * np.array([1, 1, up, 1, up, down] + [1] * 58, F32)
    want_numerator = numerator * np.array([1, 1, 1, up, up, 1] + [1] * 58, F32)
    valu.assert_same(end.vgpr[3].view(F32), want_denominator)
    valu.assert_same(end.vgpr[4].view(F32), want_numerator)
    assert end.vcc == end.s64(4) == 0b101100  # the quotient overflows nearly, or is denormal


def test_fixup_f16_specials():
    one, inf, nan = 1.0, np.inf, np.nan
    numerator = np.array([0, inf, one, 0, -inf, -one, nan, one, -0.0, 6], np.float16)
    denominator = np.array([0, -inf, 0, one, one, -0.0, one, nan, 3, -2], np.float16)
    quotient_in = np.full(64, 3, np.float16)
    a, b = np.resize(numerator, 64), np.resize(denominator, 64)
    rows = {
        1: quotient_in.view(np.uint16),
        2: b.view(np.uint16),
        3: a.view(np.uint16),
        0: np.zeros(64, np.uint32),
    }
    end = isa.run(
        "gfx942", "v_div_fixup_f16 v0, v1, v2, v3\nv_div_fixup_legacy_f16 v4, v1, v2, v3", vgpr=rows
    )
    want = np.resize(np.array([nan, nan, inf, 0, -inf, inf, nan, nan, -0.0, -3], np.float16), 64)
    for row in (0, 4):
        valu.assert_same(end.vgpr[row].astype(np.uint16).view(np.float16), want)
