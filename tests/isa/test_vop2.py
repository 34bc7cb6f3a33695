"""VOP2: two-operand vector instructions against NumPy and exact arithmetic."""

import ml_dtypes
import numpy as np
import pytest
from helpers import exact, isa, valu
from helpers.valu import Case

U32, I32, F32, U64, I64 = np.uint32, np.int32, np.float32, np.uint64, np.int64


def i24(a):
    return (a.astype(I64) << 40) >> 40


def u24(a):
    return a.astype(U64) & U64(0xFFFFFF)


def low32(a):
    return (a.astype(U64) & U64(0xFFFFFFFF)).astype(U32)


def shift_count(a, bits):
    return a & a.dtype.type(bits - 1)


def minimum(a, b):
    """IEEE mode: a signalling NaN wins, else a number; -0 < +0."""
    return choose(a, b, np.where((a < b) | ((a == b) & np.signbit(a)), a, b))


def maximum(a, b):
    return choose(a, b, np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b))


def choose(a, b, number):
    out = np.where(np.isnan(a), b, np.where(np.isnan(b), a, number))
    return np.where(signalling(a) | signalling(b), a.dtype.type(np.nan), out)


def signalling(a):
    quiet = {2: np.uint16(0x200), 4: U32(1 << 22), 8: U64(1 << 51)}[a.dtype.itemsize]
    return np.isnan(a) & ((a.view(type(quiet)) & quiet) == 0)


def via_f32(function):
    return lambda *x: function(*(a.astype(F32) for a in x)).astype(np.float16)


def ldexp16(a, b):
    return np.ldexp(a.astype(np.float64), b.astype(I32)).astype(np.float16)


CASES = [
    Case("v_add_f32_e32", "f32 f32 -> f32", np.add),
    Case("v_sub_f32_e32", "f32 f32 -> f32", np.subtract),
    Case("v_subrev_f32_e32", "f32 f32 -> f32", lambda a, b: b - a),
    Case("v_mul_f32_e32", "f32 f32 -> f32", np.multiply),
    Case("v_mul_i32_i24_e32", "u32 u32 -> u32", lambda a, b: low32(i24(a) * i24(b))),
    Case("v_mul_hi_i32_i24_e32", "u32 u32 -> u32", lambda a, b: low32((i24(a) * i24(b)) >> 32)),
    Case("v_mul_u32_u24_e32", "u32 u32 -> u32", lambda a, b: low32(u24(a) * u24(b))),
    Case("v_mul_hi_u32_u24_e32", "u32 u32 -> u32", lambda a, b: low32(u24(a) * u24(b) >> U64(32))),
    Case("v_min_f32_e32", "f32 f32 -> f32", minimum),
    Case("v_max_f32_e32", "f32 f32 -> f32", maximum),
    Case("v_min_i32_e32", "i32 i32 -> i32", np.minimum),
    Case("v_max_i32_e32", "i32 i32 -> i32", np.maximum),
    Case("v_min_u32_e32", "u32 u32 -> u32", np.minimum),
    Case("v_max_u32_e32", "u32 u32 -> u32", np.maximum),
    Case("v_lshrrev_b32_e32", "u32 u32 -> u32", lambda a, b: b >> shift_count(a, 32)),
    Case("v_ashrrev_i32_e32", "i32 i32 -> i32", lambda a, b: b >> shift_count(a, 32)),
    Case("v_lshlrev_b32_e32", "u32 u32 -> u32", lambda a, b: b << shift_count(a, 32)),
    Case("v_and_b32_e32", "u32 u32 -> u32", np.bitwise_and),
    Case("v_or_b32_e32", "u32 u32 -> u32", np.bitwise_or),
    Case("v_xor_b32_e32", "u32 u32 -> u32", np.bitwise_xor),
    Case("v_xnor_b32_e32", "u32 u32 -> u32", lambda a, b: ~(a ^ b)),
    Case("v_add_f16_e32", "f16 f16 -> f16", via_f32(np.add)),
    Case("v_sub_f16_e32", "f16 f16 -> f16", via_f32(np.subtract)),
    Case("v_subrev_f16_e32", "f16 f16 -> f16", via_f32(lambda a, b: b - a)),
    Case("v_mul_f16_e32", "f16 f16 -> f16", via_f32(np.multiply)),
    Case("v_add_u16_e32", "u16 u16 -> u16", np.add),
    Case("v_sub_u16_e32", "u16 u16 -> u16", np.subtract),
    Case("v_subrev_u16_e32", "u16 u16 -> u16", lambda a, b: b - a),
    Case("v_mul_lo_u16_e32", "u16 u16 -> u16", np.multiply),
    Case("v_lshlrev_b16_e32", "u16 u16 -> u16", lambda a, b: b << shift_count(a, 16)),
    Case("v_lshrrev_b16_e32", "u16 u16 -> u16", lambda a, b: b >> shift_count(a, 16)),
    Case("v_ashrrev_i16_e32", "i16 i16 -> i16", lambda a, b: b >> shift_count(a, 16)),
    Case("v_max_f16_e32", "f16 f16 -> f16", maximum),
    Case("v_min_f16_e32", "f16 f16 -> f16", minimum),
    Case("v_max_u16_e32", "u16 u16 -> u16", np.maximum),
    Case("v_max_i16_e32", "i16 i16 -> i16", np.maximum),
    Case("v_min_u16_e32", "u16 u16 -> u16", np.minimum),
    Case("v_min_i16_e32", "i16 i16 -> i16", np.minimum),
    Case("v_ldexp_f16_e32", "f16 i16 -> f16", ldexp16),
    Case("v_add_u32_e32", "u32 u32 -> u32", np.add),
    Case("v_sub_u32_e32", "u32 u32 -> u32", np.subtract),
    Case("v_subrev_u32_e32", "u32 u32 -> u32", lambda a, b: b - a),
]


