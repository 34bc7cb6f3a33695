"""GLOBAL: loads, stores and atomics of device memory, loads into LDS, faults, reports."""

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
    addresses,
    assembled,
    data_registers,
    gather,
    loaded,
    memory,
    random_rows,
    rows_of,
    stored,
)


def load_text(name: str, scalar: bool) -> str:
    rows = LOADS[name][1]
    address = "v0, s[8:9]" if scalar else "v[0:1], off"
    return f"global_load_{name} {data_registers(rows)}, {address} offset:-24"


def store_text(name: str) -> str:
    return (
        f"global_store_{name} v[0:1], {data_registers(max(STORES[name][0] // 4, 1))}, off offset:7"
    )


LOAD_TEXTS = tuple(load_text(name, scalar) for name in LOADS for scalar in (True, False))
STORE_TEXTS = tuple(store_text(name) for name in STORES)
D16_TEXTS = tuple(f"global_load_{name} v4, v[0:1], off" for name in D16)


@pytest.mark.parametrize("target", isa.TARGETS)
@pytest.mark.parametrize("scalar", [True, False])
@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", LOADS)
def test_loads(target: str, name: str, scalar: bool, mask: int) -> None:
    data, offsets = memory(), LANES * 100 + 33
    registers = {0: offsets} if scalar else addresses(data, offsets)
    code = assembled(target, LOAD_TEXTS)[load_text(name, scalar)]
    base = isa.pair(8, isa.address(data))
    end = isa.run(target, code, vgpr=registers, sgpr=base, memory=[data], exec_mask=mask)
    want = np.where(active(mask), loaded(data, offsets - 24, name), isa.POISON)
    np.testing.assert_array_equal(end.vgpr[4 : 4 + len(want)], want)


@pytest.mark.parametrize("name", ["dword", "dwordx2", "dwordx4"])
def test_adjacent_lanes(name: str) -> None:
    rows = LOADS[name][1]
    data = memory()
    code = assembled("gfx942", LOAD_TEXTS)[load_text(name, scalar=False)]
    registers = addresses(data, LANES * 4 * rows + 24)
    end = isa.run("gfx942", code, vgpr=registers, memory=[data])
    want = data[: 256 * rows].view(np.uint32).reshape(64, rows)
    np.testing.assert_array_equal(end.vgpr[4 : 4 + rows], want.T)


@pytest.mark.parametrize("name", D16)
def test_narrow_loads_keep_the_other_half(name: str) -> None:
    dtype, shift = D16[name]
    data, offsets = memory(), LANES * 9
    code = assembled("gfx942", D16_TEXTS)[f"global_load_{name} v4, v[0:1], off"]
    registers = addresses(data, offsets) | {4: 0x12345678}
    end = isa.run("gfx942", code, vgpr=registers, memory=[data])
    half = gather(data, offsets, dtype)[:, 0].astype(np.int64) & 0xFFFF
    want = (0x12345678 & ~(0xFFFF << shift)) | half << shift
    np.testing.assert_array_equal(end.vgpr[4], want.astype(np.uint32))


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", STORES)
def test_stores(name: str, mask: int) -> None:
    array, offsets, data = memory(), LANES * 50, random_rows()
    want = stored(array, offsets + 7, name, data, mask)
    registers = addresses(array, offsets) | dict(enumerate(data, 4))
    code = assembled("gfx942", STORE_TEXTS)[store_text(name)]
    isa.run("gfx942", code, vgpr=registers, memory=[array], exec_mask=mask)
    np.testing.assert_array_equal(array, want)


def test_a_load_may_overwrite_its_address() -> None:
    data = memory()
    code = "global_load_dwordx2 v[0:1], v[0:1], off"
    end = isa.run("gfx942", code, vgpr=addresses(data, LANES * 8), memory=[data])
    want = data[:512].view(np.uint32).reshape(64, 2)
    np.testing.assert_array_equal(end.vgpr[0:2], want.T)


