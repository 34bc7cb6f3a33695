"""VOP3P: packed and mixed-precision instructions."""

import ml_dtypes
import numpy as np
import pytest
from helpers import exact, isa, valu

U32, F32 = np.uint32, np.float32


def choose(a, b, number):
    """IEEE mode: a signalling NaN gives NaN, else a number wins over NaN."""
    quiet = np.uint16(0x200)
    signalling = np.zeros(64, bool)
    for x in (a, b):
        signalling |= np.isnan(x) & ((x.view(np.uint16) & quiet) == 0)
    out = np.where(np.isnan(a), b, np.where(np.isnan(b), a, number))
    return np.where(signalling, np.float16(np.nan), out)


def minimum(a, b):
    return choose(a, b, np.where((a < b) | ((a == b) & np.signbit(a)), a, b))


def maximum(a, b):
    return choose(a, b, np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b))


def via_f32(function):
    return lambda *x: function(*(a.astype(F32) for a in x)).astype(np.float16)


def wide(function, dtype):
    return lambda *x: function(*(a.astype(np.int64) for a in x)).astype(dtype)


def fma16(a, b, c):
    return exact.fma_array(a, b, c, exact.F16)


def any_nan(function):
    def compute(a, b, c):
        out = function(function(a, b), c)
        return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), np.float16(np.nan), out)

    return compute


SHORT = {
    "v_pk_mad_i16": ("i16", 3, wide(lambda a, b, c: a * b + c, np.int16)),
    "v_pk_mul_lo_u16": ("u16", 2, np.multiply),
    "v_pk_add_i16": ("i16", 2, np.add),
    "v_pk_sub_i16": ("i16", 2, np.subtract),
    "v_pk_lshlrev_b16": ("u16", 2, lambda a, b: b << (a & np.uint16(15))),
    "v_pk_lshrrev_b16": ("u16", 2, lambda a, b: b >> (a & np.uint16(15))),
    "v_pk_ashrrev_i16": ("i16", 2, lambda a, b: b >> (a & np.int16(15))),
    "v_pk_max_i16": ("i16", 2, np.maximum),
    "v_pk_min_i16": ("i16", 2, np.minimum),
    "v_pk_mad_u16": ("u16", 3, wide(lambda a, b, c: a * b + c, np.uint16)),
    "v_pk_add_u16": ("u16", 2, np.add),
    "v_pk_sub_u16": ("u16", 2, np.subtract),
    "v_pk_max_u16": ("u16", 2, np.maximum),
    "v_pk_min_u16": ("u16", 2, np.minimum),
    "v_pk_fma_f16": ("f16", 3, fma16),
    "v_pk_add_f16": ("f16", 2, via_f32(np.add)),
    "v_pk_mul_f16": ("f16", 2, via_f32(np.multiply)),
    "v_pk_min_f16": ("f16", 2, minimum),
    "v_pk_max_f16": ("f16", 2, maximum),
    "v_pk_minimum3_f16": ("f16", 3, any_nan(minimum)),
    "v_pk_maximum3_f16": ("f16", 3, any_nan(maximum)),
}


def packed(low, high):
    return low.view(np.uint16).astype(U32) | high.view(np.uint16).astype(U32) << U32(16)


def halves(row, dtype):
    return (row & U32(0xFFFF)).astype(np.uint16).view(dtype), (row >> U32(16)).astype(
        np.uint16
    ).view(dtype)


@pytest.mark.parametrize("mnemonic", SHORT)
def test_packed_short(mnemonic):
    kind, count, oracle = SHORT[mnemonic]
    dtype = valu.TYPES[kind]
    rng = np.random.default_rng(3)
    pairs = [(valu.values(kind, rng), valu.values(kind, rng)) for _ in range(count)]
    rows = {n + 1: packed(*p) for n, p in enumerate(pairs)} | {0: np.full(64, isa.POISON, U32)}
    operands = ", ".join(f"v{n + 1}" for n in range(count))
    target = "gfx950" if "imum3" in mnemonic else "gfx942"
    swapped = ", ".join("1" if n == 0 else "0" for n in range(count))
    low_only = ", ".join("0" for _ in range(count))
    for suffix, sides in (
        ("", ((0, 0), (1, 1))),
        (f" op_sel:[{swapped}] op_sel_hi:[{low_only}]", ((1, 0), (0, 0))),
    ):
        end = isa.run(
            target, f"{mnemonic} v0, {operands}{suffix}", vgpr=rows, exec_mask=0xFFFF_FFFF_0000_FFFF
        )
        for half, (first, others) in enumerate(sides):
            with np.errstate(all="ignore"):
                want = oracle(pairs[0][first], *(p[others] for p in pairs[1:]))
            got = halves(end.vgpr[0], dtype)[half]
            active = np.r_[0:16, 32:64]
            valu.assert_same(got[active], want[active], context=(mnemonic, suffix, half))
        assert (end.vgpr[0][16:32] == isa.POISON).all()


