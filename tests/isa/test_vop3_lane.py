"""Instructions that read or write single lanes, and lane counts."""

import numpy as np
import pytest
from helpers import isa

U32 = np.uint32
LANES = np.arange(64, dtype=U32) * 3 + 7


@pytest.mark.parametrize("lane", [0, 5, 63, 64, 130])
def test_readlane_ignores_exec(lane):
    end = isa.run(
        "gfx942", "v_readlane_b32 s5, v1, s6", vgpr={1: LANES}, sgpr={6: lane}, exec_mask=0
    )
    assert end.sgpr[5] == LANES[lane % 64]


def test_readlane_of_a_constant_lane_into_vcc():
    end = isa.run("gfx942", "v_readlane_b32 vcc_hi, v1, 9", vgpr={1: LANES})
    assert end.vcc >> 32 == LANES[9]


def test_writelane_ignores_exec():
    end = isa.run(
        "gfx942",
        "v_writelane_b32 v1, s4, m0\nv_writelane_b32 v1, 17, 3",
        vgpr={1: LANES},
        sgpr={4: 99},
        m0=70,
        exec_mask=0,
    )
    want = LANES.copy()
    want[6], want[3] = 99, 17
    np.testing.assert_array_equal(end.vgpr[1], want)


def test_mbcnt_counts_active_lanes_below():
    mask = 0xF0F0_1234_8000_0001
    text = "v_mbcnt_lo_u32_b32 v0, s4, 10\nv_mbcnt_hi_u32_b32 v0, s5, v0"
    end = isa.run("gfx942", text, sgpr=isa.pair(4, mask))
    want = [10 + (mask & ((1 << lane) - 1)).bit_count() for lane in range(64)]
    np.testing.assert_array_equal(end.vgpr[0], want)


def test_mbcnt_of_all_is_the_lane_number():
    end = isa.run("gfx942", "v_mbcnt_lo_u32_b32 v0, -1, 0\nv_mbcnt_hi_u32_b32 v0, -1, v0")
    np.testing.assert_array_equal(end.vgpr[0], np.arange(64))
