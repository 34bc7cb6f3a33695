"""SOP1 against Python integers, by the pseudo-code of AMD's instruction set manual."""

from __future__ import annotations

import pytest
from helpers import isa
from helpers.assembler import assemble
from helpers.scalar import Oracle, check, lines, operands, signed

M64 = (1 << 64) - 1
REFUSED = {"s_rfe_b64", "s_cbranch_join"}


def bits_of(value: int, bits: int) -> str:
    """Most significant bit first."""
    return f"{value & ((1 << bits) - 1):0{bits}b}"


def quads(value: int, bits: int) -> list[bool]:
    return [value >> i & 15 != 0 for i in range(0, bits, 4)]


def whole_quads(value: int, bits: int) -> int:
    return sum(15 << 4 * i for i, quad in enumerate(quads(value, bits)) if quad)


def quad_mask(value: int, bits: int) -> int:
    return sum(1 << i for i, quad in enumerate(quads(value, bits)) if quad)


def lowest(value: int, bits: int, digit: str) -> int:
    return bits_of(value, bits)[::-1].find(digit)


def highest_one(value: int, bits: int) -> int:
    return bits_of(value, bits).find("1")


def first_unlike_sign(value: int, bits: int) -> int:
    text = bits_of(value, bits)
    return text.find("1" if text[0] == "0" else "0")


def doubled(value: int) -> int:
    return int("".join(digit * 2 for digit in bits_of(value, 32)), 2)


def keeps(function: Oracle) -> Oracle:
    """An operation that leaves SCC."""
    return lambda a, scc: (function(a), scc)


def sets(function: Oracle) -> Oracle:
    """An operation whose SCC is "result != 0"; the function says how many bits count."""
    return lambda a, _scc: (lambda r: (r, r != 0))(function(a))


NOT32, NOT64 = (lambda a: a ^ (1 << 32) - 1), (lambda a: a ^ M64)
ORACLES: dict[str, Oracle] = {
    "s_mov_b32": keeps(lambda a: a),
    "s_mov_b64": keeps(lambda a: a),
    "s_cmov_b32": lambda a, scc: (a if scc else isa.POISON, scc),
    "s_cmov_b64": lambda a, scc: (a if scc else isa.POISON << 32 | isa.POISON, scc),
    "s_not_b32": sets(NOT32),
    "s_not_b64": sets(NOT64),
    "s_wqm_b32": sets(lambda a: whole_quads(a, 32)),
    "s_wqm_b64": sets(lambda a: whole_quads(a, 64)),
    "s_brev_b32": keeps(lambda a: int(bits_of(a, 32)[::-1], 2)),
    "s_brev_b64": keeps(lambda a: int(bits_of(a, 64)[::-1], 2)),
    "s_bcnt0_i32_b32": sets(lambda a: bits_of(a, 32).count("0")),
    "s_bcnt0_i32_b64": sets(lambda a: bits_of(a, 64).count("0")),
    "s_bcnt1_i32_b32": sets(lambda a: bits_of(a, 32).count("1")),
    "s_bcnt1_i32_b64": sets(lambda a: bits_of(a, 64).count("1")),
    "s_ff0_i32_b32": keeps(lambda a: lowest(a, 32, "0")),
    "s_ff0_i32_b64": keeps(lambda a: lowest(a, 64, "0")),
    "s_ff1_i32_b32": keeps(lambda a: lowest(a, 32, "1")),
    "s_ff1_i32_b64": keeps(lambda a: lowest(a, 64, "1")),
    "s_flbit_i32_b32": keeps(lambda a: highest_one(a, 32)),
    "s_flbit_i32_b64": keeps(lambda a: highest_one(a, 64)),
    "s_flbit_i32": keeps(lambda a: first_unlike_sign(a, 32)),
    "s_flbit_i32_i64": keeps(lambda a: first_unlike_sign(a, 64)),
    "s_sext_i32_i8": keeps(lambda a: signed(a, 8)),
    "s_sext_i32_i16": keeps(lambda a: signed(a, 16)),
    "s_bitset0_b32": keeps(lambda a: isa.POISON & ~(1 << a % 32)),
    "s_bitset0_b64": keeps(lambda a: (isa.POISON << 32 | isa.POISON) & ~(1 << a % 64)),
    "s_bitset1_b32": keeps(lambda a: isa.POISON | 1 << a % 32),
    "s_bitset1_b64": keeps(lambda a: (isa.POISON << 32 | isa.POISON) | 1 << a % 64),
    "s_quadmask_b32": sets(lambda a: quad_mask(a, 32)),
    "s_quadmask_b64": sets(lambda a: quad_mask(a, 64)),
    "s_abs_i32": sets(lambda a: abs(signed(a, 32)) & 0xFFFFFFFF),
    "s_bitreplicate_b64_b32": keeps(doubled),
}
SAVE_EXEC = {
    "and": lambda s, e: s & e,
    "or": lambda s, e: s | e,
    "xor": lambda s, e: s ^ e,
    "andn2": lambda s, e: s & ~e,
    "orn2": lambda s, e: s | ~e,
    "nand": lambda s, e: ~(s & e),
    "nor": lambda s, e: ~(s | e),
    "xnor": lambda s, e: ~(s ^ e),
    "andn1": lambda s, e: ~s & e,
    "orn1": lambda s, e: ~s | e,
}
WRITE_EXEC = {"andn1": lambda s, e: ~s & e, "andn2": lambda s, e: s & ~e}
CONTROL = {
    "s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_set_gpr_idx_idx",
    "s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64",
}  # fmt: skip


