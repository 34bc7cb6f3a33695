"""What all vector ALU rows share: operands, modifiers, MODE, EXEC, refusals."""

import numpy as np
import pytest
from helpers import isa, valu

U32, F32 = np.uint32, np.float32
NO_IEEE_FLUSH = isa.MODE_AITER  # f32 denormals flushed, IEEE and DX10 clamp off


def floats(seed):
    return np.random.default_rng(seed).standard_normal(64).astype(F32)


def test_operand_may_be_its_own_destination():
    a = np.arange(64, dtype=U32)
    end = isa.run(
        "gfx942",
        "v_add_u32_e32 v1, v1, v1\nv_lshlrev_b64 v[2:3], 4, v[2:3]",
        vgpr={1: a, 2: a, 3: a},
    )
    np.testing.assert_array_equal(end.vgpr[1], 2 * a)
    np.testing.assert_array_equal(
        end.v64(2), (a.astype(np.uint64) << np.uint64(32) | a) << np.uint64(4)
    )


def test_wide_destination_over_a_narrow_source():
    a, c = (
        np.arange(64, dtype=U32) + U32(0xFFFFFF00),
        np.arange(64, dtype=np.uint64) << np.uint64(33),
    )
    rows = {1: a} | valu.registers(4, c, np.random.default_rng(0))
    end = isa.run(
        "gfx942", "v_mad_u64_u32 v[0:1], s[8:9], v1, v1, v[4:5]", vgpr=rows, exec_mask=(1 << 64) - 2
    )
    want = a.astype(np.uint64) ** np.uint64(2) + c
    np.testing.assert_array_equal(end.v64(0)[1:], want[1:])


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("0", 0),
        ("64", 64),
        ("-16", 0xFFFFFFF0),
        ("1.0", 0x3F800000),
        ("-4.0", 0xC0800000),
        ("0.15915494", 0x3E22F983),
        ("0x12345678", 0x12345678),
        ("s3", 77),
        ("vcc_lo", 5),
        ("m0", 9),
        ("exec_hi", 0xFFFFFFFF),
        ("src_scc", 1),
    ],
)
def test_scalar_and_constant_sources(source, value):
    end = isa.run("gfx942", f"v_mov_b32_e32 v0, {source}", sgpr={3: 77}, vcc=5, m0=9, scc=True)
    assert (end.vgpr[0] == value).all()


def test_constants_follow_the_type():
    text = """
        v_add_f16_e32 v0, 0.5, v1
        v_add_f64 v[2:3], 0.5, v[4:5]
        v_cvt_f32_f64_e32 v6, 0x40100000
        v_lshlrev_b64 v[8:9], 0, -1
    """
    zero = np.zeros(64, U32)
    end = isa.run("gfx942", text, vgpr={1: zero, 4: zero, 5: zero})
    assert (end.vgpr[0] == 0x3800).all()
    assert (end.v64(2).view(np.float64) == 0.5).all()
    assert (end.vgpr[6].view(F32) == 4.0).all()  # a literal is the high half of an f64
    assert (end.v64(8) == np.uint64(0xFFFFFFFFFFFFFFFF)).all()


def test_abs_and_neg():
    a, b = floats(1), floats(2)
    end = isa.run(
        "gfx942", "v_add_f32_e64 v0, -|v1|, |v2|\nv_mul_f32_e64 v3, -v1, v2", vgpr={1: a, 2: b}
    )
    valu.assert_same(end.vgpr[0].view(F32), np.abs(b) - np.abs(a))
    valu.assert_same(end.vgpr[3].view(F32), -a * b)


def test_f64_signs():
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal(64), rng.standard_normal(64)
    rows = valu.registers(2, a, rng) | valu.registers(4, b, rng)
    end = isa.run("gfx942", "v_add_f64 v[0:1], -|v[2:3]|, v[4:5]", vgpr=rows)
    valu.assert_same(end.v64(0).view(np.float64), b - np.abs(a))


def test_clamp_of_floats():
    a = np.resize(np.array([0.5, -1, 2, np.nan, -0.0, 1, np.inf], F32), 64)
    text = "v_mul_f32_e64 v0, v1, 1.0 clamp"
    end = isa.run("gfx942", text, vgpr={1: a})
    want = np.resize(np.array([0.5, 0, 1, 0, 0, 1, 1], F32), 64)
    valu.assert_same(end.vgpr[0].view(F32), want)
    end = isa.run(
        "gfx942", text, vgpr={1: a}, mode=isa.MODE_HIP & ~(1 << 8)
    )  # without dx10_clamp NaN stays
    assert np.isnan(end.vgpr[0].view(F32)[3])


@pytest.mark.parametrize(("omod", "factor"), [("mul:2", 2), ("mul:4", 4), ("div:2", 0.5)])
def test_omod_works_only_where_denormals_are_flushed_and_ieee_is_off(omod, factor):
    a = floats(4)
    text = f"v_add_f32_e64 v0, v1, v1 {omod}"
    end = isa.run("gfx942", text, vgpr={1: a}, mode=NO_IEEE_FLUSH)
    valu.assert_same(end.vgpr[0].view(F32), F32(factor) * (a + a))
    for mode in (isa.MODE_HIP, NO_IEEE_FLUSH | 1 << 9, NO_IEEE_FLUSH | 3 << 4):
        end = isa.run("gfx942", text, vgpr={1: a}, mode=mode)
        valu.assert_same(end.vgpr[0].view(F32), a + a)


