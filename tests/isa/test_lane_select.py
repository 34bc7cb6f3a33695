"""SDWA and DPP on vector instructions."""

import numpy as np
import pytest
from helpers import isa, valu

U32, F32 = np.uint32, np.float32
WHOLE = "dst_sel:DWORD dst_unused:UNUSED_PAD"
PARTS = {f"BYTE_{n}": (8 * n, 8) for n in range(4)} | {
    "WORD_0": (0, 16),
    "WORD_1": (16, 16),
    "DWORD": (0, 32),
}


def words(seed):
    return np.random.default_rng(seed).integers(0, 1 << 32, 64, dtype=U32)


def part(value, name, *, signed=False):
    shift, bits = PARTS[name]
    field = value >> U32(shift) & U32((1 << bits) - 1)
    if signed:
        sign = U32(1 << (bits - 1))
        field = (field ^ sign) - sign
    return field


@pytest.mark.parametrize("name", PARTS)
def test_sdwa_sources(name):
    a, b = words(1), words(2)
    text = (
        f"v_add_u32_sdwa v0, v1, v2 {WHOLE} src0_sel:{name} src1_sel:DWORD\n"
        f"v_add_u32_sdwa v3, v1, sext(v2) {WHOLE} src0_sel:DWORD src1_sel:{name}\n"
        f"v_mov_b32_sdwa v4, sext(v1) {WHOLE} src0_sel:{name}"
    )
    end = isa.run("gfx942", text, vgpr={1: a, 2: b})
    np.testing.assert_array_equal(end.vgpr[0], part(a, name) + b)
    np.testing.assert_array_equal(end.vgpr[3], a + part(b, name, signed=True))
    np.testing.assert_array_equal(end.vgpr[4], part(a, name, signed=True))


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("unused", ["PAD", "SEXT", "PRESERVE"])
def test_sdwa_destination(name, unused):
    a, b, old = words(3), words(4), words(5)
    where = f"dst_sel:{name} dst_unused:UNUSED_{unused}"
    text = f"v_add_u32_sdwa v0, v1, v2 {where} src0_sel:DWORD src1_sel:DWORD"
    exec_mask = 0xFFFF_FFFF_FFFF_0000
    end = isa.run("gfx942", text, vgpr={0: old, 1: a, 2: b}, exec_mask=exec_mask)
    shift, bits = PARTS[name]
    mask = U32((1 << bits) - 1 << shift)
    field = (a + b) << U32(shift) & mask
    if unused == "PRESERVE":
        want = field | old & ~mask
    elif unused == "SEXT" and bits < 32:
        above = U32((0xFFFFFFFF << (shift + bits)) & 0xFFFFFFFF)
        want = field | np.where(field >> U32(shift + bits - 1) & U32(1), above, U32(0))
    else:
        want = field
    want[:16] = old[:16]
    np.testing.assert_array_equal(end.vgpr[0], want)


def test_sdwa_float_modifiers_and_scalar_source():
    a = np.random.default_rng(6).standard_normal(64).astype(np.float16)
    packed = a.view(np.uint16).astype(U32) << U32(16) | U32(0x1234)
    where = "dst_sel:WORD_1 dst_unused:UNUSED_PAD"
    text = f"v_add_f16_sdwa v0, -|v1|, s3 {where} src0_sel:WORD_1 src1_sel:WORD_0"
    end = isa.run("gfx942", text, vgpr={1: packed}, sgpr={3: 0x4000})
    want = (np.float16(2) - np.abs(a)).view(np.uint16).astype(U32) << U32(16)
    np.testing.assert_array_equal(end.vgpr[0], want)


def test_sdwa_carry():
    a = np.arange(64, dtype=U32) << U32(8) | U32(0xFF)
    text = f"v_add_co_u32_sdwa v0, vcc, v1, v2 {WHOLE} src0_sel:BYTE_1 src1_sel:DWORD"
    end = isa.run("gfx942", text, vgpr={1: a, 2: np.full(64, 0xFFFFFFF0, U32)})
    assert end.vcc == sum(1 << i for i in range(16, 64))


def quad(lane, order):
    return lane & ~3 | order[lane & 3]