def test_negated_halves():
    rng = np.random.default_rng(4)
    a, b, c, d = (rng.standard_normal(64).astype(np.float16) for _ in range(4))
    text = "v_pk_add_f16 v0, v1, v2 neg_lo:[1,0] neg_hi:[0,1]"
    low, high = halves(
        isa.run("gfx942", text, vgpr={1: packed(a, b), 2: packed(c, d)}).vgpr[0], np.float16
    )
    valu.assert_same(low, c - a)
    valu.assert_same(high, b - d)


@pytest.mark.parametrize(
    ("mnemonic", "dtype", "sign"),
    [
        ("v_pk_add_u16", np.uint16, 1),
        ("v_pk_sub_u16", np.uint16, -1),
        ("v_pk_add_i16", np.int16, 1),
        ("v_pk_sub_i16", np.int16, -1),
    ],
)
def test_packed_integer_clamp(mnemonic, dtype, sign):
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 1 << 32, 64, dtype=U32) for _ in range(2))
    end = isa.run("gfx942", f"{mnemonic} v0, v1, v2 clamp", vgpr={1: a, 2: b})
    info = np.iinfo(dtype)
    for got, x, y in zip(
        halves(end.vgpr[0], dtype), halves(a, dtype), halves(b, dtype), strict=True
    ):
        want = np.clip(x.astype(np.int64) + sign * y.astype(np.int64), info.min, info.max)
        np.testing.assert_array_equal(got, want)


def test_packed_float_clamp():
    a = np.array([2.5, -1, 0.25, np.nan] * 16, np.float16)
    end = isa.run(
        "gfx942", "v_pk_mul_f16 v0, v1, 1.0 op_sel_hi:[1,0] clamp", vgpr={1: packed(a, a[::-1])}
    )
    low, high = halves(end.vgpr[0], np.float16)
    want = np.array([1, 0, 0.25, 0] * 16, np.float16)  # dx10_clamp makes NaN zero
    valu.assert_same(low, want)
    valu.assert_same(high, want[::-1])


PK_F32 = {
    "v_pk_fma_f32": (3, lambda *x: exact.fma_array(*x, exact.F32)),
    "v_pk_mul_f32": (2, np.multiply),
    "v_pk_add_f32": (2, np.add),
}


@pytest.mark.parametrize("mnemonic", PK_F32)
def test_packed_f32(mnemonic):
    count, oracle = PK_F32[mnemonic]
    rng = np.random.default_rng(6)
    pairs = [(valu.values("f32", rng), valu.values("f32", rng)) for _ in range(count)]
    rows = {}
    for n, (low, high) in enumerate(pairs):
        rows |= {2 * n + 2: low, 2 * n + 3: high}
    operands = ", ".join(f"v[{2 * n + 2}:{2 * n + 3}]" for n in range(count))
    zeros, ones = ",".join("0" * count), ",".join("1" * count)
    for suffix, sides in (("", (0, 1)), (f" op_sel:[{ones}] op_sel_hi:[{zeros}]", (1, 0))):
        end = isa.run("gfx942", f"{mnemonic} v[0:1], {operands}{suffix}", vgpr=rows)
        for element, side in enumerate(sides):
            with np.errstate(all="ignore"):
                want = oracle(*(p[side] for p in pairs))
            valu.assert_same(end.vgpr[element].view(F32), want, context=(mnemonic, suffix))


def test_packed_f32_scalar_source_and_negation():
    a, b = (np.arange(64, dtype=F32) + n for n in (1, 100))
    sgpr = {4: 0x40000000, 5: 0x40400000}  # 2, 3
    text = "v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel_hi:[1,0] neg_lo:[1,0]"
    end = isa.run("gfx942", text, vgpr={2: a, 3: b}, sgpr=sgpr)
    valu.assert_same(end.vgpr[0].view(F32), -2 * a)
    valu.assert_same(end.vgpr[1].view(F32), 2 * b)
    end = isa.run(
        "gfx942", "v_pk_fma_f32 v[0:1], v[2:3], 2.0, 0 op_sel_hi:[1,0,0]", vgpr={2: a, 3: b}
    )
    valu.assert_same(end.vgpr[1].view(F32), 2 * b)


