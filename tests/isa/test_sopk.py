"""SOPK against Python integers; hardware registers."""

from __future__ import annotations

import operator
import random

import pytest
from helpers import isa
from helpers.assembler import assemble
from helpers.scalar import EDGES_32, signed

CONSTANTS = (0, 1, 5, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x1234)
RELATIONS = {
    "eq": operator.eq, "lg": operator.ne, "gt": operator.gt,
    "ge": operator.ge, "lt": operator.lt, "le": operator.le,
}  # fmt: skip
COMPARES = [f"s_cmpk_{name}_{kind}" for name in RELATIONS for kind in ("i32", "u32")]
OTHERS = {
    "s_movk_i32", "s_cmovk_i32", "s_addk_i32", "s_mulk_i32", "s_cbranch_i_fork", "s_getreg_b32",
    "s_setreg_b32", "s_setreg_imm32_b32", "s_call_b64",
}  # fmt: skip


def test_every_row_is_tested_here() -> None:
    rows = {row.mnemonic for row in isa.rows("gfx942") if row.family == "SOPK"}
    assert rows == set(COMPARES) | OTHERS


def codes_of(mnemonic: str) -> dict[int, bytes]:
    text = [f"{mnemonic} s4, {constant:#x}" for constant in CONSTANTS]
    return dict(zip(CONSTANTS, assemble("gfx942", text), strict=True))


def registers() -> list[int]:
    numbers = random.Random(5)
    near = [value & 0xFFFFFFFF for c in CONSTANTS for value in (c, signed(c, 16), -signed(c, 16))]
    return [*EDGES_32, *near, *(numbers.getrandbits(32) for _ in range(4))]


@pytest.mark.parametrize("mnemonic", COMPARES)
def test_compare(mnemonic: str) -> None:
    relation = RELATIONS[mnemonic.split("_")[2]]
    is_signed = mnemonic.endswith("i32")
    for constant, code in codes_of(mnemonic).items():
        for value in registers():
            end = isa.run("gfx942", code, sgpr={4: value})
            left = signed(value, 32) if is_signed else value
            right = signed(constant, 16) if is_signed else constant
            assert end.scc == relation(left, right), (hex(value), hex(constant))
            assert end.sgpr[4] == value


@pytest.mark.parametrize(
    ("mnemonic", "operation"), [("s_addk_i32", operator.add), ("s_mulk_i32", operator.mul)]
)
def test_arithmetic(mnemonic: str, operation) -> None:
    for constant, code in codes_of(mnemonic).items():
        for scc, value in enumerate(registers()):
            end = isa.run("gfx942", code, sgpr={4: value}, scc=scc % 2 == 1)
            exact = operation(signed(value, 32), signed(constant, 16))
            assert end.sgpr[4] == exact & 0xFFFFFFFF
            overflow = exact != signed(exact, 32)
            assert end.scc == (overflow if mnemonic == "s_addk_i32" else scc % 2 == 1)


@pytest.mark.parametrize("scc", [False, True])
def test_moves(scc: bool) -> None:
    moves, conditional = codes_of("s_movk_i32"), codes_of("s_cmovk_i32")
    for constant in CONSTANTS:
        wanted = signed(constant, 16) & 0xFFFFFFFF
        assert isa.run("gfx942", moves[constant], scc=scc).sgpr[4] == wanted
        end = isa.run("gfx942", conditional[constant], scc=scc)
        assert end.sgpr[4] == (wanted if scc else isa.POISON)
        assert end.scc == scc


def test_call_jumps_and_keeps_the_return_address() -> None:
    code = "s_getpc_b64 s[0:1]\ns_call_b64 s[4:5], 2\ns_mov_b32 s6, 1\ns_endpgm\ns_mov_b32 s7, 2"
    end = isa.run("gfx942", code)
    assert end.s64(4) - end.s64(0) == 4
    assert (end.sgpr[6], end.sgpr[7]) == (isa.POISON, 2)


def test_mode_is_read_and_written_by_fields() -> None:
    code = """
        s_getreg_b32 s0, hwreg(HW_REG_MODE)
        s_getreg_b32 s1, hwreg(HW_REG_MODE, 4, 4)
        s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s3
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0x3
    """
    end = isa.run("gfx942", code, sgpr={3: 0xFFFFFFF2}, mode=0x3F0)
    assert (end.sgpr[0], end.sgpr[1]) == (0x3F0, 0xF)
    assert end.mode == 0x3E3


def test_status_shows_scc_execz_vccz() -> None:
    code = "s_getreg_b32 s0, hwreg(HW_REG_STATUS)"
    for scc, vcc, mask in ((True, 0, 1), (False, 5, 0)):
        bits = int(isa.run("gfx942", code, scc=scc, vcc=vcc, exec_mask=mask).sgpr[0])
        assert (bits & 1, bits >> 9 & 1, bits >> 10 & 1) == (scc, mask == 0, vcc == 0)


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_workgroups_go_round_the_xccs(target: str) -> None:
    code = assemble(target, ["s_getreg_b32 s0, hwreg(HW_REG_XCC_ID, 0, 16)"])[0]
    ids = [isa.run(target, code, linear_workgroup=n).sgpr[0] for n in range(10)]
    assert ids == [n % 8 for n in range(10)]


def test_waves_of_a_workgroup_share_a_compute_unit() -> None:
    code = assemble("gfx942", ["s_getreg_b32 s0, hwreg(HW_REG_HW_ID)"])[0]
    ids = [int(isa.run("gfx942", code, linear_workgroup=77, wave=n).sgpr[0]) for n in range(16)]
    assert len({value >> 8 for value in ids}) == 1
    assert len(set(ids)) == 16


@pytest.mark.parametrize(
    "line",
    [
        "s_getreg_b32 s0, hwreg(HW_REG_LDS_ALLOC)",
        "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s0",
        "s_cbranch_i_fork s[0:1], 4",
    ],
)
def test_what_is_not_modelled_is_refused(line: str) -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", line)
    assert trap.value.kind == "unsupported instruction"
