"""SOP2 against Python integers, by the pseudo-code of AMD's instruction set manual."""

from __future__ import annotations

import pytest
from helpers import isa
from helpers.assembler import assemble
from helpers.scalar import Oracle, check, lines, signed

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def unsigned_sum(a: int, b: int, carry: int) -> tuple[int, bool]:
    return a + b + carry, a + b + carry > M32


def unsigned_difference(a: int, b: int, borrow: int) -> tuple[int, bool]:
    return a - b - borrow, b + borrow > a


def signed_overflow(result: int) -> tuple[int, bool]:
    return result, not -(1 << 31) <= result < 1 << 31


def logic(result: int, bits: int) -> tuple[int, bool]:
    return result, result & ((1 << bits) - 1) != 0


def bit_field(value: int, where: int, bits: int, extend: bool) -> tuple[int, bool]:
    """(S0 >> offset) & ((1 << width) - 1), its top bit extended when the result is signed."""
    offset, width = where & (bits - 1), where >> 16 & 0x7F
    if width == 0:
        return 0, False
    shifted = signed(value, bits) >> offset if extend else value >> offset
    width = min(width, bits)
    field = shifted & ((1 << width) - 1)
    return logic(signed(field, width) if extend else field, bits)


def absolute_difference(a: int, b: int) -> tuple[int, bool]:
    difference = signed(signed(a, 32) - signed(b, 32), 32)
    return abs(difference), difference != 0


def by_width(name: str, function: Oracle) -> dict[str, Oracle]:
    """The 32-bit and the 64-bit form of a logic or shift operation."""
    return {
        f"{name}{bits}": (lambda a, b, _scc, bits=bits: logic(function(a, b, bits), bits))
        for bits in (32, 64)
    }


S = signed
ORACLES: dict[str, Oracle] = {
    "s_add_u32": lambda a, b, _scc: unsigned_sum(a, b, 0),
    "s_sub_u32": lambda a, b, _scc: unsigned_difference(a, b, 0),
    "s_add_i32": lambda a, b, _scc: signed_overflow(S(a, 32) + S(b, 32)),
    "s_sub_i32": lambda a, b, _scc: signed_overflow(S(a, 32) - S(b, 32)),
    "s_addc_u32": lambda a, b, scc: unsigned_sum(a, b, scc),
    "s_subb_u32": lambda a, b, scc: unsigned_difference(a, b, scc),
    "s_min_i32": lambda a, b, _scc: (min(S(a, 32), S(b, 32)), S(a, 32) < S(b, 32)),
    "s_min_u32": lambda a, b, _scc: (min(a, b), a < b),
    "s_max_i32": lambda a, b, _scc: (max(S(a, 32), S(b, 32)), S(a, 32) >= S(b, 32)),
    "s_max_u32": lambda a, b, _scc: (max(a, b), a >= b),
    "s_cselect_b32": lambda a, b, scc: (a if scc else b, scc),
    "s_cselect_b64": lambda a, b, scc: (a if scc else b, scc),
    **by_width("s_and_b", lambda a, b, _bits: a & b),
    **by_width("s_or_b", lambda a, b, _bits: a | b),
    **by_width("s_xor_b", lambda a, b, _bits: a ^ b),
    **by_width("s_andn2_b", lambda a, b, _bits: a & ~b),
    **by_width("s_orn2_b", lambda a, b, _bits: a | ~b),
    **by_width("s_nand_b", lambda a, b, _bits: ~(a & b)),
    **by_width("s_nor_b", lambda a, b, _bits: ~(a | b)),
    **by_width("s_xnor_b", lambda a, b, _bits: ~(a ^ b)),
    **by_width("s_lshl_b", lambda a, b, bits: a << b % bits),
    **by_width("s_lshr_b", lambda a, b, bits: a >> b % bits),
    **by_width("s_ashr_i", lambda a, b, bits: S(a, bits) >> b % bits),
    "s_bfm_b32": lambda a, b, scc: ((1 << a % 32) - 1 << b % 32, scc),
    "s_bfm_b64": lambda a, b, scc: ((1 << a % 64) - 1 << b % 64, scc),
    "s_mul_i32": lambda a, b, scc: (a * b, scc),
    "s_bfe_u32": lambda a, b, _scc: bit_field(a, b, 32, extend=False),
    "s_bfe_i32": lambda a, b, _scc: bit_field(a, b, 32, extend=True),
    "s_bfe_u64": lambda a, b, _scc: bit_field(a, b, 64, extend=False),
    "s_bfe_i64": lambda a, b, _scc: bit_field(a, b, 64, extend=True),
    "s_absdiff_i32": lambda a, b, _scc: absolute_difference(a, b),
    "s_mul_hi_u32": lambda a, b, scc: (a * b >> 32, scc),
    "s_mul_hi_i32": lambda a, b, scc: (S(a, 32) * S(b, 32) >> 32, scc),
    "s_lshl1_add_u32": lambda a, b, _scc: unsigned_sum(a << 1, b, 0),
    "s_lshl2_add_u32": lambda a, b, _scc: unsigned_sum(a << 2, b, 0),
    "s_lshl3_add_u32": lambda a, b, _scc: unsigned_sum(a << 3, b, 0),
    "s_lshl4_add_u32": lambda a, b, _scc: unsigned_sum(a << 4, b, 0),
    "s_pack_ll_b32_b16": lambda a, b, scc: (a & 0xFFFF | b << 16, scc),
    "s_pack_lh_b32_b16": lambda a, b, scc: (a & 0xFFFF | b >> 16 << 16, scc),
    "s_pack_hh_b32_b16": lambda a, b, scc: (a >> 16 | b >> 16 << 16, scc),
}
COUNTED = ("lshl_b64", "lshr_b64", "ashr_i64", "bfe_u64", "bfe_i64")  # second source is 32 bits


