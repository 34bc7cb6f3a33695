"""VOP1: one-operand vector instructions, conversions and lane moves."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from helpers import exact, isa, valu
from helpers.valu import Case

U32, I32, F32, F64, U64 = np.uint32, np.int32, np.float32, np.float64, np.uint64


def to_integer(dtype, whole=np.trunc):
    """Truncates, saturates; NaN is 0."""
    info = np.iinfo(dtype)

    def convert(a):
        wide = whole(np.nan_to_num(a.astype(F64), nan=0.0, posinf=1e300, neginf=-1e300))
        return np.clip(wide, info.min, info.max).astype(np.int64).astype(dtype)

    return convert


def per_lane(function, dtype):
    return lambda a: np.array([function(x) for x in a], dtype)


def f32_flushing(function):
    """Denormal inputs and results of these instructions are zero whatever MODE says."""

    def compute(a):
        flushed = np.where(np.abs(a) < np.finfo(F32).tiny, np.copysign(F32(0), a), a).astype(F64)
        out = function(flushed).astype(F32)
        return np.where(np.abs(out) < np.finfo(F32).tiny, np.copysign(F32(0), out), out)

    return compute


def f16_of(function):
    def compute(a):
        out = function(a.astype(F64))
        return np.array(
            [np.float16(x) if not np.isfinite(x) or x == 0 else round16(x) for x in out]
        )

    return compute


def round16(x):
    return np.array([exact.rounded(Fraction(float(x)), exact.F16)], np.uint16).view(np.float16)[0]


def sine(a):
    inside = np.where(np.fmod(a, 0.5) == 0, 0, np.sin(2 * np.pi * np.fmod(a, 1)))
    return np.where(np.abs(a) > 256, np.where(np.isinf(a), np.nan, 0), inside)


def cosine(a):
    inside = np.where(np.fmod(a, 0.5) == np.copysign(0.25, a), 0, np.cos(2 * np.pi * np.fmod(a, 1)))
    return np.where(np.abs(a) > 256, np.where(np.isinf(a), np.nan, 1), inside)


def fraction(a):
    below = np.nextafter(a.dtype.type(1), a.dtype.type(0))
    return np.where(np.isinf(a), np.nan, np.minimum(a - np.floor(a), below)).astype(a.dtype)


def mantissa(a):
    out = np.frexp(a.astype(F64))[0].astype(a.dtype)
    return np.where(np.isfinite(a), out, a)


def exponent(dtype):
    return lambda a: np.where(np.isfinite(a), np.frexp(a.astype(F64))[1], 0).astype(dtype)


def leading(bits):
    return lambda a: 0xFFFFFFFF if a == 0 else bits(int(a))


def signed_leading(a):
    a = int(a)
    flipped = a if a >= 0 else ~a
    return 0xFFFFFFFF if flipped == 0 else 32 - flipped.bit_length()


def norm16(low, top, dtype):
    def convert(a):
        wide = np.clip(np.nan_to_num(a.astype(F64), nan=0.0), low, 1)
        return np.rint(wide * top).astype(dtype)

    return convert


def saturate_bytes(a):
    halves = (
        (a & U32(0xFFFF)).astype(np.uint16).view(np.int16),
        (a >> U32(16)).astype(np.uint16).view(np.int16),
    )
    low, high = (np.clip(h, 0, 255).astype(np.uint16) for h in halves)
    return low | high << np.uint16(8)


def byte(n):
    return lambda a: (a >> U32(8 * n) & U32(255)).astype(F32)


CASES = [
    Case("v_mov_b32_e32", "u32 -> u32", lambda a: a),
    Case("v_cvt_i32_f64_e32", "f64 -> i32", to_integer(I32)),
    Case("v_cvt_f64_i32_e32", "i32 -> f64", lambda a: a.astype(F64)),
    Case("v_cvt_f32_i32_e32", "i32 -> f32", lambda a: a.astype(F32)),
    Case("v_cvt_f32_u32_e32", "u32 -> f32", lambda a: a.astype(F32)),
    Case("v_cvt_u32_f32_e32", "f32 -> u32", to_integer(U32)),
    Case("v_cvt_i32_f32_e32", "f32 -> i32", to_integer(I32)),
    Case("v_cvt_f16_f32_e32", "f32 -> f16", lambda a: a.astype(np.float16)),
    Case("v_cvt_f32_f16_e32", "f16 -> f32", lambda a: a.astype(F32)),
    Case("v_cvt_rpi_i32_f32_e32", "f32 -> i32", lambda a: to_integer(I32, np.floor)(a + F32(0.5))),
    Case("v_cvt_flr_i32_f32_e32", "f32 -> i32", to_integer(I32, np.floor)),
    Case("v_cvt_off_f32_i4_e32", "u32 -> f32", lambda a: ((a.astype(np.int64) + 8) % 16 - 8) / 16),
    Case("v_cvt_f32_f64_e32", "f64 -> f32", lambda a: a.astype(F32)),
    Case("v_cvt_f64_f32_e32", "f32 -> f64", lambda a: a.astype(F64)),
    *(Case(f"v_cvt_f32_ubyte{n}_e32", "u32 -> f32", byte(n)) for n in range(4)),
    Case("v_cvt_u32_f64_e32", "f64 -> u32", to_integer(U32)),
    Case("v_cvt_f64_u32_e32", "u32 -> f64", lambda a: a.astype(F64)),
    Case("v_trunc_f64_e32", "f64 -> f64", np.trunc),
    Case("v_ceil_f64_e32", "f64 -> f64", np.ceil),
    Case("v_rndne_f64_e32", "f64 -> f64", np.rint),
    Case("v_floor_f64_e32", "f64 -> f64", np.floor),
    Case("v_fract_f32_e32", "f32 -> f32", fraction),
    Case("v_trunc_f32_e32", "f32 -> f32", np.trunc),
    Case("v_ceil_f32_e32", "f32 -> f32", np.ceil),
    Case("v_rndne_f32_e32", "f32 -> f32", np.rint),
    Case("v_floor_f32_e32", "f32 -> f32", np.floor),
    Case("v_exp_f32_e32", "f32 -> f32", f32_flushing(np.exp2), 1),
    Case("v_log_f32_e32", "f32 -> f32", f32_flushing(np.log2), 1),
    Case("v_rcp_f32_e32", "f32 -> f32", f32_flushing(lambda a: 1 / a)),
    Case("v_rcp_iflag_f32_e32", "f32 -> f32", f32_flushing(lambda a: 1 / a)),
    Case("v_rsq_f32_e32", "f32 -> f32", f32_flushing(lambda a: 1 / np.sqrt(a)), 1),
    Case("v_rcp_f64_e32", "f64 -> f64", lambda a: 1 / a),
    Case("v_rsq_f64_e32", "f64 -> f64", lambda a: 1 / np.sqrt(a), 2),
    Case("v_sqrt_f32_e32", "f32 -> f32", f32_flushing(np.sqrt)),
    Case("v_sqrt_f64_e32", "f64 -> f64", np.sqrt),
    Case("v_sin_f32_e32", "f32 -> f32", f32_flushing(sine), 2),
    Case("v_cos_f32_e32", "f32 -> f32", f32_flushing(cosine), 2),
    Case("v_not_b32_e32", "u32 -> u32", lambda a: ~a),
    Case("v_bfrev_b32_e32", "u32 -> u32", per_lane(lambda a: int(f"{a:032b}"[::-1], 2), U32)),
    Case("v_ffbh_u32_e32", "u32 -> u32", per_lane(leading(lambda a: 32 - a.bit_length()), U32)),
    Case(
        "v_ffbl_b32_e32", "u32 -> u32", per_lane(leading(lambda a: (a & -a).bit_length() - 1), U32)
    ),
    Case("v_ffbh_i32_e32", "i32 -> u32", per_lane(signed_leading, U32)),
    Case("v_frexp_exp_i32_f64_e32", "f64 -> i32", exponent(I32)),
    Case("v_frexp_mant_f64_e32", "f64 -> f64", mantissa),
    Case("v_fract_f64_e32", "f64 -> f64", fraction),
    Case("v_frexp_exp_i32_f32_e32", "f32 -> i32", exponent(I32)),
    Case("v_frexp_mant_f32_e32", "f32 -> f32", mantissa),
    Case("v_mov_b64_e32", "u64 -> u64", lambda a: a),
    Case("v_cvt_f16_u16_e32", "u16 -> f16", lambda a: a.astype(np.float16)),
    Case("v_cvt_f16_i16_e32", "i16 -> f16", lambda a: a.astype(np.float16)),
    Case("v_cvt_u16_f16_e32", "f16 -> u16", to_integer(np.uint16)),
    Case("v_cvt_i16_f16_e32", "f16 -> i16", to_integer(np.int16)),
    Case("v_rcp_f16_e32", "f16 -> f16", f16_of(lambda a: 1 / a)),
    Case("v_sqrt_f16_e32", "f16 -> f16", f16_of(np.sqrt)),
    Case("v_rsq_f16_e32", "f16 -> f16", f16_of(lambda a: 1 / np.sqrt(a))),
    Case("v_log_f16_e32", "f16 -> f16", f16_of(np.log2), 1),
    Case("v_exp_f16_e32", "f16 -> f16", f16_of(np.exp2), 1),
    Case("v_frexp_mant_f16_e32", "f16 -> f16", mantissa),
    Case("v_frexp_exp_i16_f16_e32", "f16 -> i16", exponent(np.int16)),
    Case("v_floor_f16_e32", "f16 -> f16", np.floor),
    Case("v_ceil_f16_e32", "f16 -> f16", np.ceil),
    Case("v_trunc_f16_e32", "f16 -> f16", np.trunc),
    Case("v_rndne_f16_e32", "f16 -> f16", np.rint),
    Case("v_fract_f16_e32", "f16 -> f16", fraction),
    Case("v_sin_f16_e32", "f16 -> f16", f16_of(sine), 2),
    Case("v_cos_f16_e32", "f16 -> f16", f16_of(cosine), 2),
    Case("v_cvt_norm_i16_f16_e32", "f16 -> i16", norm16(-1, 32767, np.int16)),
    Case("v_cvt_norm_u16_f16_e32", "f16 -> u16", norm16(0, 65535, np.uint16)),
    Case("v_sat_pk_u8_i16_e32", "u32 -> u16", saturate_bytes),
    Case(
        "v_prng_b32_e32",
        "u32 -> u32",
        per_lane(lambda a: (int(a) << 1 ^ (197 if a >> 31 else 0)) & 0xFFFFFFFF, U32),
        target="gfx950",
    ),
    Case(
        "v_cvt_f32_bf16_e32",
        "u16 -> f32",
        lambda a: (a.astype(U32) << U32(16)).view(F32),
        target="gfx950",
    ),
]


@pytest.fixture(scope="module")
def codes():
    return valu.assembled(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mnemonic)
def test_values(case, codes):
    valu.check(case, codes[case])


FLOAT8 = {
    ("gfx942", "fp8"): ml_dtypes.float8_e4m3fnuz,
    ("gfx942", "bf8"): ml_dtypes.float8_e5m2fnuz,
    ("gfx950", "fp8"): ml_dtypes.float8_e4m3fn,
    ("gfx950", "bf8"): ml_dtypes.float8_e5m2,
}


@pytest.mark.parametrize(("target", "kind"), FLOAT8)
def test_every_float8_code(target, kind):
    codes = np.arange(256, dtype=np.uint8)
    want = codes.view(FLOAT8[target, kind]).astype(F32)
    for start in range(0, 256, 64):
        word = codes[start : start + 64].astype(U32) * U32(0x01000001)  # bytes 0 and 3
        end = isa.run(
            target,
            f"v_cvt_f32_{kind}_e32 v0, v1\nv_cvt_f32_{kind}_sdwa v2, v1 src0_sel:BYTE_3",
            vgpr={1: word},
        )
        for row in (0, 2):
            valu.assert_same(end.vgpr[row].view(F32), want[start : start + 64])


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_packed_float8_takes_a_word(target):
    rng = np.random.default_rng(1)
    word = rng.integers(0, 1 << 32, 64, dtype=U32)
    text = "v_cvt_pk_f32_fp8_e32 v[0:1], v4\nv_cvt_pk_f32_bf8_sdwa v[2:3], v4 src0_sel:WORD_1"
    end = isa.run(target, text, vgpr={4: word})
    fp8, bf8 = FLOAT8[target, "fp8"], FLOAT8[target, "bf8"]
    for row, shift, dtype in ((0, 0, fp8), (1, 8, fp8), (2, 16, bf8), (3, 24, bf8)):
        want = (word >> U32(shift)).astype(np.uint8).view(dtype).astype(F32)
        valu.assert_same(end.vgpr[row].view(F32), want)


def test_readfirstlane():
    lanes = np.arange(64, dtype=U32) + 100
    for exec_mask, want in ((isa.ALL_LANES, 100), (1 << 40 | 1 << 9, 109), (0, 100)):
        end = isa.run("gfx942", "v_readfirstlane_b32 s5, v1", vgpr={1: lanes}, exec_mask=exec_mask)
        assert end.sgpr[5] == want


def test_nop_and_clrexcp_change_nothing():
    end = isa.run("gfx942", "v_nop\nv_clrexcp")
    assert (end.vgpr == isa.POISON).all()


def test_swap_exchanges_active_lanes():
    a, b = np.arange(64, dtype=U32), np.arange(64, dtype=U32) + 500
    end = isa.run("gfx942", "v_swap_b32 v0, v1", vgpr={0: a, 1: b}, exec_mask=0xFF)
    first = np.arange(64) < 8
    np.testing.assert_array_equal(end.vgpr[0], np.where(first, b, a))
    np.testing.assert_array_equal(end.vgpr[1], np.where(first, a, b))


def test_accvgpr_mov():
    a = np.arange(64, dtype=U32)
    end = isa.run(
        "gfx942", "v_accvgpr_mov_b32 a3, a9", accvgpr={9: a, 3: np.zeros(64, U32)}, exec_mask=0xF0
    )
    np.testing.assert_array_equal(end.accvgpr[3], np.where((a >= 4) & (a < 8), a, 0))


@pytest.mark.parametrize("group", [16, 32])
def test_permlane_swap(group):
    a, b = np.arange(64, dtype=U32), np.arange(64, dtype=U32) + 500
    end = isa.run("gfx950", f"v_permlane{group}_swap_b32 v0, v1", vgpr={0: a, 1: b}, exec_mask=1)
    want_a, want_b = a.copy(), b.copy()
    for base in range(0, 64, 2 * group):
        upper, lower = slice(base + group, base + 2 * group), slice(base, base + group)
        want_a[upper], want_b[lower] = b[lower], a[upper]
    np.testing.assert_array_equal(end.vgpr[0], want_a)
    np.testing.assert_array_equal(end.vgpr[1], want_b)


@pytest.mark.parametrize(
    "text",
    [
        "v_exp_legacy_f32_e32 v0, v1",
        "v_log_legacy_f32_e32 v0, v1",
        "v_screen_partition_4se_b32_e32 v0, v1",
    ],
)
def test_refused_by_name(text):
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", text, vgpr={1: np.zeros(64, U32)})
    assert trap.value.kind == "unsupported instruction"
    assert text.split("_e32")[0] in trap.value.text


def test_cvt_f16_f32_in_every_rounding_mode():
    rng = np.random.default_rng(2)
    a = np.concatenate(
        [
            rng.standard_normal(40) * 10.0 ** rng.integers(-8, 6, 40),
            [65519, 65520, -65536, 1e6, 2e-8, -2e-8, 3e-8, 0] * 3,
        ]
    )
    a = a[:64].astype(F32)
    for mode in range(4):
        end = isa.run(
            "gfx942", "v_cvt_f16_f32_e32 v0, v1", vgpr={1: a}, mode=isa.MODE_HIP | mode << 2
        )
        want = [
            exact.rounded(Fraction(float(x)), exact.F16, mode, int(math.copysign(1, x) < 0))
            for x in a
        ]
        np.testing.assert_array_equal(
            end.vgpr[0], np.array(want, U32), err_msg=f"MODE round {mode}"
        )


def test_cvt_f16_f32_overflow_clamp():
    a = np.array([7e4, -7e4, np.inf, -np.inf, 1.0] + [0.0] * 59, F32)
    end = isa.run("gfx942", "v_cvt_f16_f32_e32 v0, v1", vgpr={1: a}, mode=isa.MODE_HIP | 1 << 23)
    assert list(end.vgpr[0][:5]) == [0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x3C00]