def test_data_may_be_in_accvgprs() -> None:
    data, out = memory(1024), np.zeros(1024, np.uint8)
    code = "global_load_dwordx4 a[4:7], v[0:1], off\nglobal_store_dwordx4 v[2:3], a[4:7], off"
    registers = addresses(data, LANES * 16) | addresses(out, LANES * 16, 2)
    isa.run("gfx942", code, vgpr=registers, memory=[data, out])
    np.testing.assert_array_equal(out, data)


def test_effects_count_changed_bytes_only() -> None:
    array = np.zeros(64, np.uint32)
    code = "global_store_dword v0, v1, s[8:9]"
    base = isa.pair(8, isa.address(array))
    ending = isa.run("gfx942", b"").effects  # what s_endpgm alone counts
    same = isa.run("gfx942", code, vgpr={0: LANES * 4, 1: 0}, sgpr=base, memory=[array])
    assert same.effects == ending
    changed = isa.run("gfx942", code, vgpr={0: LANES * 4, 1: LANES}, sgpr=base, memory=[array])
    assert changed.effects > ending


def test_a_load_tells_what_it_polled() -> None:
    array = np.arange(64, dtype=np.uint32) + 1000
    code = "s_nop 0\nglobal_load_dwordx2 v[2:3], v0, s[8:9] offset:4"
    base = isa.pair(8, isa.address(array))
    end = isa.run("gfx942", code, vgpr={0: LANES * 2}, sgpr=base, memory=[array], exec_mask=0x50)
    assert end.poll.address == isa.address(array) + 12
    assert (end.poll.bytes, end.poll.value, end.poll.access) == (8, 1003, "load")
    assert end.poll.pc_offset == 4


@pytest.mark.parametrize(
    ("modifiers", "noted"), [("", False), ("sc0", False), ("sc1", True), ("sc0 nt sc1", True)]
)
def test_system_and_agent_scope_stores_are_noted(modifiers: str, noted: bool) -> None:
    array = np.zeros(256, np.uint32)
    code = f"global_store_dword v0, v1, s[8:9] offset:64 {modifiers}"
    base = isa.pair(8, isa.address(array))
    registers = {0: LANES * 4, 1: LANES}
    end = isa.run("gfx942", code, vgpr=registers, sgpr=base, memory=[array])
    want = (isa.address(array) + 64, 256) if noted else (0, 0)
    assert end.noted == want


FAULTS = [
    "global_load_dword v4, v[0:1], off",
    "global_load_dwordx4 v[4:7], v[0:1], off",
    "global_store_dwordx2 v[0:1], v[4:5], off",
    "global_atomic_add v[0:1], v4, off",
    "global_load_lds_dword v[0:1], off",
]


@pytest.mark.parametrize("code", FAULTS)
@pytest.mark.parametrize("offset", [-4, 256, 254])
def test_out_of_bounds_is_a_fault_that_names_the_lane(code: str, offset: int) -> None:
    outer = np.zeros(4096, np.uint8)
    array = outer[2048:2304]
    offsets = LANES.astype(np.int64) * 4 % 64
    offsets[41] = offset
    registers = addresses(array, offsets) | {4: 1, 5: 1}
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", code, vgpr=registers, memory=[array], m0=0, lds=bytes(256))
    assert trap.value.kind == "memory fault"
    assert "lane 41" in trap.value.text
    isa.run(
        "gfx942", code, vgpr=registers, memory=[array], m0=0, lds=bytes(256), exec_mask=~(1 << 41)
    )


@pytest.mark.parametrize("code", FAULTS[2:4])
def test_read_only_memory_is_not_written(code: str) -> None:
    array = np.zeros(256, np.uint8)
    registers = addresses(array, LANES % 4 * 8) | {4: 1, 5: 1}
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", code, vgpr=registers, readonly=[array])
    assert trap.value.kind == "memory fault"
    assert not array.any()