DPP = {
    "quad_perm:[1,0,3,2]": lambda i: quad(i, (1, 0, 3, 2)),
    "quad_perm:[3,3,0,2]": lambda i: quad(i, (3, 3, 0, 2)),
    "row_shl:1": lambda i: i + 1 if i % 16 < 15 else None,
    "row_shl:15": lambda i: i + 15 if i % 16 == 0 else None,
    "row_shr:4": lambda i: i - 4 if i % 16 >= 4 else None,
    "row_ror:3": lambda i: i & ~15 | (i - 3) % 16,
    "wave_shl:1": lambda i: i + 1 if i < 63 else None,
    "wave_rol:1": lambda i: (i + 1) % 64,
    "wave_shr:1": lambda i: i - 1 if i else None,
    "wave_ror:1": lambda i: (i - 1) % 64,
    "row_mirror": lambda i: i & ~15 | 15 - i % 16,
    "row_half_mirror": lambda i: i & ~7 | 7 - i % 8,
    "row_bcast:15": lambda i: (i & ~15) - 1 if i >= 16 else None,
    "row_bcast:31": lambda i: 31 if i >= 32 else None,
    "row_newbcast:5": lambda i: i & ~15 | 5,
}


@pytest.mark.parametrize("control", DPP)
@pytest.mark.parametrize(
    ("masks", "bound"),
    [
        ("row_mask:0xf bank_mask:0xf", False),
        ("row_mask:0xf bank_mask:0xf", True),
        ("row_mask:0xa bank_mask:0x6", False),
    ],
)
def test_dpp(control, masks, bound):
    a, b, old = words(7), words(8), words(9)
    exec_mask = 0xFFFF_F0FF_FFFF_FFF7
    suffix = f"{control} {masks}" + (" bound_ctrl:0" if bound else "")
    text = f"v_mov_b32_dpp v0, v1 {suffix}\nv_add_u32_dpp v3, v1, v2 {suffix}"
    end = isa.run("gfx942", text, vgpr={0: old, 1: a, 2: b, 3: old}, exec_mask=exec_mask)
    rows, banks = int(masks.split()[0][9:], 16), int(masks.split()[1][10:], 16)
    for i in range(64):
        source = DPP[control](i)
        valid = source is not None and exec_mask >> source & 1
        writes = (
            exec_mask >> i & 1
            and rows >> i // 16 & 1
            and banks >> i % 16 // 4 & 1
            and (valid or bound)
        )
        value = int(a[source]) if valid else 0
        assert end.vgpr[0][i] == (value if writes else old[i]), i
        assert end.vgpr[3][i] == ((value + int(b[i])) & 0xFFFFFFFF if writes else old[i]), i


def test_dpp_reduction_sums_a_wave():
    a = np.random.default_rng(10).integers(-50, 50, 64).astype(F32)
    steps = [
        "row_shr:1",
        "row_shr:2",
        "row_shr:4",
        "row_shr:8",
        "row_bcast:15 row_mask:0xa",
        "row_bcast:31 row_mask:0xc",
    ]
    text = "\n".join(
        f"v_add_f32_dpp v1, v1, v1 {s} "
        + ("" if "mask" in s else "row_mask:0xf ")
        + "bank_mask:0xf"
        for s in steps
    )
    end = isa.run("gfx942", text, vgpr={1: a})
    valu.assert_same(end.vgpr[1].view(F32)[63:], np.array([a.sum()], F32))


def test_dpp_float_modifiers():
    a = np.random.default_rng(11).standard_normal(64).astype(F32)
    end = isa.run(
        "gfx942", "v_max_f32_dpp v0, -|v1|, |v1| row_mirror row_mask:0xf bank_mask:0xf", vgpr={1: a}
    )
    valu.assert_same(end.vgpr[0].view(F32), np.abs(a))


def test_dpp_of_64_bits():
    rng = np.random.default_rng(12)
    a = rng.integers(0, 1 << 63, 64, dtype=np.uint64)
    text = "v_mov_b64_dpp v[0:1], v[2:3] row_newbcast:7 row_mask:0xf bank_mask:0xf"
    end = isa.run("gfx942", text, vgpr=valu.registers(2, a, rng))
    np.testing.assert_array_equal(end.v64(0), a[np.arange(64) & ~15 | 7])
