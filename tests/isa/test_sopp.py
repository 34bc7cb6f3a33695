"""SOPP: branches, ends, barriers, and the instructions that change no value."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import isa

NO_EFFECT = [
    "s_nop 3", "s_wakeup", "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_setprio 3", "s_icache_inv",
    "s_incperflevel 1", "s_decperflevel 1", "s_ttracedata", "s_sendmsg sendmsg(MSG_INTERRUPT)",
    "s_sethalt 0", "s_trap 3", "s_cbranch_cdbgsys 1", "s_cbranch_cdbguser 1",
    "s_cbranch_cdbgsys_or_user 1", "s_cbranch_cdbgsys_and_user 1", "s_sleep 1",
]  # fmt: skip
REFUSED = [
    "s_setkill 1", "s_sendmsg 3", "s_sendmsghalt 1", "s_sethalt 1", "s_endpgm_saved",
    "s_endpgm_ordered_ps_done",
]  # fmt: skip
BRANCHES = {
    "s_branch": lambda _scc, _vcc, _mask: True,
    "s_cbranch_scc0": lambda scc, _vcc, _mask: not scc,
    "s_cbranch_scc1": lambda scc, _vcc, _mask: scc,
    "s_cbranch_vccz": lambda _scc, vcc, _mask: vcc == 0,
    "s_cbranch_vccnz": lambda _scc, vcc, _mask: vcc != 0,
    "s_cbranch_execz": lambda _scc, _vcc, mask: mask == 0,
    "s_cbranch_execnz": lambda _scc, _vcc, mask: mask != 0,
}
OTHERS = {"s_endpgm", "s_barrier", "s_set_gpr_idx_off", "s_set_gpr_idx_mode"}


def test_every_row_is_tested_here() -> None:
    rows = {row.mnemonic for row in isa.rows("gfx942") if row.family == "SOPP"}
    assert rows == {line.split()[0] for line in NO_EFFECT + REFUSED} | set(BRANCHES) | OTHERS


@pytest.mark.parametrize("line", NO_EFFECT)
def test_values_stay(line: str) -> None:
    sgpr = {n: 3 * n for n in range(100)}
    end = isa.run("gfx942", line, sgpr=sgpr, vcc=6, m0=9, scc=True)
    assert list(end.sgpr[:100]) == list(sgpr.values())
    assert (end.vcc, end.m0, end.scc, end.exec) == (6, 9, True, isa.ALL_LANES)
    assert (end.mode, end.status, end.executed) == (isa.MODE_HIP, "ended", 2)


@pytest.mark.parametrize("mnemonic", BRANCHES)
def test_branch(mnemonic: str) -> None:
    code = isa.assemble("gfx942", [f"{mnemonic} 1\ns_mov_b32 s0, 1\ns_mov_b32 s1, 2"])[0]
    for scc in (False, True):
        for vcc in (0, 1 << 40):
            for mask in (0, 1 << 63):
                end = isa.run("gfx942", code, scc=scc, vcc=vcc, exec_mask=mask)
                taken = BRANCHES[mnemonic](scc, vcc, mask)
                assert (end.sgpr[0] == isa.POISON) == taken
                assert end.sgpr[1] == 2
                assert end.counts["branch"] == 1


def test_loop_counts_its_instructions() -> None:
    code = "s_mov_b32 s0, 0\nl: s_add_u32 s0, s0, 1\ns_cmp_lt_u32 s0, 10\ns_cbranch_scc1 l"
    end = isa.run("gfx942", code)
    assert end.sgpr[0] == 10
    assert end.executed == 1 + 3 * 10 + 1
    assert (end.counts["salu"], end.counts["branch"], end.counts["other"]) == (21, 10, 1)


def test_the_budget_ends_a_loop_that_does_not() -> None:
    end = isa.run("gfx942", "l: s_branch l", budget=1000)
    assert (end.status, end.executed) == ("ready", 1000)


def test_barrier_stops_the_wave_behind_it() -> None:
    end = isa.run("gfx942", "s_barrier\ns_mov_b32 s0, 1")
    assert (end.status, end.pc_offset, end.executed) == ("at barrier", 4, 1)
    assert end.sgpr[0] == isa.POISON


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_not_modelled_is_refused_by_name(line: str) -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", f"s_nop 0\n{line}")
    assert trap.value.kind == "unsupported instruction"
    assert line.split()[0] in trap.value.text
    assert trap.value.pc_offset == 4


def test_the_kernel_can_abort() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "s_trap 2")
    assert trap.value.kind == "abort"


def test_an_unsupported_instruction_traps_only_when_reached() -> None:
    end = isa.run("gfx942", "s_branch 1\ns_endpgm_saved\ns_mov_b32 s0, 4")
    assert end.sgpr[0] == 4


@pytest.mark.parametrize(
    "line",
    [
        "v_mov_b32 v0, v32",
        "v_mov_b32 v40, 0",
        "v_add_f64 v[30:31], v[32:33], 1.0",
        "v_accvgpr_read_b32 v0, a16",
        "ds_read_b128 a[14:17], v0",
        "global_load_dword v0, v[32:33], off",
    ],
)
def test_a_register_beyond_the_allocation_is_a_fault(line: str) -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", line, vgpr_rows=32, accvgpr_rows=16)
    assert trap.value.kind == "register fault"
    assert line.split()[0] in trap.value.text


def test_the_last_allocated_register_is_not() -> None:
    code = "v_mov_b32 v31, v30\nv_accvgpr_write_b32 a15, v31"
    end = isa.run("gfx942", code, vgpr={30: 5}, vgpr_rows=32, accvgpr_rows=16)
    np.testing.assert_array_equal(end.accvgpr[15], np.full(64, 5))


def test_running_off_the_code_is_a_bad_branch() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "s_branch 2\ns_nop 0")
    assert trap.value.kind == "bad branch"
