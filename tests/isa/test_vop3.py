"""VOP3 as an encoding: the wide forms of VOP1, VOP2 and VOPC rows, and rows of its own."""

import numpy as np
import pytest
from helpers import isa, valu

FIRST_OF_ITS_OWN = 0x1C0


@pytest.mark.parametrize("target", isa.TARGETS)
def test_its_own_rows_are_unique_on_a_target(target):
    opcodes = [row.opcode for row in isa.rows(target) if row.family == "VOP3"]
    assert opcodes == sorted(set(opcodes))
    assert min(opcodes) >= FIRST_OF_ITS_OWN


PAIRS = {
    "v_mov_b32_e32 v0, v1": "v_mov_b32_e64 v0, v1",
    "v_cvt_f32_u32_e32 v0, v1": "v_cvt_f32_u32_e64 v0, v1",
    "v_rcp_f32_e32 v0, v1": "v_rcp_f32_e64 v0, v1",
    "v_add_f32_e32 v0, v1, v2": "v_add_f32_e64 v0, v1, v2",
    "v_subrev_u32_e32 v0, v1, v2": "v_subrev_u32_e64 v0, v1, v2",
    "v_lshlrev_b16_e32 v0, v1, v2": "v_lshlrev_b16_e64 v0, v1, v2",
    "v_fmac_f32_e32 v0, v1, v2": "v_fmac_f32_e64 v0, v1, v2",
    "v_addc_co_u32_e32 v0, vcc, v1, v2, vcc": "v_addc_co_u32_e64 v0, vcc, v1, v2, vcc",
    "v_cmp_lt_f32_e32 vcc, v1, v2": "v_cmp_lt_f32_e64 vcc, v1, v2",
}


@pytest.mark.parametrize("short", PAIRS)
def test_wide_form_means_the_same(short):
    rng = np.random.default_rng(1)
    rows = {n: valu.values("f32", rng) for n in range(3)}
    ends = [isa.run("gfx942", text, vgpr=rows, vcc=0x1234) for text in (short, PAIRS[short])]
    np.testing.assert_array_equal(ends[0].vgpr[0], ends[1].vgpr[0])
    assert ends[0].vcc == ends[1].vcc


def test_three_scalar_operands():
    end = isa.run("gfx942", "v_add3_u32 v0, s2, s2, 5", sgpr={2: 100})
    assert (end.vgpr[0] == 205).all()


def test_aligned_and_overlapping_wide_operands():
    low, high = np.arange(64, dtype=np.uint32), np.arange(64, dtype=np.uint32) + 9
    text = "v_lshl_add_u64 v[2:3], v[2:3], 3, v[2:3]"
    end = isa.run("gfx942", text, vgpr={2: low, 3: high})
    value = low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)
    np.testing.assert_array_equal(end.v64(2), value * np.uint64(9))