def widths(mnemonic: str) -> tuple[int, int]:
    if mnemonic.startswith("s_bitset"):
        return (64 if mnemonic.endswith("64") else 32), 32
    if mnemonic == "s_bitreplicate_b64_b32":
        return 64, 32
    source = 64 if mnemonic.endswith("64") else 32
    return (32 if "_i32" in mnemonic else source), source


@pytest.fixture(scope="module")
def codes() -> dict[str, bytes]:
    return lines(list(ORACLES), widths)


def test_every_row_is_tested_here() -> None:
    rows = {row.mnemonic: row.implemented for row in isa.rows("gfx942") if row.family == "SOP1"}
    masks = {f"s_{name}_saveexec_b64" for name in SAVE_EXEC}
    masks |= {f"s_{name}_wrexec_b64" for name in WRITE_EXEC}
    assert set(rows) == set(ORACLES) | masks | CONTROL | REFUSED
    assert {name for name, implemented in rows.items() if not implemented} == REFUSED


@pytest.mark.parametrize("mnemonic", ORACLES)
def test_result_and_scc(codes: dict[str, bytes], mnemonic: str) -> None:
    out, source = widths(mnemonic)
    check(mnemonic, codes[mnemonic], ORACLES[mnemonic], out, [source])


@pytest.mark.parametrize("name", SAVE_EXEC)
def test_save_exec(name: str) -> None:
    code = assemble("gfx942", [f"s_{name}_saveexec_b64 s[4:5], s[8:9]"])[0]
    for source, mask in operands((64, 64), seed=7):
        end = isa.run("gfx942", code, sgpr=isa.pair(8, source), exec_mask=mask)
        wanted = SAVE_EXEC[name](source, mask) & M64
        assert (end.s64(4), end.exec, end.scc) == (mask, wanted, wanted != 0)


@pytest.mark.parametrize("name", WRITE_EXEC)
def test_write_exec(name: str) -> None:
    code = assemble("gfx942", [f"s_{name}_wrexec_b64 s[4:5], s[8:9]"])[0]
    for source, mask in operands((64, 64), seed=8):
        end = isa.run("gfx942", code, sgpr=isa.pair(8, source), exec_mask=mask)
        wanted = WRITE_EXEC[name](source, mask) & M64
        assert (end.s64(4), end.exec, end.scc) == (wanted, wanted, wanted != 0)


def test_calls_and_returns() -> None:
    code = """
        s_getpc_b64 s[0:1]
        s_add_u32 s2, s0, 20
        s_addc_u32 s3, s1, 0
        s_swappc_b64 s[4:5], s[2:3]
        s_mov_b32 s6, 1
        s_endpgm
        s_mov_b32 s7, 2
        s_setpc_b64 s[4:5]
    """
    end = isa.run("gfx942", code)
    assert end.s64(4) - end.s64(0) == 12
    assert (end.sgpr[6], end.sgpr[7]) == (1, 2)
    assert end.counts["branch"] == 2


def test_jump_out_of_the_code_is_a_bad_branch() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "s_setpc_b64 s[0:1]", sgpr=isa.pair(0, 0x1234))
    assert trap.value.kind == "bad branch"
    assert "0x1234" in trap.value.text


def test_indexed_moves() -> None:
    sgpr = {20 + i: 100 + i for i in range(8)}
    code = "s_movrels_b32 s4, s20\ns_movrels_b64 s[6:7], s[20:21]"
    end = isa.run("gfx942", code, sgpr=sgpr, m0=4)
    assert end.sgpr[4] == 104
    assert list(end.sgpr[6:8]) == [104, 105]
    code = "s_movreld_b32 s20, s0\ns_mov_b32 m0, 6\ns_movreld_b64 s[20:21], s[0:1]"
    end = isa.run("gfx942", code, sgpr=sgpr | {0: 7, 1: 8}, m0=3)
    assert list(end.sgpr[20:28]) == [100, 101, 102, 7, 104, 105, 7, 8]


def test_indexed_move_beyond_the_registers_is_refused() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "s_movrels_b32 s4, s100", m0=2)
    assert trap.value.kind == "register fault"
    assert "s_movrels_b32" in trap.value.text


def test_gpr_index_is_the_low_byte_of_m0() -> None:
    end = isa.run("gfx942", "s_set_gpr_idx_idx s0", sgpr={0: 0x1234}, m0=0xABCDEF12)
    assert end.m0 == 0xABCDEF34


def test_return_from_a_trap_handler_is_refused_by_name() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "s_rfe_b64 s[0:1]")
    assert trap.value.kind == "unsupported instruction"
    assert "s_rfe_b64" in trap.value.text
