"""BUFFER: offsets, indices, range checks, loads into LDS, the private segment, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import atomics, isa
from helpers.lanes import (
    D16,
    LANES,
    LOADS,
    SOME_LANES,
    STORES,
    active,
    assembled,
    data_registers,
    gather,
    loaded,
    memory,
    random_rows,
    resource,
    rows_of,
    stored,
    whole,
)

SWIZZLE = 1 << 31


def load_text(name: str) -> str:
    return f"buffer_load_{name} {data_registers(LOADS[name][1])}, v0, s[8:11], s3 offen offset:40"


def store_text(name: str) -> str:
    rows = max(STORES[name][0] // 4, 1)
    return f"buffer_store_{name} {data_registers(rows)}, v0, s[8:11], 0 offen offset:4"


LOAD_TEXTS = tuple(load_text(name) for name in LOADS)
STORE_TEXTS = tuple(store_text(name) for name in STORES)
D16_TEXTS = tuple(f"buffer_load_{name} v4, v0, s[8:11], 0 offen" for name in D16)


@pytest.mark.parametrize("target", isa.TARGETS)
@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", LOADS)
def test_loads(target: str, name: str, mask: int) -> None:
    data, offsets = memory(), LANES * 100
    code = assembled(target, LOAD_TEXTS)[load_text(name)]
    scalars = whole(data) | {3: 16}
    end = isa.run(target, code, vgpr={0: offsets}, sgpr=scalars, memory=[data], exec_mask=mask)
    want = np.where(active(mask), loaded(data, offsets + 56, name), isa.POISON)
    np.testing.assert_array_equal(end.vgpr[4 : 4 + len(want)], want)


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", STORES)
def test_stores(name: str, mask: int) -> None:
    array, offsets, data = memory(), LANES * 48, random_rows()
    want = stored(array, offsets + 4, name, data, mask)
    code = assembled("gfx942", STORE_TEXTS)[store_text(name)]
    registers = {0: offsets} | dict(enumerate(data, 4))
    scalars = whole(array)
    isa.run("gfx942", code, vgpr=registers, sgpr=scalars, memory=[array], exec_mask=mask)
    np.testing.assert_array_equal(array, want)


@pytest.mark.parametrize("name", D16)
def test_narrow_loads_keep_the_other_half_but_zero_theirs_outside(name: str) -> None:
    dtype, shift = D16[name]
    data, offsets = memory(), LANES * 9
    offsets[60:] = 9000
    code = assembled("gfx942", D16_TEXTS)[f"buffer_load_{name} v4, v0, s[8:11], 0 offen"]
    registers = {0: offsets, 4: 0x12345678}
    end = isa.run("gfx942", code, vgpr=registers, sgpr=whole(data), memory=[data])
    half = gather(data, LANES * 9, dtype)[:, 0].astype(np.int64) & 0xFFFF
    half[60:] = 0
    want = (0x12345678 & ~(0xFFFF << shift)) | half << shift
    np.testing.assert_array_equal(end.vgpr[4], want.astype(np.uint32))


def test_without_offen_all_lanes_use_one_address() -> None:
    data = memory()
    code = "buffer_load_dword v4, off, s[8:11], s3 offset:8"
    end = isa.run("gfx942", code, sgpr=whole(data) | {3: 4}, memory=[data])
    assert (end.vgpr[4] == data[12:16].view(np.uint32)[0]).all()


def test_a_load_may_overwrite_its_offset() -> None:
    data = memory()
    code = "buffer_load_dwordx2 v[0:1], v0, s[8:11], 0 offen"
    end = isa.run("gfx942", code, vgpr={0: LANES * 8}, sgpr=whole(data), memory=[data])
    np.testing.assert_array_equal(end.vgpr[0:2], loaded(data, LANES * 8, "dwordx2"))


def test_data_may_be_in_accvgprs() -> None:
    data, out = memory(1024), np.zeros(1024, np.uint8)
    code = (
        "buffer_load_dwordx4 a[4:7], v0, s[8:11], 0 offen\n"
        "buffer_store_dwordx4 a[4:7], v0, s[12:15], 0 offen"
    )
    scalars = whole(data) | {code + 4: value for code, value in whole(out).items()}
    isa.run("gfx942", code, vgpr={0: LANES * 16}, sgpr=scalars, memory=[data, out])
    np.testing.assert_array_equal(out, data)


@pytest.mark.parametrize("name", ["dword", "dwordx2", "dwordx3", "dwordx4", "ushort", "ubyte"])
def test_what_lies_outside_reads_as_zero_dword_by_dword(name: str) -> None:
    data = memory(1024)
    dtype, rows = LOADS[name]
    records = 506  # not a multiple of 4: the last dword that fits ends at 504
    offsets = LANES * 4 + 440
    code = isa.assemble(
        "gfx942", [f"buffer_load_{name} {data_registers(rows)}, v0, s[8:11], s3 offen"]
    )[0]
    scalars = resource(isa.address(data), records) | {3: 8}
    end = isa.run("gfx942", code, vgpr={0: offsets}, sgpr=scalars, memory=[data])
    size = np.dtype(dtype).itemsize
    elements = (offsets + 8)[:, None] + size * np.arange(rows)[None, :]
    want = loaded(data, offsets + 8, name).T.copy()
    want[elements + size > records] = 0
    np.testing.assert_array_equal(end.vgpr[4 : 4 + rows], want.T)


@pytest.mark.parametrize("name", ["dword", "dwordx2", "dwordx4", "short"])
def test_what_lies_outside_is_not_stored(name: str) -> None:
    array, data = memory(1024), random_rows()
    records, offsets = 506, 1020 - LANES * 16
    want = stored(np.pad(array, (0, 64)), offsets + 4, name, data, isa.ALL_LANES)[:1024]
    kept = 504 if STORES[name][0] >= 4 else 506
    want[kept:] = array[kept:]
    code = assembled("gfx942", STORE_TEXTS)[store_text(name)]
    registers = {0: offsets} | dict(enumerate(data, 4))
    scalars = resource(isa.address(array), records)
    isa.run("gfx942", code, vgpr=registers, sgpr=scalars, memory=[array])
    np.testing.assert_array_equal(array, want)


@pytest.mark.parametrize(
    ("offset", "scalar", "place"),
    [
        (0x80000000, 0, None),
        (-44, 0, None),
        (-4, 0, 36),  # offset and constant, 40, wrap together at 32 bits
        (0, -4, None),  # the scalar offset counts too, but does not wrap
        (-40, -4, None),
    ],
)
def test_huge_offsets(offset: int, scalar: int, place: int | None) -> None:
    data = memory(1024)
    code = assembled("gfx942", LOAD_TEXTS)[load_text("dword")]
    scalars = whole(data) | {3: scalar}
    end = isa.run("gfx942", code, vgpr={0: offset}, sgpr=scalars, memory=[data])
    want = 0 if place is None else data[place : place + 4].view(np.uint32)[0]
    assert (end.vgpr[4] == want).all()


def test_a_buffer_without_records_is_never_touched() -> None:
    code = (
        "buffer_load_dwordx4 v[4:7], v0, s[8:11], 0 offen\n"
        "buffer_store_dword v4, v0, s[8:11], 0 offen"
    )
    end = isa.run("gfx942", code, vgpr={0: LANES * 4 + 1}, sgpr=resource(0, 0))
    assert not end.vgpr[4:8].any()


def test_records_beyond_the_allocation_fault() -> None:
    data = memory(256)
    code = assembled("gfx942", LOAD_TEXTS)[load_text("dword")]
    scalars = resource(isa.address(data), 1 << 20) | {3: 0}
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", code, vgpr={0: LANES * 4}, sgpr=scalars, memory=[data])
    assert trap.value.kind == "memory fault"
    assert "lane 54" in trap.value.text  # the first whose 4 * lane + 40 is not below 256


@pytest.mark.parametrize("offen", [False, True])
def test_an_index_counts_structures(offen: bool) -> None:
    data = memory(4096)
    index = np.random.default_rng(2).integers(0, 80, 64)
    offset = LANES % 4 * 4
    address = "v[0:1], s[8:11], s3 idxen offen" if offen else "v0, s[8:11], s3 idxen"
    code = f"buffer_load_dword v4, {address} offset:12"
    scalars = resource(isa.address(data), 60, stride=48) | {3: 8}
    registers = {0: index, 1: offset}
    end = isa.run("gfx942", code, vgpr=registers, sgpr=scalars, memory=[data])
    at = 48 * np.minimum(index, 59) + 20 + (offset if offen else 0)
    want = np.where(index < 60, gather(data, at, np.uint32)[:, 0], 0)
    np.testing.assert_array_equal(end.vgpr[4], want)


def test_an_index_without_stride_leaves_the_check_to_bytes() -> None:
    data = memory(256)
    code = "buffer_load_dword v4, v0, s[8:11], 0 idxen offset:16"
    end = isa.run("gfx942", code, vgpr={0: LANES + 1000}, sgpr=whole(data), memory=[data])
    assert (end.vgpr[4] == data[16:20].view(np.uint32)[0]).all()


@pytest.mark.parametrize("text", ["buffer_load_dword v4", "buffer_store_dwordx2 v[4:5]"])
def test_misaligned_dwords_are_faults(text: str) -> None:
    data = memory(256)
    offsets = np.zeros(64, np.uint32)
    offsets[5] = 2
    with pytest.raises(isa.Trap) as trap:
        isa.run(
            "gfx942",
            f"{text}, v0, s[8:11], 0 offen",
            vgpr={0: offsets, 4: 0, 5: 0},
            sgpr=whole(data),
            memory=[data],
        )
    assert trap.value.kind == "memory fault"
    assert "lane 5: misaligned" in trap.value.text


@pytest.mark.parametrize(
    ("modifiers", "noted"), [("", False), ("sc0 nt", False), ("sc0 nt sc1", True)]
)
def test_system_scope_stores_are_noted(modifiers: str, noted: bool) -> None:
    array = np.zeros(1024, np.uint8)
    code = f"buffer_store_dwordx4 v[4:7], v0, s[8:11], 0 offen {modifiers}"
    registers = {0: LANES * 16} | dict(enumerate(random_rows(), 4))
    end = isa.run("gfx942", code, vgpr=registers, sgpr=whole(array), memory=[array])
    assert end.noted == ((isa.address(array), 1024) if noted else (0, 0))


def atomic_text(name: str) -> str:
    rows = atomics.MEMORY_ATOMICS[name][1] // 32
    return f"buffer_atomic_{name} {data_registers(rows, 2)}, v0, s[8:11], 0 offen sc0"


ATOMIC_TEXTS = tuple(map(atomic_text, atomics.MEMORY_ATOMICS))


@pytest.mark.parametrize("name", atomics.MEMORY_ATOMICS)
def test_atomics_happen_inside_only(name: str) -> None:
    operation, bits = atomics.MEMORY_ATOMICS[name]
    array = atomics.values(bits, operation, 16, 1)
    data = atomics.values(bits, operation, 64, 2)
    words = np.random.default_rng(3).integers(0, 24, 64)
    mask = sum(1 << lane for lane in range(64) if words[lane] < 16)
    after, old = atomics.in_lane_order(
        atomics.operations(bits)[operation], array, words, data, data, mask
    )
    end = isa.run(
        "gfx950",
        assembled("gfx950", ATOMIC_TEXTS)[atomic_text(name)],
        vgpr={0: words * (bits // 8)} | rows_of(data, 2),
        sgpr=whole(array),
        memory=[array],
    )
    np.testing.assert_array_equal(array, after)
    np.testing.assert_array_equal(end.vgpr[2] if bits == 32 else end.v64(2), old)


def test_an_atomic_returns_nothing_unless_asked() -> None:
    array = np.zeros(64, np.uint32)
    code = "buffer_atomic_add v2, v0, s[8:11], 0 offen"
    end = isa.run("gfx942", code, vgpr={0: LANES * 4, 2: LANES}, sgpr=whole(array), memory=[array])
    np.testing.assert_array_equal(array, LANES)
    np.testing.assert_array_equal(end.vgpr[2], LANES)


def private_segment(scratch: np.ndarray) -> dict[int, int]:
    """The descriptor that launches give to gfx90a kernels: interleaved by dwords over 64 lanes."""
    add_tid, stride_64, element_4 = 1 << 23, 3 << 21, 1 << 19
    base = resource(isa.address(scratch), scratch.nbytes, word3=add_tid | stride_64 | element_4)
    return base | {9: base[9] | SWIZZLE}


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", ["byte", "short", "dword", "dwordx3"])
def test_the_private_segment_is_the_waves_scratch(name: str, mask: int) -> None:
    """The stack pointer counts the bytes of all lanes, other offsets those of one lane."""
    scratch, data, offsets = np.zeros(64 * 64, np.uint8), random_rows(), LANES % 8 * 4
    store = f"buffer_store_{name} {data_registers(max(STORES[name][0] // 4, 1))}"
    load = {"byte": "ubyte", "short": "ushort"}.get(name, name)
    rows = LOADS[load][1]
    end = isa.run(
        "gfx90a",
        f"{store}, v0, s[8:11], s3 offen offset:8\n"
        f"buffer_load_{load} {data_registers(rows, 8)}, v0, s[8:11], s3 offen offset:8",
        vgpr={0: offsets} | dict(enumerate(data, 4)),
        sgpr=private_segment(scratch) | {3: 64 * 12},
        scratch=scratch,
        scratch_lane_bytes=64,
        exec_mask=mask,
    )
    own = scratch.reshape(16, 64, 4).transpose(1, 0, 2).reshape(64, 64)  # [lane, byte]
    flat_offsets = LANES * 64 + offsets + 20
    want = stored(np.zeros(4096, np.uint8), flat_offsets, name, data, mask)
    np.testing.assert_array_equal(own.reshape(-1), want)
    values = np.where(active(mask), loaded(want, flat_offsets, load), isa.POISON)
    np.testing.assert_array_equal(end.vgpr[8 : 8 + rows], values)


def test_the_private_segment_ends() -> None:
    scratch = np.zeros(64 * 16, np.uint8)
    with pytest.raises(isa.Trap) as trap:
        isa.run(
            "gfx90a",
            "buffer_store_dwordx2 v[4:5], off, s[8:11], 0 offset:12",
            vgpr={4: 0, 5: 0},
            sgpr=private_segment(scratch),
            scratch=scratch,
            scratch_lane_bytes=16,
        )
    assert trap.value.kind == "memory fault"
    assert "lane 0" in trap.value.text
    assert "16 bytes of scratch" in trap.value.text


@pytest.mark.parametrize(("bit", "word", "text"), [(31, 9, "swizzle"), (23, 11, "ADD_TID")])
def test_descriptors_that_are_not_modelled_are_refused(bit: int, word: int, text: str) -> None:
    data = memory(256)
    scalars = whole(data)
    scalars[word] |= 1 << bit
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "buffer_load_dword v4, off, s[8:11], 0", sgpr=scalars, memory=[data])
    assert trap.value.kind == "unsupported modifier"
    assert text in trap.value.text


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("gfx942", "buffer_wbl2 sc1\nbuffer_inv sc1"),
        ("gfx90a", "buffer_wbl2\nbuffer_invl2\nbuffer_wbinvl1\nbuffer_wbinvl1_vol"),
    ],
)
def test_cache_operations_do_nothing(target: str, code: str) -> None:
    end = isa.run(target, code)
    assert end.effects == isa.run(target, b"").effects


def test_formatted_accesses_are_refused_by_name() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "buffer_load_format_x v4, off, s[8:11], 0", sgpr=resource(0, 0))
    assert trap.value.kind == "unsupported instruction"
    assert "buffer_load_format_x" in trap.value.text
