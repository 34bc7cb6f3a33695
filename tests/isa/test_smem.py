"""Scalar memory: loads, stores, atomics, clocks; values against NumPy and Python integers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from helpers import isa
from helpers.assembler import assemble
from helpers.scalar import signed

BASE = 4  # s[4:5] holds the address, s[4:7] the descriptor
WORDS = 64


def memory() -> np.ndarray:
    return np.random.default_rng(7).integers(0, 1 << 32, WORDS, dtype=np.uint32)


def descriptor(data: np.ndarray, records: int, stride: int = 0) -> dict[int, int]:
    base = isa.address(data)
    return isa.pair(BASE, base | stride << 48) | {BASE + 2: records, BASE + 3: 0x20000}


@pytest.mark.parametrize("dwords", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(
    ("place", "start"), [("0x40", 16), ("s30", 3), ("s30 offset:0x10", 7), ("m0", 5)]
)
def test_load(dwords: int, place: str, start: int) -> None:
    data = memory()
    width = "" if dwords == 1 else f"x{dwords}"
    registers = "s32" if dwords == 1 else f"s[32:{31 + dwords}]"
    code = f"s_load_dword{width} {registers}, s[4:5], {place}"
    sgpr = isa.pair(BASE, isa.address(data)) | {30: 12}
    end = isa.run("gfx942", code, sgpr=sgpr, m0=20, readonly=[data])
    np.testing.assert_array_equal(end.sgpr[32 : 32 + dwords], data[start : start + dwords])
    assert end.sgpr[32 + dwords] == isa.POISON
    assert end.poll == isa.Poll(
        0, isa.address(data) + 4 * start, 4 * dwords, int(data[start]), "scalar load"
    )
    assert (end.effects, end.counts["smem"]) == (0, 1)


def test_load_with_a_negative_offset_over_its_own_address() -> None:
    data = memory()
    code = "s_load_dwordx2 s[4:5], s[4:5], -0x8"
    end = isa.run("gfx942", code, sgpr=isa.pair(BASE, isa.address(data) + 40), memory=[data])
    np.testing.assert_array_equal(end.sgpr[4:6], data[8:10])


@pytest.mark.parametrize("records", [0, 4, 12, 16, 18, 256])
def test_buffer_load_reads_0_behind_the_buffer(records: int) -> None:
    data = memory()
    sgpr = descriptor(data, records) | {30: 4}
    code = "s_buffer_load_dwordx4 s[8:11], s[4:7], s30"
    end = isa.run("gfx942", code, sgpr=sgpr, memory=[data])
    wanted = [data[1 + i] if 4 * (i + 2) <= records else 0 for i in range(4)]
    assert list(end.sgpr[8:12]) == wanted


def test_records_of_a_strided_buffer_count_strides() -> None:
    data = memory()
    code = "s_buffer_load_dwordx2 s[8:9], s[4:7], 0x1c"
    end = isa.run("gfx942", code, sgpr=descriptor(data, 2, stride=16), memory=[data])
    assert list(end.sgpr[8:10]) == [data[7], 0]


@pytest.mark.parametrize("dwords", [1, 2, 4])
def test_store(dwords: int) -> None:
    data = memory()
    before = data.copy()
    width = "" if dwords == 1 else f"x{dwords}"
    registers = "s8" if dwords == 1 else f"s[8:{7 + dwords}]"
    sgpr = isa.pair(BASE, isa.address(data)) | {8 + i: 1000 + i for i in range(4)}
    code = f"s_store_dword{width} {registers}, s[4:5], 0x10"
    end = isa.run("gfx942", code, sgpr=sgpr, memory=[data])
    before[4 : 4 + dwords] = 1000 + np.arange(dwords)
    np.testing.assert_array_equal(data, before)
    assert end.effects == 1
    assert end.noted == (isa.address(data) + 16, 4 * dwords)


def test_storing_what_is_there_is_no_effect() -> None:
    data = np.full(4, isa.POISON, np.uint32)
    sgpr = isa.pair(BASE, isa.address(data))
    end = isa.run("gfx942", "s_store_dword s8, s[4:5], 0x0", sgpr=sgpr, memory=[data])
    assert (end.effects, end.noted) == (0, (0, 0))


def test_buffer_store_drops_what_is_behind_the_buffer() -> None:
    data = np.zeros(8, np.uint32)
    sgpr = descriptor(data, 20) | {8 + i: 1 + i for i in range(4)}
    isa.run("gfx942", "s_buffer_store_dwordx4 s[8:11], s[4:7], 0xc", sgpr=sgpr, memory=[data])
    assert list(data) == [0, 0, 0, 1, 2, 0, 0, 0]


ATOMICS = {
    "swap": lambda _old, data, _bits: data,
    "add": lambda old, data, _bits: old + data,
    "sub": lambda old, data, _bits: old - data,
    "smin": lambda old, data, bits: min(signed(old, bits), signed(data, bits)),
    "umin": lambda old, data, _bits: min(old, data),
    "smax": lambda old, data, bits: max(signed(old, bits), signed(data, bits)),
    "umax": lambda old, data, _bits: max(old, data),
    "and": lambda old, data, _bits: old & data,
    "or": lambda old, data, _bits: old | data,
    "xor": lambda old, data, _bits: old ^ data,
    "inc": lambda old, data, _bits: 0 if old >= data else old + 1,
    "dec": lambda old, data, _bits: data if old == 0 or old > data else old - 1,
}


def atomic_name(name: str, bits: int, base: str) -> str:
    return f"s_{base}atomic_{name}{'_x2' if bits == 64 else ''}"


def test_every_row_is_tested_here() -> None:
    rows = {row.mnemonic: row.implemented for row in isa.rows("gfx942") if row.family == "SMEM"}
    forms = [(bits, base) for bits in (32, 64) for base in ("", "buffer_")]
    tested = {atomic_name(n, *form) for n in [*ATOMICS, "cmpswap"] for form in forms}
    sizes = ("", "x2", "x4", "x8", "x16")
    tested |= {f"s_{base}load_dword{size}" for base in ("", "buffer_") for size in sizes}
    tested |= {f"s_{base}store_dword{size}" for base in ("", "buffer_") for size in sizes[:3]}
    tested |= {f"s_dcache_{name}" for name in ("inv", "wb", "inv_vol", "wb_vol")}
    tested |= {"s_memtime", "s_memrealtime"}
    assert {name for name, implemented in rows.items() if implemented} == tested


def edges(bits: int) -> list[tuple[int, int]]:
    top = 1 << bits
    chosen = random.Random(bits)
    values = [0, 1, 2, 7, top // 2 - 1, top // 2, top - 2, top - 1, chosen.getrandbits(bits)]
    return [(old, data) for old in values for data in values]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("base", ["", "buffer_"])
@pytest.mark.parametrize("name", ATOMICS)
def test_atomic(name: str, base: str, bits: int) -> None:
    kind = np.uint32 if bits == 32 else np.uint64
    data = np.zeros(4, kind)
    register = "s8" if bits == 32 else "s[8:9]"
    address = "s[4:7]" if base else "s[4:5]"
    text = f"{atomic_name(name, bits, base)} {register}, {address}, {bits // 8:#x}"
    code, quiet = assemble("gfx942", [f"{text} glc", text])
    for old, operand in edges(bits):
        sgpr = descriptor(data, 4096) | isa.pair(8, operand)
        wanted = ATOMICS[name](old, operand, bits) & ((1 << bits) - 1)
        for words, returned in ((code, old), (quiet, operand)):
            data[:] = [11, old, 22, 33]
            end = isa.run("gfx942", words, sgpr=sgpr, memory=[data])
            assert list(data) == [11, wanted, 22, 33], (hex(old), hex(operand))
            assert end.s64(8) & ((1 << bits) - 1) == returned
            changed = wanted != old
            assert end.effects == changed
            assert end.noted == ((isa.address(data) + bits // 8, bits // 8) if changed else (0, 0))
            assert end.poll.access == "scalar atomic"
            assert end.poll.value == old & 0xFFFFFFFF


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("found", [5, 6])
def test_compare_and_swap(bits: int, found: int) -> None:
    data = np.array([found], np.uint32 if bits == 32 else np.uint64)
    registers = "s[8:9]" if bits == 32 else "s[8:11]"
    operands = {8: 70, 9: 5} if bits == 32 else isa.pair(8, 70) | isa.pair(10, 5)
    code = f"{atomic_name('cmpswap', bits, '')} {registers}, s[4:5], 0x0 glc"
    sgpr = isa.pair(BASE, isa.address(data)) | operands
    end = isa.run("gfx942", code, sgpr=sgpr, memory=[data])
    assert data[0] == (70 if found == 5 else found)
    assert end.sgpr[8] == found


def test_atomic_behind_the_buffer_changes_nothing_and_returns_0() -> None:
    data = np.full(4, 9, np.uint32)
    sgpr = descriptor(data, 7) | {8: 1}
    code = "s_buffer_atomic_add s8, s[4:7], 0x4 glc"
    end = isa.run("gfx942", code, sgpr=sgpr, memory=[data])
    assert list(data) == [9] * 4
    assert end.sgpr[8] == 0


@pytest.mark.parametrize(
    ("line", "offset"),
    [
        ("s_load_dword s8, s[4:5], 0x0", -4),
        ("s_load_dwordx4 s[8:11], s[4:5], 0x0", 4 * WORDS - 8),
        ("s_load_dword s8, s[4:5], 0x0", 2),
        ("s_store_dword s8, s[4:5], 0x0", 4 * WORDS),
        ("s_atomic_add s8, s[4:5], 0x0", -4),
        ("s_atomic_add_x2 s[8:9], s[4:5], 0x0", 4),
    ],
)
def test_outside_or_misaligned_is_a_memory_fault(line: str, offset: int) -> None:
    data = np.zeros(WORDS // 2 * 2, np.uint64).view(np.uint32)[:WORDS]
    sgpr = isa.pair(BASE, isa.address(data) + offset)
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", line, sgpr=sgpr, memory=[data])
    assert trap.value.kind == "memory fault"


@pytest.mark.parametrize("line", ["s_store_dword s8, s[4:5], 0x0", "s_atomic_add s8, s[4:5], 0x0"])
def test_writing_read_only_memory_is_a_fault(line: str) -> None:
    data = memory()
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", line, sgpr=isa.pair(BASE, isa.address(data)), readonly=[data])
    assert trap.value.kind == "memory fault"
    assert "read-only" in trap.value.text


def test_clocks_follow_the_rounds_of_the_scheduler() -> None:
    code = assemble("gfx942", ["s_memtime s[0:1]\ns_memrealtime s[2:3]"])[0]
    ends = [isa.run("gfx942", code, round=n) for n in (0, 1, 10, 1 << 40)]
    for clock in (0, 2):
        times = [end.s64(clock) for end in ends]
        assert times == sorted(set(times))
    assert isa.run("gfx942", code, round=10).s64(2) == ends[2].s64(2)
    assert ends[0].effects == 2  # a wave that waits for time is not stuck


@pytest.mark.parametrize("name", ["inv", "wb", "inv_vol", "wb_vol"])
def test_cache_operations_change_nothing(name: str) -> None:
    end = isa.run("gfx942", f"s_dcache_{name}")
    assert (end.effects, end.counts["smem"]) == (0, 1)


@pytest.mark.parametrize(
    "line",
    [
        "s_scratch_load_dword s8, s[4:5], 0x0",
        "s_scratch_store_dwordx2 s[8:9], s[4:5], 0x0",
        "s_dcache_discard s[4:5], 0x0",
        "s_atc_probe 1, s[4:5], 0x0",
    ],
)
def test_what_is_not_modelled_is_refused_by_name(line: str) -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", line)
    assert trap.value.kind == "unsupported instruction"
    assert line.split()[0] in trap.value.text