@pytest.fixture(scope="module")
def codes():
    return valu.assembled(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mnemonic)
def test_values(case, codes):
    valu.check(case, codes[case])


def u32s(seed, count=1):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 1 << 32, 64, dtype=U32) for _ in range(count)]


def test_cndmask_reads_vcc_or_a_pair():
    a, b = u32s(1, 2)
    lanes = np.array([0xF0F0F0F0F0F0F0F1 >> i & 1 for i in range(64)], bool)
    rows = {1: a, 2: b}
    end = isa.run("gfx942", "v_cndmask_b32_e32 v0, v1, v2, vcc", vgpr=rows, vcc=0xF0F0F0F0F0F0F0F1)
    np.testing.assert_array_equal(end.vgpr[0], np.where(lanes, b, a))
    sgpr = isa.pair(8, 0xF0F0F0F0F0F0F0F1)
    end = isa.run("gfx942", "v_cndmask_b32_e64 v0, v1, -v2, s[8:9]", vgpr=rows, sgpr=sgpr)
    np.testing.assert_array_equal(end.vgpr[0], np.where(lanes, b ^ U32(1 << 31), a))


@pytest.mark.parametrize(
    ("mnemonic", "total"),
    [
        ("v_add_co_u32_e32 v0, vcc, v1, v2", lambda a, b, _: a + b),
        ("v_sub_co_u32_e32 v0, vcc, v1, v2", lambda a, b, _: a - b),
        ("v_subrev_co_u32_e32 v0, vcc, v1, v2", lambda a, b, _: b - a),
        ("v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", lambda a, b, c: a + b + c),
        ("v_subb_co_u32_e32 v0, vcc, v1, v2, vcc", lambda a, b, c: a - b - c),
        ("v_subbrev_co_u32_e32 v0, vcc, v1, v2, vcc", lambda a, b, c: b - a - c),
    ],
)
def test_carry(mnemonic, total):
    a, b = u32s(2, 2)
    a[:8] = b[:8]
    a[8:16] = 0xFFFFFFFF
    vcc, exec_mask = 0xAAAA_5555_F00F_AAAA, 0xFFFF_FFFF_FFFF_0F0F
    end = isa.run("gfx942", mnemonic, vgpr={0: 7, 1: a, 2: b}, vcc=vcc, exec_mask=exec_mask)
    carry_out = 0
    for i in range(64):
        want = total(int(a[i]), int(b[i]), vcc >> i & 1)
        if exec_mask >> i & 1:
            assert end.vgpr[0][i] == want & 0xFFFFFFFF
            carry_out |= (0 if 0 <= want < 1 << 32 else 1) << i
        else:
            assert end.vgpr[0][i] == 7
    assert end.vcc == carry_out  # inactive lanes are zero


def test_carry_to_scalar_pair():
    end = isa.run("gfx942", "v_add_co_u32_e64 v0, s[4:5], v1, -1", vgpr={1: np.arange(64)}, vcc=5)
    assert (end.s64(4), end.vcc) == ((1 << 64) - 2, 5)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("v_add_u32_e64 v0, v1, v2 clamp", lambda a, b: min(a + b, 0xFFFFFFFF)),
        ("v_sub_u32_e64 v0, v1, v2 clamp", lambda a, b: max(a - b, 0)),
        ("v_subrev_u32_e64 v0, v1, v2 clamp", lambda a, b: max(b - a, 0)),
    ],
)
def test_integer_clamp_saturates(text, want):
    a, b = u32s(3, 2)
    end = isa.run("gfx942", text, vgpr={1: a, 2: b})
    assert [int(x) for x in end.vgpr[0]] == [
        want(int(x), int(y)) for x, y in zip(a, b, strict=True)
    ]


def test_fmac_and_fmamk_round_once():
    rng = np.random.default_rng(4)
    a, b, c = (valu.values("f32", rng) for _ in range(3))
    k = np.full(64, 1.2345678, F32)
    cases = {
        "v_fmac_f32_e32 v0, v1, v2": (a, b, c),
        "v_fmamk_f32 v0, v1, 0x3f9e0651, v2": (a, k, b),
        "v_fmaak_f32 v0, v1, v2, 0x3f9e0651": (a, b, k),
    }
    for text, (x, y, z) in cases.items():
        end = isa.run("gfx942", text, vgpr={0: c, 1: a, 2: b})
        valu.assert_same(end.vgpr[0].view(F32), exact.fma_array(x, y, z, exact.F32), context=text)