@pytest.mark.parametrize(
    ("suffix", "low", "high"),
    [
        ("op_sel:[0,0]", 2, 4),
        ("op_sel:[1,0]", 3, 4),
        ("op_sel:[0,1]", 2, 5),
        ("op_sel:[1,1]", 3, 5),
    ],
)
def test_pk_mov(suffix, low, high):
    rows = {n: np.arange(64, dtype=U32) + 100 * n for n in range(2, 6)}
    end = isa.run("gfx942", f"v_pk_mov_b32 v[0:1], v[2:3], v[4:5] {suffix}", vgpr=rows)
    np.testing.assert_array_equal(end.vgpr[0], rows[low])
    np.testing.assert_array_equal(end.vgpr[1], rows[high])


MIXES = [
    (a, b, c) for a in (0, 1, 2) for b in (0, 2) for c in (0, 1)
]  # 0: f32, 1: low f16, 2: high f16


@pytest.mark.parametrize("mix", MIXES)
def test_fma_mix(mix):
    rng = np.random.default_rng(7)
    rows, values = {}, []
    for n, choice in enumerate(mix):
        f32, low, high = (
            rng.standard_normal(64).astype(F32),
            *(valu.values("f16", rng) for _ in range(2)),
        )
        rows[n + 1] = f32.view(U32) if choice == 0 else packed(low, high)
        values.append((f32, low.astype(F32), high.astype(F32))[choice])
    op_sel = ",".join("1" if c == 2 else "0" for c in mix)
    op_sel_hi = ",".join("1" if c else "0" for c in mix)
    suffix = f"op_sel:[{op_sel}] op_sel_hi:[{op_sel_hi}]"
    text = f"""
        v_fma_mix_f32 v0, v1, v2, v3 {suffix}
        v_fma_mixlo_f16 v4, v1, v2, v3 {suffix}
        v_fma_mixhi_f16 v5, v1, -|v2|, v3 {suffix}
    """
    end = isa.run("gfx942", text, vgpr=rows)
    want = exact.fma_array(*values, exact.F32)
    negated = exact.fma_array(values[0], -np.abs(values[1]), values[2], exact.F32)
    valu.assert_same(end.vgpr[0].view(F32), want)
    with np.errstate(all="ignore"):
        low, untouched = halves(end.vgpr[4], np.float16)
        valu.assert_same(low, want.astype(np.float16))
        assert (untouched.view(np.uint16) == isa.POISON >> 16).all()
        untouched, high = halves(end.vgpr[5], np.float16)
        valu.assert_same(high, negated.astype(np.float16))
        assert (untouched.view(np.uint16) == isa.POISON & 0xFFFF).all()


@pytest.mark.parametrize(
    ("target", "mnemonic", "dtype"),
    [
        ("gfx942", "v_dot2_f32_f16", np.float16),
        ("gfx950", "v_dot2_f32_bf16", ml_dtypes.bfloat16),
    ],
)
def test_float_dot(target, mnemonic, dtype):
    rng = np.random.default_rng(8)
    a, b, x, y = (rng.integers(-99, 99, 64).astype(dtype) for _ in range(4))
    c = rng.integers(-99, 99, 64).astype(F32)
    end = isa.run(
        target, f"{mnemonic} v0, v1, v2, v3", vgpr={1: packed(a, b), 2: packed(x, y), 3: c}
    )
    a, b, x, y = (v.astype(F32) for v in (a, b, x, y))
    valu.assert_same(end.vgpr[0].view(F32), a * x + b * y + c)


def fields(word, bits, *, signed):
    value = [int(word) >> at & ((1 << bits) - 1) for at in range(0, 32, bits)]
    return [v - (1 << bits) if signed and v >> (bits - 1) else v for v in value]


DOTS = {
    "v_dot2_i32_i16": (16, True),
    "v_dot2_u32_u16": (16, False),
    "v_dot4_i32_i8": (8, True),
    "v_dot4_u32_u8": (8, False),
    "v_dot8_i32_i4": (4, True),
    "v_dot8_u32_u4": (4, False),
}


@pytest.mark.parametrize("mnemonic", DOTS)
def test_integer_dot(mnemonic):
    bits, signed = DOTS[mnemonic]
    rng = np.random.default_rng(9)
    a, b, c = (rng.integers(0, 1 << 32, 64, dtype=U32) for _ in range(3))
    c[:8] = [0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0, 1, 2, 3, 4]
    text = f"{mnemonic} v0, v1, v2, v3\n{mnemonic} v4, v1, v2, v3 clamp"
    end = isa.run("gfx942", text, vgpr={1: a, 2: b, 3: c})
    low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
    for i in range(64):
        pairs = zip(
            fields(a[i], bits, signed=signed), fields(b[i], bits, signed=signed), strict=True
        )
        addend = int(c[i].view(np.int32)) if signed else int(c[i])
        total = sum(x * y for x, y in pairs) + addend
        assert int(end.vgpr[0][i]) == total & 0xFFFFFFFF
        assert int(end.vgpr[4][i]) == min(max(total, low), high) & 0xFFFFFFFF
