"""Packing conversions, float8 and stochastic rounding."""

import ml_dtypes
import numpy as np
import pytest
from helpers import isa, valu

U32, F32 = np.uint32, np.float32
FLOAT8 = {
    ("gfx942", "fp8"): ml_dtypes.float8_e4m3fnuz,
    ("gfx942", "bf8"): ml_dtypes.float8_e5m2fnuz,
    ("gfx950", "fp8"): ml_dtypes.float8_e4m3fn,
    ("gfx950", "bf8"): ml_dtypes.float8_e5m2,
}


def pair(low, high):
    return low.view(np.uint16).astype(U32) | high.view(np.uint16).astype(U32) << U32(16)


def floats(seed):
    rng = np.random.default_rng(seed)
    return valu.values("f32", rng), valu.values("f32", rng)


def run_pair(target, mnemonic, a, b, **options):
    return isa.run(target, f"{mnemonic} v0, v1, v2", vgpr={1: a, 2: b}, **options).vgpr[0]


def halves(row, dtype):
    return (row & U32(0xFFFF)).astype(np.uint16).view(dtype), (row >> U32(16)).astype(
        np.uint16
    ).view(dtype)


def toward_zero(a):
    with np.errstate(all="ignore"):
        near = a.astype(np.float16)
        too_far = np.isfinite(a) & (np.abs(near.astype(np.float64)) > np.abs(a.astype(np.float64)))
    return np.where(too_far, (near.view(np.uint16) - np.uint16(1)).view(np.float16), near)


@pytest.mark.parametrize(
    ("target", "mnemonic", "convert", "dtype"),
    [
        ("gfx942", "v_cvt_pkrtz_f16_f32_e64", toward_zero, np.float16),
        ("gfx950", "v_cvt_pk_f16_f32", lambda a: a.astype(np.float16), np.float16),
        ("gfx950", "v_cvt_pk_bf16_f32", lambda a: a.astype(ml_dtypes.bfloat16), ml_dtypes.bfloat16),
        (
            "gfx942",
            "v_cvt_pknorm_i16_f32",
            lambda a: np.rint(np.clip(np.nan_to_num(a), -1, 1) * np.float64(32767)),
            np.int16,
        ),
        (
            "gfx942",
            "v_cvt_pknorm_u16_f32",
            lambda a: np.rint(np.clip(np.nan_to_num(a), 0, 1) * np.float64(65535)),
            np.uint16,
        ),
    ],
)
def test_float_pairs(target, mnemonic, convert, dtype):
    mnemonic = mnemonic.removesuffix("_e64")
    for seed in range(4):
        a, b = floats(seed)
        with np.errstate(all="ignore"):
            wants = convert(a), convert(b)
        for got, want in zip(halves(run_pair(target, mnemonic, a, b), dtype), wants, strict=True):
            if dtype is ml_dtypes.bfloat16:
                valu.assert_same(got.astype(F32), want.astype(F32))
            else:
                valu.assert_same(got, want.astype(dtype), context=mnemonic)


@pytest.mark.parametrize(
    ("mnemonic", "source", "dtype"),
    [("v_cvt_pk_u16_u32", "u32", np.uint16), ("v_cvt_pk_i16_i32", "i32", np.int16)],
)
def test_saturating_pairs(mnemonic, source, dtype):
    rng = np.random.default_rng(1)
    a, b = valu.values(source, rng), valu.values(source, rng)
    info = np.iinfo(dtype)
    got = halves(run_pair("gfx942", mnemonic, a, b), dtype)
    for result, operand in zip(got, (a, b), strict=True):
        np.testing.assert_array_equal(result, np.clip(operand, info.min, info.max).astype(dtype))


@pytest.mark.parametrize(
    ("mnemonic", "low", "top", "dtype"),
    [
        ("v_cvt_pknorm_i16_f16", -1, 32767, np.int16),
        ("v_cvt_pknorm_u16_f16", 0, 65535, np.uint16),
    ],
)
def test_normalised_pairs_of_f16(mnemonic, low, top, dtype):
    rng = np.random.default_rng(2)
    a, b = valu.values("f16", rng), valu.values("f16", rng)
    row = run_pair("gfx942", mnemonic, a.view(np.uint16), b.view(np.uint16))
    for got, x in zip(halves(row, dtype), (a, b), strict=True):
        want = np.rint(np.clip(np.nan_to_num(x.astype(np.float64)), low, 1) * top)
        np.testing.assert_array_equal(got, want.astype(dtype))


def test_pack_picks_halves():
    a, b = (
        np.random.default_rng(s).integers(0x3C00, 0x7000, 64).astype(U32) * U32(0x10001)
        + U32(s << 20)
        for s in (1, 2)
    )
    end = isa.run(
        "gfx942",
        "v_pack_b32_f16 v0, v1, v2\nv_pack_b32_f16 v3, v1, -v2 op_sel:[1,0,0]",
        vgpr={1: a, 2: b},
    )
    np.testing.assert_array_equal(end.vgpr[0], (a & U32(0xFFFF)) | b << U32(16))
    np.testing.assert_array_equal(end.vgpr[3], (a >> U32(16)) | (b << U32(16) ^ U32(1 << 31)))


