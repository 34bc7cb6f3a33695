"""VOP3-only integer instructions."""

import numpy as np
import pytest
from helpers import isa, valu
from helpers.valu import Case

U32, I32, U64, I64 = np.uint32, np.int32, np.uint64, np.int64


def wide(function, dtype):
    """Computes in Python integers and wraps to the result's type."""
    bits = 8 * np.dtype(dtype).itemsize

    def compute(*operands):
        values = [
            function(*(int(x) for x in lane)) & ((1 << bits) - 1)
            for lane in zip(*operands, strict=True)
        ]
        return np.array(values, valu.BITS[bits // 8]).view(dtype)

    return compute


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def bfe_signed(a, b, c):
    width = c & 31
    return signed(a >> (b & 31), width) if width else 0


def each_byte(function):
    def compute(a, b, c):
        return sum(
            function(a >> at & 255, b >> at & 255, c >> at & 255) << at for at in range(0, 32, 8)
        )

    return compute


def perm_byte(data, selector):
    if selector < 8:
        return data >> 8 * selector & 255
    if selector < 12:
        return 255 * (data >> (16 * (selector - 8) + 15) & 1)
    return 0 if selector == 12 else 255


def perm(a, b, c):
    data = a << 32 | b
    return sum(perm_byte(data, c >> at & 255) << at for at in range(0, 32, 8))


def sad(bits, *, masked=False):
    def compute(a, b, c):
        total = c
        for at in range(0, 32, bits):
            x, y = a >> at & ((1 << bits) - 1), b >> at & ((1 << bits) - 1)
            total += 0 if masked and y == 0 else abs(x - y)
        return total

    return compute


def middle(a, b, c):
    return sorted((a, b, c))[1]


CASES = [
    Case(
        "v_mad_i32_i24",
        "u32 u32 u32 -> u32",
        wide(lambda a, b, c: signed(a, 24) * signed(b, 24) + c, U32),
    ),
    Case(
        "v_mad_u32_u24",
        "u32 u32 u32 -> u32",
        wide(lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c, U32),
    ),
    Case(
        "v_bfe_u32",
        "u32 u32 u32 -> u32",
        wide(lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1), U32),
    ),
    Case("v_bfe_i32", "i32 u32 u32 -> i32", wide(bfe_signed, I32)),
    Case("v_bfi_b32", "u32 u32 u32 -> u32", wide(lambda a, b, c: (a & b) | (~a & c), U32)),
    Case(
        "v_lerp_u8",
        "u32 u32 u32 -> u32",
        wide(each_byte(lambda a, b, c: (a + b + (c & 1)) >> 1), U32),
    ),
    Case(
        "v_alignbit_b32", "u32 u32 u32 -> u32", wide(lambda a, b, c: (a << 32 | b) >> (c & 31), U32)
    ),
    Case(
        "v_alignbyte_b32",
        "u32 u32 u32 -> u32",
        wide(lambda a, b, c: (a << 32 | b) >> 8 * (c & 3), U32),
    ),
    Case("v_min3_i32", "i32 i32 i32 -> i32", wide(min, I32)),
    Case("v_min3_u32", "u32 u32 u32 -> u32", wide(min, U32)),
    Case("v_max3_i32", "i32 i32 i32 -> i32", wide(max, I32)),
    Case("v_max3_u32", "u32 u32 u32 -> u32", wide(max, U32)),
    Case("v_med3_i32", "i32 i32 i32 -> i32", wide(middle, I32)),
    Case("v_med3_u32", "u32 u32 u32 -> u32", wide(middle, U32)),
    Case("v_sad_u8", "u32 u32 u32 -> u32", wide(sad(8), U32)),
    Case(
        "v_sad_hi_u8", "u32 u32 u32 -> u32", wide(lambda a, b, c: (sad(8)(a, b, 0) << 16) + c, U32)
    ),
    Case("v_sad_u16", "u32 u32 u32 -> u32", wide(sad(16), U32)),
    Case("v_sad_u32", "u32 u32 u32 -> u32", wide(sad(32), U32)),
    Case("v_msad_u8", "u32 u32 u32 -> u32", wide(sad(8, masked=True), U32)),
    Case("v_mad_legacy_u16", "u16 u16 u16 -> u16", wide(lambda a, b, c: a * b + c, np.uint16)),
    Case("v_mad_legacy_i16", "i16 i16 i16 -> i16", wide(lambda a, b, c: a * b + c, np.int16)),
    Case("v_perm_b32", "u32 u32 u32 -> u32", wide(perm, U32)),
    Case("v_mad_u32_u16", "u16 u16 u32 -> u32", wide(lambda a, b, c: a * b + c, U32)),
    Case("v_mad_i32_i16", "i16 i16 u32 -> u32", wide(lambda a, b, c: a * b + c, U32)),
    Case("v_xad_u32", "u32 u32 u32 -> u32", wide(lambda a, b, c: (a ^ b) + c, U32)),
    Case("v_min3_i16", "i16 i16 i16 -> i16", wide(min, np.int16), keeps_high=True),
    Case("v_min3_u16", "u16 u16 u16 -> u16", wide(min, np.uint16), keeps_high=True),
    Case("v_max3_i16", "i16 i16 i16 -> i16", wide(max, np.int16), keeps_high=True),
    Case("v_max3_u16", "u16 u16 u16 -> u16", wide(max, np.uint16), keeps_high=True),
    Case("v_med3_i16", "i16 i16 i16 -> i16", wide(middle, np.int16), keeps_high=True),
    Case("v_med3_u16", "u16 u16 u16 -> u16", wide(middle, np.uint16), keeps_high=True),
    Case("v_lshl_add_u32", "u32 u32 u32 -> u32", wide(lambda a, b, c: (a << (b & 31)) + c, U32)),
    Case("v_add_lshl_u32", "u32 u32 u32 -> u32", wide(lambda a, b, c: (a + b) << (c & 31), U32)),
    Case("v_add3_u32", "u32 u32 u32 -> u32", wide(lambda a, b, c: a + b + c, U32)),
    Case("v_lshl_or_b32", "u32 u32 u32 -> u32", wide(lambda a, b, c: (a << (b & 31)) | c, U32)),
    Case("v_and_or_b32", "u32 u32 u32 -> u32", wide(lambda a, b, c: (a & b) | c, U32)),
    Case("v_or3_b32", "u32 u32 u32 -> u32", wide(lambda a, b, c: a | b | c, U32)),
    Case(
        "v_mad_u16",
        "u16 u16 u16 -> u16",
        wide(lambda a, b, c: a * b + c, np.uint16),
        keeps_high=True,
    ),
    Case(
        "v_mad_i16",
        "i16 i16 i16 -> i16",
        wide(lambda a, b, c: a * b + c, np.int16),
        keeps_high=True,
    ),
    Case("v_lshl_add_u64", "u64 u32 u64 -> u64", wide(lambda a, b, c: (a << (b & 7)) + c, U64)),
    Case("v_mul_lo_u32", "u32 u32 -> u32", wide(lambda a, b: a * b, U32)),
    Case("v_mul_hi_u32", "u32 u32 -> u32", wide(lambda a, b: a * b >> 32, U32)),
    Case("v_mul_hi_i32", "i32 i32 -> i32", wide(lambda a, b: a * b >> 32, I32)),
    Case("v_bcnt_u32_b32", "u32 u32 -> u32", wide(lambda a, b: a.bit_count() + b, U32)),
    Case("v_lshlrev_b64", "u32 u64 -> u64", wide(lambda a, b: b << (a & 63), U64)),
    Case("v_lshrrev_b64", "u32 u64 -> u64", wide(lambda a, b: b >> (a & 63), U64)),
    Case("v_ashrrev_i64", "u32 i64 -> i64", wide(lambda a, b: b >> (a & 63), I64)),
    Case("v_bfm_b32", "u32 u32 -> u32", wide(lambda a, b: ((1 << (a & 31)) - 1) << (b & 31), U32)),
    Case("v_add_i32", "i32 i32 -> i32", wide(lambda a, b: a + b, I32)),
    Case("v_sub_i32", "i32 i32 -> i32", wide(lambda a, b: a - b, I32)),
    Case("v_add_i16", "i16 i16 -> i16", wide(lambda a, b: a + b, np.int16), keeps_high=True),
    Case("v_sub_i16", "i16 i16 -> i16", wide(lambda a, b: a - b, np.int16), keeps_high=True),
]


@pytest.fixture(scope="module")
def codes():
    return valu.assembled(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mnemonic)
def test_values(case, codes):
    valu.check(case, codes[case])


def operands(kinds, seed=1):
    rng = np.random.default_rng(seed)
    arrays = [valu.values(kind, rng) for kind in kinds]
    rows = {}
    for position, array in zip((2, 4, 6), arrays, strict=False):
        rows |= valu.registers(position, array, rng)
    return arrays, rows


CLAMPED = {
    "v_mad_i32_i24": ("i32 i32 i32", lambda a, b, c: signed(a, 24) * signed(b, 24) + c, np.int32),
    "v_mad_u32_u24": (
        "u32 u32 u32",
        lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
        np.uint32,
    ),
    "v_mad_legacy_u16": ("u16 u16 u16", lambda a, b, c: a * b + c, np.uint16),
    "v_mad_u16": ("u16 u16 u16", lambda a, b, c: a * b + c, np.uint16),
    "v_mad_i16": ("i16 i16 i16", lambda a, b, c: a * b + c, np.int16),
    "v_mad_u32_u16": ("u16 u16 u32", lambda a, b, c: a * b + c, np.uint32),
    "v_mad_i32_i16": ("i16 i16 i32", lambda a, b, c: a * b + c, np.int32),
    "v_add_i32": ("i32 i32", lambda a, b: a + b, np.int32),
    "v_sub_i32": ("i32 i32", lambda a, b: a - b, np.int32),
    "v_add_i16": ("i16 i16", lambda a, b: a + b, np.int16),
    "v_sub_i16": ("i16 i16", lambda a, b: a - b, np.int16),
}


@pytest.mark.parametrize("mnemonic", CLAMPED)
def test_clamp_saturates(mnemonic):
    kinds, total, dtype = CLAMPED[mnemonic]
    arrays, rows = operands(kinds.split())
    names = ", ".join(f"v{n}" for n in (2, 4, 6)[: len(arrays)])
    end = isa.run("gfx942", f"{mnemonic} v10, {names} clamp", vgpr=rows)
    info = np.iinfo(dtype)
    want = [
        min(max(total(*map(int, lane)), info.min), info.max) for lane in zip(*arrays, strict=True)
    ]
    bits = valu.BITS[np.dtype(dtype).itemsize]
    np.testing.assert_array_equal(end.vgpr[10].astype(bits).view(dtype), np.array(want, dtype))


@pytest.mark.parametrize(
    ("mnemonic", "kinds", "is_signed"),
    [("v_mad_u64_u32", "u32 u32 u64", False), ("v_mad_i64_i32", "i32 i32 i64", True)],
)
def test_wide_multiply_add(mnemonic, kinds, is_signed):
    (a, b, c), rows = operands(kinds.split())
    end = isa.run(
        "gfx942",
        f"{mnemonic} v[10:11], s[8:9], v2, v4, v[6:7]",
        vgpr=rows,
        exec_mask=0xFFFF_FFFF_FFFF_FF00,
    )
    got, carries = end.v64(10), end.s64(8)
    for i in range(64):
        total = int(a[i]) * int(b[i]) + int(c[i])
        if i < 8:
            assert end.vgpr[10][i] == isa.POISON
            assert not carries >> i & 1
        else:
            assert int(got[i]) == total & ((1 << 64) - 1)
            assert carries >> i & 1 == total >> 64 & 1
    assert is_signed == (mnemonic == "v_mad_i64_i32")


@pytest.mark.parametrize("table", [0x00, 0xFF, 0xE8, 0x96, 0xCA, 0x1B])
def test_bitop3(table):
    (a, b, c), rows = operands(["u32"] * 3)
    text = f"""
        v_bitop3_b32 v10, v2, v4, v6 bitop3:{table:#x}
        v_bitop3_b16 v11, v2, v4, v6 bitop3:{table:#x} op_sel:[0,1,0,1]
    """
    end = isa.run("gfx950", text, vgpr=rows)

    def lookup(x, y, z, bits):
        return sum(
            (table >> ((x >> n & 1) << 2 | (y >> n & 1) << 1 | (z >> n & 1)) & 1) << n
            for n in range(bits)
        )

    want = [lookup(*map(int, lane), 32) for lane in zip(a, b, c, strict=True)]
    np.testing.assert_array_equal(end.vgpr[10], np.array(want, U32))
    high = [lookup(int(x), int(y) >> 16, int(z), 16) for x, y, z in zip(a, b, c, strict=True)]
    np.testing.assert_array_equal(end.vgpr[11] >> 16, np.array(high, U32))
    assert (end.vgpr[11] & U32(0xFFFF) == isa.POISON & 0xFFFF).all()


@pytest.mark.parametrize(
    ("mnemonic", "low", "high"), [("v_ashr_pk_i8_i32", -128, 127), ("v_ashr_pk_u8_i32", 0, 255)]
)
def test_shift_and_pack(mnemonic, low, high):
    (a, b, c), rows = operands(["i32", "i32", "u32"])
    end = isa.run("gfx950", f"{mnemonic} v10, v2, v4, v6", vgpr=rows)

    def byte(x, count):
        return min(max(int(x) >> (int(count) & 31), low), high) & 255

    want = [byte(x, z) | byte(y, z) << 8 for x, y, z in zip(a, b, c, strict=True)]
    np.testing.assert_array_equal(end.vgpr[10] & U32(0xFFFF), np.array(want, U32))


def test_op_sel_takes_and_writes_halves():
    (a, b, c), rows = operands(["u32"] * 3)
    end = isa.run("gfx942", "v_mad_u16 v10, v2, v4, v6 op_sel:[1,0,1,1]", vgpr=rows)
    want = ((a >> U32(16)) * (b & U32(0xFFFF)) + (c >> U32(16))) & U32(0xFFFF)
    np.testing.assert_array_equal(end.vgpr[10] >> U32(16), want)
    assert (end.vgpr[10] & U32(0xFFFF) == isa.POISON & 0xFFFF).all()


@pytest.mark.parametrize("mnemonic", ["v_qsad_pk_u16_u8", "v_mqsad_pk_u16_u8", "v_mqsad_u32_u8"])
def test_refused_by_name(mnemonic):
    size = 4 if mnemonic == "v_mqsad_u32_u8" else 2
    text = f"{mnemonic} v[8:{7 + size}], v[2:3], v4, v[12:{11 + size}]"
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", text)
    assert trap.value.kind == "unsupported instruction"
    assert mnemonic in trap.value.text
