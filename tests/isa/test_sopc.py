"""SOPC against Python integers; VGPR indexing and vector skipping, the modes that it sets."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from helpers import isa
from helpers.assembler import assemble
from helpers.scalar import operands, register, signed, values

RELATIONS = {
    "eq": operator.eq, "lg": operator.ne, "gt": operator.gt,
    "ge": operator.ge, "lt": operator.lt, "le": operator.le,
}  # fmt: skip
MODES = {"s_setvskip", "s_set_gpr_idx_on"}


def compares() -> dict[str, tuple[tuple[int, int], object]]:
    """Widths and oracle by mnemonic."""
    table = {}
    for name, relation in RELATIONS.items():
        table[f"s_cmp_{name}_i32"] = (
            (32, 32),
            lambda a, b, r=relation: r(signed(a, 32), signed(b, 32)),
        )
        table[f"s_cmp_{name}_u32"] = ((32, 32), relation)
    for name in ("eq", "lg"):
        table[f"s_cmp_{name}_u64"] = ((64, 64), RELATIONS[name])
    for bits in (32, 64):
        for digit in (0, 1):
            table[f"s_bitcmp{digit}_b{bits}"] = (
                (bits, 32),
                lambda a, b, n=bits, d=digit: a >> b % n & 1 == d,
            )
    return table


COMPARES = compares()


@pytest.fixture(scope="module")
def codes() -> dict[str, bytes]:
    text = {
        name: f"{name} {register(8, widths[0])}, {register(10, widths[1])}"
        for name, (widths, _) in COMPARES.items()
    }
    return dict(zip(text, assemble("gfx942", list(text.values())), strict=True))


def test_every_row_is_tested_here() -> None:
    rows = {row.mnemonic for row in isa.rows("gfx942") if row.family == "SOPC"}
    assert rows == set(COMPARES) | MODES


@pytest.mark.parametrize("mnemonic", COMPARES)
def test_scc(codes: dict[str, bytes], mnemonic: str) -> None:
    widths, oracle = COMPARES[mnemonic]
    pairs = operands(widths, seed=3) + [(v, v) for (v,) in operands(widths[:1], seed=4)]
    for a, b in pairs:
        sgpr = values(8, widths[0], a) | values(10, widths[1], b & ((1 << widths[1]) - 1))
        end = isa.run("gfx942", codes[mnemonic], sgpr=sgpr)
        assert end.scc == oracle(a, b & ((1 << widths[1]) - 1)), (hex(a), hex(b))


LANES = np.arange(64, dtype=np.uint32)


def test_gpr_index_moves_source_and_destination() -> None:
    code = """
        s_set_gpr_idx_on s0, gpr_idx(SRC0)
        v_mov_b32_e32 v10, v2
        s_set_gpr_idx_mode gpr_idx(DST)
        v_mov_b32_e32 v20, v2
        s_set_gpr_idx_idx s1
        v_mov_b32_e32 v20, v3
        s_set_gpr_idx_off
        v_mov_b32_e32 v11, v2
    """
    vgpr = {n: LANES + 100 * n for n in range(2, 8)}
    end = isa.run("gfx942", code, sgpr={0: 3, 1: 4}, vgpr=vgpr)
    for row, source in ((10, 5), (23, 2), (24, 3), (11, 2)):
        np.testing.assert_array_equal(end.vgpr[row], vgpr[source])
    assert end.mode == isa.MODE_HIP
    assert end.m0 & 0xF0FF == 0x8004


def test_gpr_index_leaves_memory_instructions_alone() -> None:
    data = np.arange(64, dtype=np.uint32)
    code = "s_set_gpr_idx_on s0, 0xf\nglobal_load_dword v2, v0, s[4:5]\ns_set_gpr_idx_off"
    sgpr = {0: 3} | isa.pair(4, isa.address(data))
    end = isa.run("gfx942", code, sgpr=sgpr, vgpr={0: 4 * LANES}, memory=[data])
    np.testing.assert_array_equal(end.vgpr[2], data)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("v_readfirstlane_b32 s4, v2", "unsupported modifier"),
        ("v_mov_b32_dpp v4, v2 row_shr:1 row_mask:0xf bank_mask:0xf", "unsupported modifier"),
        ("v_mov_b32_e32 v4, v255", "register fault"),
        ("v_mov_b32_e32 v4, v30", "register fault"),
    ],
)
def test_gpr_index_refuses_what_it_cannot_move(line: str, kind: str) -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", f"s_set_gpr_idx_on s0, 1\n{line}", sgpr={0: 3},
                vgpr_rows=256 if "v255" in line else 32)  # fmt: skip
    assert trap.value.kind == kind


def test_skipped_vector_instructions_do_nothing() -> None:
    code = """
        s_setvskip s0, 1
        v_mov_b32_e32 v2, 7
        global_load_dword v3, v[0:1], off
        s_mov_b32 s4, 5
        s_setvskip s0, 0
        v_mov_b32_e32 v4, 9
    """
    end = isa.run("gfx942", code, sgpr={0: 2})
    assert end.vgpr[2][0] == end.vgpr[3][0] == isa.POISON
    assert (end.sgpr[4], end.vgpr[4][0]) == (5, 9)
    assert (end.counts["valu"], end.counts["vmem"]) == (1, 0)