def test_omod_then_clamp():
    a = np.resize(np.array([0.1, 0.3, -0.2], F32), 64)
    end = isa.run("gfx942", "v_add_f32_e64 v0, v1, v1 clamp mul:2", vgpr={1: a}, mode=NO_IEEE_FLUSH)
    valu.assert_same(end.vgpr[0].view(F32), np.clip(4 * a, 0, 1))


TINY, SMALLEST = F32(1e-40), np.finfo(F32).tiny


@pytest.mark.parametrize(
    ("field", "flushes_in", "flushes_out"),
    [(0, True, True), (1, False, True), (2, True, False), (3, False, False)],
)
def test_f32_denormals(field, flushes_in, flushes_out):
    """MODE keeps inputs with bit 0 of the field and results with bit 1."""
    a = np.full(64, -TINY, F32)
    b = np.full(64, SMALLEST, F32)
    mode = isa.MODE_HIP & ~0x30 | field << 4
    text = "v_mul_f32_e32 v0, v5, v1\nv_mul_f32_e32 v3, 0.5, v2"
    end = isa.run("gfx942", text, vgpr={1: a, 2: b, 5: np.full(64, 2.0**100, F32)}, mode=mode)
    valu.assert_same(
        end.vgpr[0].view(F32), np.full(64, -0.0 if flushes_in else -TINY * F32(2.0**100), F32)
    )
    valu.assert_same(
        end.vgpr[3].view(F32), np.full(64, 0 if flushes_out else SMALLEST / F32(2), F32)
    )


def test_fmac_flushes_its_addend():
    end = isa.run(
        "gfx942",
        "v_fmac_f32_e32 v0, v1, v1",
        vgpr={0: np.full(64, TINY), 1: np.zeros(64, F32)},
        mode=NO_IEEE_FLUSH,
    )
    assert (end.vgpr[0] == 0).all()


def test_f16_and_f64_denormals():
    text = "v_add_f16_e32 v0, v1, v1\nv_add_f64 v[2:3], v[4:5], v[4:5]\nv_pk_add_f16 v6, v1, v1"
    rows = {1: np.full(64, 0x00010001, U32), 4: np.full(64, 1, U32), 5: np.zeros(64, U32)}
    end = isa.run("gfx942", text, vgpr=rows)
    assert (end.vgpr[0] == 2).all() and (end.v64(2) == 2).all() and (end.vgpr[6] == 0x20002).all()
    end = isa.run("gfx942", text, vgpr=rows, mode=isa.MODE_HIP & ~0xC0)
    assert (end.vgpr[0] == 0).all() and (end.v64(2) == 0).all() and (end.vgpr[6] == 0).all()


def test_moves_and_selects_keep_denormals():
    a = np.full(64, TINY, F32)
    text = "v_mov_b32_e32 v0, v1\nv_cndmask_b32_e32 v2, v1, v1, vcc\nv_and_b32_e32 v3, -1, v1"
    end = isa.run("gfx942", text, vgpr={1: a}, mode=NO_IEEE_FLUSH)
    for row in (0, 2, 3):
        valu.assert_same(end.vgpr[row].view(F32), a)


def test_min_max_without_ieee_take_the_number():
    signalling = np.full(64, 0x7FA00001, U32)
    end = isa.run(
        "gfx942",
        "v_max_f32_e32 v0, 1.0, v1\nv_min_f32_e32 v2, 1.0, v1",
        vgpr={1: signalling},
        mode=isa.MODE_HIP & ~(1 << 9),
    )
    assert (end.vgpr[0] == 0x3F800000).all() and (end.vgpr[2] == 0x3F800000).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("v_add_co_u32_e64 v0, s[0:1], v1, v2 clamp", "clamp"),
        ("v_mul_lo_u16_e64 v0, v1, v2 clamp", "clamp"),
        ("v_perm_b32 v0, v1, v2, v3 clamp", "clamp"),
    ],
)
def test_modifiers_that_a_row_does_not_take_are_refused(text, words):
    code = isa.assemble("gfx942", [text.replace(" clamp", "")])[0]
    clamped = bytes([code[0], code[1] | 0x80, *code[2:]])
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", clamped)
    assert trap.value.kind == "unsupported modifier"
    assert text.split("_e64")[0].split(" ")[0] in trap.value.text
    assert words in trap.value.text


def test_f16_overflow_clamp_is_refused_where_it_is_not_modelled():
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "v_mul_f16_e32 v0, v1, v2", mode=isa.MODE_HIP | 1 << 23)
    assert "fp16_ovfl" in trap.value.text


def test_nothing_is_written_without_active_lanes():
    end = isa.run("gfx942", "v_mov_b32_e32 v0, 1\nv_cmp_eq_u32_e32 vcc, v0, v0", exec_mask=0, vcc=7)
    assert (end.vgpr[0] == isa.POISON).all()
    assert end.vcc == 0