def test_cvt_pk_u8():
    a = np.resize(np.array([-5, 0.9, 3.7, 254.5, 255, 300, np.inf, np.nan, 17, -np.inf], F32), 64)
    c = np.random.default_rng(3).integers(0, 1 << 32, 64, dtype=U32)
    text = "v_cvt_pk_u8_f32 v0, v1, 2, v3\nv_cvt_pkaccum_u8_f32 v4, v1, 1"
    end = isa.run("gfx942", text, vgpr={1: a, 3: c, 4: c})
    byte = np.resize(np.array([0, 0, 3, 254, 255, 255, 255, 0, 17, 0], U32), 64)
    np.testing.assert_array_equal(end.vgpr[0], (c & U32(0xFF00FFFF)) | byte << U32(16))
    np.testing.assert_array_equal(end.vgpr[4], (c & U32(0xFFFF00FF)) | byte << U32(8))


def float8_operands(dtype, seed):
    """Codes, midpoints between codes, values beyond the range, and noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, 64).astype(np.uint8).view(dtype).astype(F32)
    neighbours = rng.integers(0, 126, 64).astype(np.uint8)
    middles = (
        neighbours.view(dtype).astype(F32) + (neighbours + np.uint8(1)).view(dtype).astype(F32)
    ) / 2
    noise = (rng.standard_normal(64) * 2.0 ** rng.integers(-12, 20, 64)).astype(F32)
    return np.where(
        rng.integers(0, 3, 64) == 0, codes, np.where(rng.integers(0, 2, 64) == 0, middles, noise)
    ).astype(F32)


@pytest.mark.parametrize(("target", "kind"), FLOAT8)
def test_packed_float8(target, kind):
    dtype = FLOAT8[target, kind]
    text = f"v_cvt_pk_{kind}_f32 v0, v1, v2\nv_cvt_pk_{kind}_f32 v3, v1, v2 op_sel:[0,0,1]"
    for seed in range(6):
        a, b = float8_operands(dtype, seed), float8_operands(dtype, seed + 50)
        end = isa.run(
            target,
            text,
            vgpr={0: np.full(64, isa.POISON, U32), 1: a, 2: b, 3: np.full(64, isa.POISON, U32)},
        )
        with np.errstate(all="ignore"):
            wants = [x.astype(dtype).astype(F32) for x in (a, b)]
        for row, shift in ((0, 0), (3, 16)):
            for n, want in enumerate(wants):
                got = (end.vgpr[row] >> U32(shift + 8 * n)).astype(np.uint8).view(dtype).astype(F32)
                valu.assert_same(got, want, context=(target, kind, seed))
            untouched = end.vgpr[row] >> U32(16 - shift) & U32(0xFFFF)
            assert (untouched == (isa.POISON >> (16 - shift) & 0xFFFF)).all()


@pytest.mark.parametrize(("target", "kind"), FLOAT8)
def test_float8_saturates_when_mode_says_so(target, kind):
    dtype = FLOAT8[target, kind]
    largest = float(ml_dtypes.finfo(dtype).max)
    a = np.resize(np.array([largest * 1.5, -1e30, 1.0, largest], F32), 64)
    row = run_pair(target, f"v_cvt_pk_{kind}_f32", a, a, mode=isa.MODE_HIP | 1 << 23)
    got = (row & U32(255)).astype(np.uint8).view(dtype).astype(F32)
    valu.assert_same(got, np.resize(np.array([largest, -largest, 1, largest], F32), 64))


@pytest.mark.parametrize(("target", "kind"), FLOAT8)
@pytest.mark.parametrize("at", range(4))
def test_stochastic_float8(target, kind, at):
    """With zero it truncates; the chance to round up grows with the random operand."""
    dtype = FLOAT8[target, kind]
    bits = 3 if kind == "fp8" else 2
    step = 2.0**-bits
    a = (1 + step * np.linspace(0, 0.99, 64)).astype(F32)
    op_sel = f"op_sel:[0,0,{at & 1},{at >> 1}]"
    for random in (0, 0x40000000, 0x80000000, 0xFFFFFFFF):
        text = f"v_cvt_sr_{kind}_f32 v0, v1, v2 {op_sel}"
        end = isa.run(
            target, text, vgpr={0: np.full(64, isa.POISON, U32), 1: a, 2: np.full(64, random, U32)}
        )
        got = (end.vgpr[0] >> U32(8 * at)).astype(np.uint8).view(dtype).astype(F32)
        rest = ((a - 1) / step).astype(np.float64)
        up = np.floor(rest * 2 ** (23 - bits)) + (random >> (9 + bits)) >= 2 ** (23 - bits)
        valu.assert_same(got, np.where(up, 1 + step, 1).astype(F32), context=hex(random))
        assert (
            end.vgpr[0] & ~U32(255 << 8 * at) == isa.POISON & ~(255 << 8 * at) & 0xFFFFFFFF
        ).all()


def test_stochastic_16_bit():
    a = (1 + 2.0**-7 * np.linspace(0, 0.99, 64)).astype(F32)
    for random in (0, 0x80000000, 0xFFFFFFFF):
        text = "v_cvt_sr_bf16_f32 v0, v1, v2\nv_cvt_sr_f16_f32 v0, v1, v2 op_sel:[0,0,1]"
        end = isa.run(
            "gfx950", text, vgpr={0: np.zeros(64, U32), 1: a, 2: np.full(64, random, U32)}
        )
        bits = a.view(U32).astype(np.uint64)
        bf16 = (bits + np.uint64(random >> 16)) >> np.uint64(16)
        np.testing.assert_array_equal(end.vgpr[0] & U32(0xFFFF), bf16.astype(U32))
        f16 = ((bits - np.uint64(112 << 23)) + np.uint64(random >> 19)) >> np.uint64(13)
        np.testing.assert_array_equal(end.vgpr[0] >> U32(16), f16.astype(U32))