def test_fmac_f64():
    rng = np.random.default_rng(5)
    a, b, c = (valu.values("f64", rng) for _ in range(3))
    rows = {}
    for position, operand in ((0, c), (2, a), (4, b)):
        rows |= valu.registers(position, operand, rng)
    end = isa.run("gfx942", "v_fmac_f64_e32 v[0:1], v[2:3], v[4:5]", vgpr=rows)
    valu.assert_same(end.v64(0).view(np.float64), exact.fma_array(a, b, c, exact.F64))


def test_mac_f32_rounds_twice_and_flushes():
    a, b, c = (np.random.default_rng(s).standard_normal(64).astype(F32) for s in range(3))
    a[0], b[0], c[0] = 1e-40, 1, 1e-41
    rows = {0: c, 1: a, 2: b}
    want = (a * b).astype(F32) + c
    want[0] = 0
    for text in (
        "v_mac_f32_e32 v0, v1, v2",
        "v_madmk_f32 v0, v1, 0x40000000, v2",
        "v_madak_f32 v0, v1, v2, 0x40000000",
    ):
        end = isa.run("gfx90a", text, vgpr=rows)
        expected = {"v_mac_f32": want, "v_madmk_f": a * F32(2) + b, "v_madak_f": a * b + F32(2)}[
            text[:9]
        ]
        lanes = slice(0 if text.startswith("v_mac") else 1, None)
        valu.assert_same(end.vgpr[0].view(F32)[lanes], expected[lanes], context=text)


def test_mac_f16_family_keeps_the_high_half():
    rng = np.random.default_rng(6)
    a, b, c = (rng.standard_normal(64).astype(np.float16) for _ in range(3))
    high = U32(0xABCD0000)
    rows = {0: c.view(np.uint16).astype(U32) | high, 1: a.view(np.uint16), 2: b.view(np.uint16)}
    two = np.float16(2)
    for text, want in (
        ("v_mac_f16_e32 v0, v1, v2", a * b + c),
        ("v_madmk_f16 v0, v1, 0x4000, v2", a * two + b),
        ("v_madak_f16 v0, v1, v2, 0x4000", a * b + two),
    ):
        end = isa.run("gfx942", text, vgpr=rows)
        valu.assert_same(end.vgpr[0].astype(np.uint16).view(np.float16), want, context=text)
        np.testing.assert_array_equal(end.vgpr[0] >> 16, 0xABCD)


def fields(word, bits, *, signed):
    value = [word >> at & ((1 << bits) - 1) for at in range(0, 32, bits)]
    return [v - (1 << bits) if signed and v >> (bits - 1) else v for v in value]


@pytest.mark.parametrize(
    ("mnemonic", "bits"), [("v_dot2c_i32_i16", 16), ("v_dot4c_i32_i8", 8), ("v_dot8c_i32_i4", 4)]
)
def test_integer_dot(mnemonic, bits):
    a, b, c = u32s(7, 3)
    end = isa.run("gfx942", f"{mnemonic}_e32 v0, v1, v2", vgpr={0: c, 1: a, 2: b})
    for got, x, y, z in zip(end.vgpr[0], a, b, c, strict=True):
        pairs = zip(
            fields(int(x), bits, signed=True), fields(int(y), bits, signed=True), strict=True
        )
        assert got == (int(z) + sum(p * q for p, q in pairs)) & 0xFFFFFFFF


def packed(low, high):
    return low.view(np.uint16).astype(U32) | high.view(np.uint16).astype(U32) << 16


def test_float_dot():
    rng = np.random.default_rng(8)
    c = rng.integers(-9, 9, 64).astype(F32)
    for target, mnemonic, dtype in (
        ("gfx942", "v_dot2c_f32_f16_e32", np.float16),
        ("gfx950", "v_dot2c_f32_bf16_e32", ml_dtypes.bfloat16),
    ):
        a, b, x, y = (rng.integers(-9, 9, 64).astype(dtype) for _ in range(4))
        rows = {0: c, 1: packed(a, b), 2: packed(x, y)}
        end = isa.run(target, f"{mnemonic} v0, v1, v2", vgpr=rows)
        want = c + a.astype(F32) * x.astype(F32) + b.astype(F32) * y.astype(F32)
        valu.assert_same(end.vgpr[0].view(F32), want, context=mnemonic)


def test_pk_fmac_f16():
    rng = np.random.default_rng(9)
    a, b, c = ((valu.values("f16", rng), valu.values("f16", rng)) for _ in range(3))
    rows = {0: packed(*c), 1: packed(*a), 2: packed(*b)}
    end = isa.run("gfx942", "v_pk_fmac_f16 v0, v1, v2", vgpr=rows)
    for half in (0, 1):
        got = (end.vgpr[0] >> 16 * half).astype(np.uint16).view(np.float16)
        valu.assert_same(got, exact.fma_array(a[half], b[half], c[half], exact.F16))
