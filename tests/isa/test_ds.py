"""LDS: loads, stores and atomics of every width, exchanges between lanes, faults."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import atomics, isa
from helpers.lanes import (
    LANES,
    SOME_LANES,
    active,
    assembled,
    gather,
    memory,
    rows_of,
)

LDS = memory(4096)


READS = {  # mnemonic suffix: type, elements
    "b32": (np.uint32, 1),
    "b64": (np.uint32, 2),
    "b96": (np.uint32, 3),
    "b128": (np.uint32, 4),
    "u8": (np.uint8, 1),
    "i8": (np.int8, 1),
    "u16": (np.uint16, 1),
    "i16": (np.int16, 1),
}


def read_text(name: str) -> str:
    rows = READS[name][1]
    return f"ds_read_{name} {'v2' if rows == 1 else f'v[2:{1 + rows}]'}, v0 offset:24"


READ_TEXTS = tuple(read_text(name) for name in READS)


@pytest.mark.parametrize("target", isa.TARGETS)
@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", READS)
def test_reads(target: str, name: str, mask: int) -> None:
    dtype, rows = READS[name]
    offsets = LANES * 50 + 3  # any alignment is allowed
    code = assembled(target, READ_TEXTS)[read_text(name)]
    end = isa.run(target, code, vgpr={0: offsets}, lds=LDS, exec_mask=mask)
    want = gather(LDS, offsets + 24, dtype, rows).astype(np.int64).astype(np.uint32)
    for row in range(rows):
        expected = np.where(active(mask), want[:, row], isa.POISON)
        np.testing.assert_array_equal(end.vgpr[2 + row], expected)


NARROW = {
    "u8_d16": (np.uint8, 0),
    "u8_d16_hi": (np.uint8, 16),
    "i8_d16": (np.int8, 0),
    "i8_d16_hi": (np.int8, 16),
    "u16_d16": (np.uint16, 0),
    "u16_d16_hi": (np.uint16, 16),
}
NARROW_TEXTS = tuple(f"ds_read_{name} v2, v0" for name in NARROW)


@pytest.mark.parametrize("name", NARROW)
def test_narrow_reads_keep_the_other_half(name: str) -> None:
    dtype, shift = NARROW[name]
    code = assembled("gfx942", NARROW_TEXTS)[f"ds_read_{name} v2, v0"]
    end = isa.run("gfx942", code, vgpr={0: LANES * 7, 2: 0x12345678}, lds=LDS)
    half = gather(LDS, LANES * 7, dtype)[:, 0].astype(np.int64) & 0xFFFF
    kept = 0x12345678 & ~(0xFFFF << shift)
    np.testing.assert_array_equal(end.vgpr[2], (kept | half << shift).astype(np.uint32))


WRITES = {  # mnemonic suffix: bytes, shift of the data
    "b8": (1, 0),
    "b16": (2, 0),
    "b8_d16_hi": (1, 16),
    "b16_d16_hi": (2, 16),
    "b32": (4, 0),
    "b64": (8, 0),
    "b96": (12, 0),
    "b128": (16, 0),
}


def write_text(name: str) -> str:
    rows = max(WRITES[name][0] // 4, 1)
    return f"ds_write_{name} v0, {'v2' if rows == 1 else f'v[2:{1 + rows}]'} offset:8"


WRITE_TEXTS = tuple(write_text(name) for name in WRITES)


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str, mask: int) -> None:
    size, shift = WRITES[name]
    data = np.random.default_rng(1).integers(0, 2**32, (4, 64), dtype=np.uint32)
    code = assembled("gfx942", WRITE_TEXTS)[write_text(name)]
    registers = {0: LANES * 33 + 1} | {2 + row: data[row] for row in range(4)}
    end = isa.run("gfx942", code, vgpr=registers, lds=LDS, exec_mask=mask)
    want = LDS.copy()
    lane_bytes = np.ascontiguousarray((data >> np.uint32(shift)).T).view(np.uint8)
    for lane in np.flatnonzero(active(mask)):
        at = 33 * lane + 9
        want[at : at + size] = lane_bytes[lane, :size]
    np.testing.assert_array_equal(end.lds, want)


def test_the_last_lane_wins_and_an_unchanged_write_has_no_effect() -> None:
    code = isa.assemble("gfx942", ["ds_write_b32 v0, v1"])[0]
    end = isa.run("gfx942", code, vgpr={0: 16, 1: LANES}, lds=bytes(64))
    assert end.lds.view(np.uint32)[4] == 63
    assert end.effects > 0
    again = isa.run("gfx942", code, vgpr={0: 16, 1: 63}, lds=end.lds)
    ending = isa.run("gfx942", b"").effects  # what s_endpgm alone counts
    assert again.effects == ending


PAIRS = {  # mnemonic middle: type, bytes between units of the offsets
    "2_b32": (np.uint32, 4),
    "2st64_b32": (np.uint32, 256),
    "2_b64": (np.uint64, 8),
    "2st64_b64": (np.uint64, 512),
}
PAIR_TEXTS = tuple(
    text
    for name, (dtype, _) in PAIRS.items()
    for last in ([3] if dtype == np.uint32 else [5])
    for text in (
        f"ds_read{name} v[2:{last}], v0 offset0:3 offset1:1",
        f"ds_write{name} v0, v{'2' if last == 3 else '[2:3]'}, v{'6' if last == 3 else '[6:7]'} "
        "offset0:3 offset1:1",
    )
)


@pytest.mark.parametrize("name", PAIRS)
def test_paired_reads_and_writes(name: str) -> None:
    dtype, unit = PAIRS[name]
    words = np.dtype(dtype).itemsize // 4
    read, write = (
        assembled("gfx942", PAIR_TEXTS)[text] for text in PAIR_TEXTS if f"{name} " in text
    )
    offsets = LANES * 16
    end = isa.run("gfx942", read, vgpr={0: offsets}, lds=LDS)
    for element, place in enumerate((3, 1)):
        want = gather(LDS, offsets + place * unit, np.uint32, words)
        for word in range(words):
            np.testing.assert_array_equal(end.vgpr[2 + element * words + word], want[:, word])
    data = {2: LANES + 100, 3: LANES + 200, 6: LANES + 300, 7: LANES + 400}
    end = isa.run("gfx942", write, vgpr={0: offsets} | data, lds=LDS)
    want_lds = LDS.copy()
    for register, place in ((2, 3), (6, 1)):
        for lane in range(64):
            values = np.array([data[register + w][lane] for w in range(words)], np.uint32)
            at = offsets[lane] + place * unit
            want_lds[at : at + 4 * words] = values.view(np.uint8)
    np.testing.assert_array_equal(end.lds, want_lds)


def test_a_pair_may_overwrite_its_address() -> None:
    end = isa.run("gfx942", "ds_read2_b32 v[0:1], v0 offset1:1", vgpr={0: LANES * 8}, lds=LDS)
    want = gather(LDS, LANES * 8, np.uint32, 2)
    np.testing.assert_array_equal(end.vgpr[0:2], want.T)


def test_data_may_be_in_accvgprs() -> None:
    code = "ds_read_b128 a[4:7], v0\nds_write_b64 v1, a[4:5]"
    end = isa.run("gfx942", code, vgpr={0: LANES * 16, 1: 2048 + LANES * 8}, lds=LDS)
    want = gather(LDS, LANES * 16, np.uint32, 4)
    np.testing.assert_array_equal(end.accvgpr[4:8], want.T)
    np.testing.assert_array_equal(end.lds[2048:2560].view(np.uint32).reshape(64, 2), want[:, :2])


def test_a_negative_address_and_an_offset_meet_inside() -> None:
    end = isa.run("gfx942", "ds_read_b32 v1, v0 offset:256", vgpr={0: LANES * 4 - 64}, lds=LDS)
    np.testing.assert_array_equal(end.vgpr[1], gather(LDS, LANES * 4 + 192, np.uint32)[:, 0])


def test_addtid_addresses_come_from_m0() -> None:
    code = "ds_read_addtid_b32 v1 offset:16\nds_write_addtid_b32 v2 offset:1024"
    end = isa.run("gfx942", code, vgpr={2: LANES}, m0=0x10000 + 32, lds=LDS)
    np.testing.assert_array_equal(end.vgpr[1], LDS[48:304].view(np.uint32))
    np.testing.assert_array_equal(end.lds[1056:1312].view(np.uint32), LANES)


@pytest.mark.parametrize(
    ("code", "address"),
    [
        ("ds_read_b32 v1, v0", 61),
        ("ds_read_b128 v[2:5], v0", 52),
        ("ds_write_b64 v0, v[2:3]", 60),
        ("ds_add_u32 v0, v2", 64),
        ("ds_read2_b32 v[2:3], v0 offset1:1", 60),
    ],
)
def test_out_of_range_is_a_fault_that_names_the_lane(code: str, address: int) -> None:
    addresses = np.zeros(64, np.uint32)
    addresses[37] = address
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", code, vgpr={0: addresses}, lds=bytes(64))
    assert trap.value.kind == "LDS fault"
    assert "lane 37" in trap.value.text
    assert "64 bytes of LDS" in trap.value.text
    end = isa.run("gfx942", code, vgpr={0: addresses}, lds=bytes(64), exec_mask=~(1 << 37))
    assert end.status == "ended"


@pytest.mark.parametrize(
    "code", ["ds_add_u32 v0, v2", "ds_cmpst_rtn_b64 v[4:5], v0, v[2:3], v[6:7]"]
)
def test_misaligned_atomics_are_faults(code: str) -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", code, vgpr=dict.fromkeys(range(8), 0) | {0: 2}, lds=bytes(64))
    assert trap.value.kind == "memory fault"
    assert "misaligned" in trap.value.text


def test_a_read_tells_what_it_polled() -> None:
    end = isa.run("gfx942", "ds_read_b32 v1, v0", vgpr={0: LANES * 4}, lds=LDS, exec_mask=0x30)
    assert end.poll.address == (0x10000 << 32) + 16
    assert end.poll.value == LDS[16:20].view(np.uint32)[0]
    assert end.poll.bytes == 4


def atomic_texts() -> dict[str, tuple[str, int, bool]]:
    """Assembly text -> operation, bits, returns."""
    texts = {}
    for bits, data, extra, old in ((32, "v2", "v6", "v4"), (64, "v[2:3]", "v[6:7]", "v[4:5]")):
        names = {f"{n}_u": n for n in ("add", "sub", "rsub", "inc", "dec")}
        names |= {"min_i": "smin", "max_i": "smax", "min_u": "umin", "max_u": "umax"}
        names |= {f"{n}_b": n for n in ("and", "or", "xor", "mskor")}
        names |= {"min_f": "min_float", "max_f": "max_float", "add_f": "add_float"}
        for name, operation in names.items():
            stem, letter = name.rsplit("_", 1)
            operands = f"{data}, {extra}" if operation == "mskor" else data
            texts[f"ds_{stem}_{letter}{bits} v0, {operands}"] = (operation, bits, False)
            returning = f"ds_{stem}_rtn_{letter}{bits} {old}, v0, {operands}"
            texts[returning] = (operation, bits, True)
        texts[f"ds_wrxchg_rtn_b{bits} {old}, v0, {data}"] = ("swap", bits, True)
    texts["ds_wrap_rtn_b32 v4, v0, v2, v6"] = ("wrap", 32, True)
    for kind in ("f16", "bf16"):
        texts[f"ds_pk_add_{kind} v0, v2"] = (f"pk_add_{kind}", 32, False)
        texts[f"ds_pk_add_rtn_{kind} v4, v0, v2"] = (f"pk_add_{kind}", 32, True)
    return texts


ATOMIC_TEXTS = atomic_texts()


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("text", ATOMIC_TEXTS)
def test_atomics_in_lane_order(text: str, mask: int) -> None:
    operation, bits, returns = ATOMIC_TEXTS[text]
    memory = atomics.values(bits, operation, 16, 1)
    data, extra = (atomics.values(bits, operation, 64, seed) for seed in (2, 3))
    words = np.random.default_rng(4).integers(0, 16, 64)
    registers = {0: words * (bits // 8)} | rows_of(data, 2) | rows_of(extra, 6)
    code = assembled("gfx942", tuple(ATOMIC_TEXTS))[text]
    end = isa.run("gfx942", code, vgpr=registers, lds=memory.view(np.uint8), exec_mask=mask)
    after, old = atomics.in_lane_order(
        atomics.operations(bits)[operation], memory, words, data, extra, mask
    )
    np.testing.assert_array_equal(end.lds.view(memory.dtype), after)
    if returns:
        got = end.vgpr[4] if bits == 32 else end.v64(4)
        np.testing.assert_array_equal(got[active(mask)], old[active(mask)])
        assert (end.vgpr[4][~active(mask)] == isa.POISON).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_cmpst_compares_with_its_first_operand(bits: int) -> None:
    memory = np.arange(64, dtype=f"u{bits // 8}") % 3
    compare, new = np.full_like(memory, 1), np.arange(64, dtype=memory.dtype) + 1000
    pair = "v[{0}:{1}]" if bits == 64 else "v{0}"
    old, first, second = (pair.format(n, n + 1) for n in (4, 2, 6))
    code = f"ds_cmpst_rtn_b{bits} {old}, v0, {first}, {second}"
    registers = {0: LANES * (bits // 8)} | rows_of(compare, 2) | rows_of(new, 6)
    end = isa.run("gfx942", code, vgpr=registers, lds=memory.view(np.uint8))
    want = np.where(memory == 1, new, memory)
    np.testing.assert_array_equal(end.lds.view(memory.dtype), want)
    np.testing.assert_array_equal(end.vgpr[4] if bits == 32 else end.v64(4), memory)


def test_cmpst_f32_compares_values() -> None:
    memory = np.array([0.0, -0.0, np.nan, 1.0] * 16, np.float32)
    registers = {0: LANES * 4, 2: np.float32(0), 6: np.float32(5)}
    end = isa.run("gfx942", "ds_cmpst_f32 v0, v2, v6", vgpr=registers, lds=memory.view(np.uint8))
    np.testing.assert_array_equal(end.lds.view(np.float32), [5, 5, np.nan, 1] * 16)


@pytest.mark.parametrize(("name", "unit"), [("2_rtn_b32", 4), ("2st64_rtn_b32", 256)])
def test_paired_exchange_may_overwrite_its_second_operand(name: str, unit: int) -> None:
    code = f"ds_wrxchg{name} v[2:3], v0, v4, v2 offset0:1 offset1:2"
    offsets = LANES * 8
    registers = {0: offsets, 4: LANES + 500, 2: LANES + 900}
    end = isa.run("gfx942", code, vgpr=registers, lds=LDS)
    want, old = LDS.copy(), np.zeros((2, 64), np.uint32)
    for element, (place, base) in enumerate(((1, 500), (2, 900))):
        words = want.view(np.uint32)
        for lane in range(64):
            at = (lane * 8 + place * unit) // 4
            old[element, lane], words[at] = words[at], lane + base
    np.testing.assert_array_equal(end.lds, want)
    np.testing.assert_array_equal(end.vgpr[2:4], old)


def test_gds_and_wave_sync_are_refused() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "ds_gws_barrier v0 offset:0 gds", vgpr={0: 0}, lds=bytes(64))
    assert trap.value.kind == "unsupported instruction"
    assert "ds_gws_barrier" in trap.value.text