def widths(mnemonic: str) -> tuple[int, int, int]:
    if mnemonic == "s_bfm_b64":
        return 64, 32, 32
    wide = 64 if mnemonic.endswith("64") else 32
    return wide, wide, 32 if mnemonic.endswith(COUNTED) else wide


@pytest.fixture(scope="module")
def codes() -> dict[str, bytes]:
    return lines(list(ORACLES), widths)


def test_every_row_has_an_oracle() -> None:
    assert set(ORACLES) == {row.mnemonic for row in isa.rows("gfx942") if row.family == "SOP2"}


@pytest.mark.parametrize("mnemonic", ORACLES)
def test_result_and_scc(codes: dict[str, bytes], mnemonic: str) -> None:
    out, *sources = widths(mnemonic)
    check(mnemonic, codes[mnemonic], ORACLES[mnemonic], out, sources)


CONSTANTS = {
    "s_or_b32 s4, 0, 64": 64,
    "s_or_b32 s4, 0, -16": -16,
    "s_or_b32 s4, 0, 0.5": 0x3F000000,
    "s_or_b32 s4, 0, -4.0": 0xC0800000,
    "s_or_b32 s4, 0, 0.15915494": 0x3E22F983,
    "s_or_b32 s4, 0, 0x12345678": 0x12345678,
    "s_or_b32 s4, 0, src_execz": 0,
    "s_or_b32 s4, 0, src_vccz": 1,
    "s_or_b32 s4, 0, src_scc": 1,
}
WIDE_CONSTANTS = {
    "s_or_b64 s[4:5], 0, -1": -1,
    "s_or_b64 s[4:5], 0, 1.0": 0x3FF0000000000000,
    "s_or_b64 s[4:5], 0, -2.0": 0xC000000000000000,
    "s_or_b64 s[4:5], 0, 0.15915494309189532": 0x3FC45F306DC9C882,
    "s_or_b64 s[4:5], 0, 0x80000000": 0x80000000,
    "s_ashr_i64 s[4:5], 0x80000000, 0": 0xFFFFFFFF80000000,
    "s_or_b64 s[4:5], 0, src_shared_base": 0x00010000 << 32,
    "s_or_b64 s[4:5], 0, src_private_limit": (0x00020000 << 32) + M32,
    "s_or_b64 s[4:5], 0, src_scc": 1,
    "s_or_b64 s[4:5], vcc, exec": M64,
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_constant_of_32_bits(text: str) -> None:
    code = assemble("gfx942", list(CONSTANTS))[list(CONSTANTS).index(text)]
    assert isa.run("gfx942", code, scc=True).sgpr[4] == CONSTANTS[text] & M32


@pytest.mark.parametrize("text", WIDE_CONSTANTS)
def test_constant_of_64_bits(text: str) -> None:
    code = assemble("gfx942", list(WIDE_CONSTANTS))[list(WIDE_CONSTANTS).index(text)]
    assert isa.run("gfx942", code, scc=True).s64(4) == WIDE_CONSTANTS[text] & M64


def test_half_an_aperture_is_refused() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "s_or_b32 s4, 0, src_shared_base")
    assert trap.value.kind == "unsupported instruction"
    assert "src_shared_base" in trap.value.text