def test_no_active_lane_touches_nothing() -> None:
    code = "\n".join(FAULTS)
    end = isa.run("gfx942", code, vgpr=dict.fromkeys(range(8), 0), m0=0, exec_mask=0)
    assert end.status == "ended"


def atomic_texts() -> dict[str, tuple[str, int, bool]]:
    """Assembly text -> operation, bits, returns."""
    texts = {}
    for name, (operation, bits) in atomics.MEMORY_ATOMICS.items():
        data, old = ("v2", "v4") if bits == 32 else ("v[2:3]", "v[4:5]")
        texts[f"global_atomic_{name} v0, {data}, s[8:9]"] = (operation, bits, False)
        texts[f"global_atomic_{name} {old}, v0, {data}, s[8:9] sc0"] = (operation, bits, True)
    return texts


ATOMIC_TEXTS = atomic_texts()


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("text", ATOMIC_TEXTS)
def test_atomics_in_lane_order(text: str, mask: int) -> None:
    operation, bits, returns = ATOMIC_TEXTS[text]
    array = atomics.values(bits, operation, 16, 1)
    data = atomics.values(bits, operation, 64, 2)
    words = np.random.default_rng(4).integers(0, 16, 64)
    after, old = atomics.in_lane_order(
        atomics.operations(bits)[operation], array, words, data, data, mask
    )
    end = isa.run(
        "gfx942",
        assembled("gfx942", tuple(ATOMIC_TEXTS))[text],
        vgpr={0: words * (bits // 8)} | rows_of(data, 2),
        sgpr=isa.pair(8, isa.address(array)),
        memory=[array],
        exec_mask=mask,
    )
    np.testing.assert_array_equal(array, after)
    assert end.noted != (0, 0)
    if returns:
        got = end.vgpr[4] if bits == 32 else end.v64(4)
        np.testing.assert_array_equal(got[active(mask)], old[active(mask)])
        first = int(np.flatnonzero(active(mask))[0])
        assert end.poll.value == int(old[first]) & 0xFFFFFFFF
        assert end.poll.access == "atomic"
    else:
        assert (end.vgpr[4] == isa.POISON).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_cmpswap_takes_the_new_value_first(bits: int) -> None:
    array = (np.arange(64) % 3).astype(f"u{bits // 8}")
    before = array.copy()
    new, compare = np.arange(64, dtype=array.dtype) + 1000, np.full_like(array, 1)
    rows = bits // 32
    name = "cmpswap" + ("_x2" if rows == 2 else "")
    old = "v8" if rows == 1 else "v[8:9]"
    isa_text = f"global_atomic_{name} {old}, v0, v[2:{1 + 2 * rows}], s[8:9] sc0"
    end = isa.run(
        "gfx942",
        isa_text,
        vgpr={0: LANES * (bits // 8)} | rows_of(new, 2) | rows_of(compare, 2 + rows),
        sgpr=isa.pair(8, isa.address(array)),
        memory=[array],
    )
    np.testing.assert_array_equal(array, np.where(before == 1, new, before))
    np.testing.assert_array_equal(end.vgpr[8] if rows == 1 else end.v64(8), before)


@pytest.mark.parametrize("name", ["add", "add_x2", "pk_add_bf16"])
def test_misaligned_atomics_are_faults(name: str) -> None:
    array = np.zeros(64, np.uint64)
    data = "v[2:3]" if name.endswith("x2") else "v2"
    with pytest.raises(isa.Trap) as trap:
        isa.run(
            "gfx942",
            f"global_atomic_{name} v0, {data}, s[8:9] offset:2",
            vgpr={0: 0, 2: 1, 3: 1},
            sgpr=isa.pair(8, isa.address(array)),
            memory=[array],
        )
    assert trap.value.kind == "memory fault"
    assert "misaligned" in trap.value.text
