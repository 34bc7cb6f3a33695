"""FLAT: every lane on its own in device memory, LDS or scratch."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import atomics, isa
from helpers.lanes import (
    LANES,
    LOADS,
    SOME_LANES,
    STORES,
    active,
    addresses,
    assembled,
    data_registers,
    loaded,
    memory,
    random_rows,
    rows_of,
    stored,
)

SHARED, PRIVATE = 0x10000 << 32, 0x20000 << 32


def load_text(name: str) -> str:
    return f"flat_load_{name} {data_registers(LOADS[name][1])}, v[0:1]"


def store_text(name: str) -> str:
    return f"flat_store_{name} v[0:1], {data_registers(max(STORES[name][0] // 4, 1))} offset:3"


LOAD_TEXTS = tuple(load_text(name) for name in LOADS)
STORE_TEXTS = tuple(store_text(name) for name in STORES)


def flat(addresses: np.ndarray) -> dict[int, np.ndarray]:
    """Registers v0 and v1 with these 64-bit addresses."""
    return rows_of(addresses.astype(np.uint64), 0)


def lane_scratch(scratch: np.ndarray) -> np.ndarray:
    """[lane, byte]: scratch holds dword after dword, each of all lanes."""
    return scratch.reshape(-1, 64, 4).transpose(1, 0, 2).reshape(64, -1)


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", LOADS)
def test_loads_from_device_memory(name: str, mask: int) -> None:
    data, offsets = memory(), LANES * 100 + 5
    code = assembled("gfx942", LOAD_TEXTS)[load_text(name)]
    registers = addresses(data, offsets)
    end = isa.run("gfx942", code, vgpr=registers, memory=[data], exec_mask=mask)
    want = np.where(active(mask), loaded(data, offsets, name), isa.POISON)
    np.testing.assert_array_equal(end.vgpr[4 : 4 + len(want)], want)


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize("name", STORES)
def test_stores_to_device_memory(name: str, mask: int) -> None:
    array, offsets, data = memory(), LANES * 40, random_rows()
    want = stored(array, offsets + 3, name, data, mask)
    code = assembled("gfx942", STORE_TEXTS)[store_text(name)]
    registers = addresses(array, offsets) | dict(enumerate(data, 4))
    isa.run("gfx942", code, vgpr=registers, memory=[array], exec_mask=mask)
    np.testing.assert_array_equal(array, want)


def mixed_addresses(array: np.ndarray) -> np.ndarray:
    """Lane l uses device memory, LDS or scratch by l % 3, at byte offset 4 * l (scratch: 8)."""
    places = [isa.address(array), SHARED, PRIVATE + 8]
    own = [places[lane % 3] + (0 if lane % 3 == 2 else 4 * lane) for lane in range(64)]
    return np.array(own, np.uint64)


@pytest.mark.parametrize("target", isa.TARGETS)
@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
def test_one_instruction_may_store_to_three_memories(target: str, mask: int) -> None:
    array, lds = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    registers = flat(mixed_addresses(array)) | {4: LANES + 1}
    end = isa.run(
        target,
        "flat_store_dword v[0:1], v4",
        vgpr=registers,
        memory=[array],
        lds=lds.view(np.uint8),
        scratch_lane_bytes=16,
        exec_mask=mask,
    )
    where = [np.where(active(mask) & (place == LANES % 3), LANES + 1, 0) for place in range(3)]
    np.testing.assert_array_equal(array, where[0])
    np.testing.assert_array_equal(end.lds.view(np.uint32), where[1])
    scratch = lane_scratch(end.scratch)[:, 8:12].copy().view(np.uint32)[:, 0]
    np.testing.assert_array_equal(scratch, np.where(where[2] != 0, where[2], isa.POISON))


def test_one_instruction_may_load_from_three_memories() -> None:
    array, lds = LANES + 1000, LANES + 2000
    registers = flat(mixed_addresses(array)) | {4: LANES + 3000, 6: 0}
    code = "scratch_store_dword off, v4, off offset:8\nflat_load_dword v5, v[0:1]"
    end = isa.run(
        "gfx942",
        code,
        vgpr=registers,
        memory=[array],
        lds=lds.view(np.uint8),
        scratch_lane_bytes=16,
    )
    np.testing.assert_array_equal(end.vgpr[5], LANES + 1000 * (1 + LANES % 3))


def atomic_text(name: str) -> str:
    rows = atomics.MEMORY_ATOMICS[name][1] // 32
    return f"flat_atomic_{name} {data_registers(rows, 4)}, v[0:1], {data_registers(rows, 2)} sc0"


ATOMIC_TEXTS = tuple(map(atomic_text, atomics.MEMORY_ATOMICS))


@pytest.mark.parametrize("name", atomics.MEMORY_ATOMICS)
def test_atomics_in_device_memory(name: str) -> None:
    operation, bits = atomics.MEMORY_ATOMICS[name]
    array = atomics.values(bits, operation, 16, 1)
    data = atomics.values(bits, operation, 64, 2)
    words = np.random.default_rng(3).integers(0, 16, 64)
    after, old = atomics.in_lane_order(
        atomics.operations(bits)[operation], array, words, data, data, SOME_LANES
    )
    end = isa.run(
        "gfx942",
        assembled("gfx942", ATOMIC_TEXTS)[atomic_text(name)],
        vgpr=addresses(array, words * (bits // 8)) | rows_of(data, 2),
        memory=[array],
        exec_mask=SOME_LANES,
    )
    np.testing.assert_array_equal(array, after)
    got = end.vgpr[4] if bits == 32 else end.v64(4)
    np.testing.assert_array_equal(got[active(SOME_LANES)], old[active(SOME_LANES)])


@pytest.mark.parametrize("operation", ["add", "umax", "swap", "dec"])
def test_atomics_in_three_memories(operation: str) -> None:
    array, lds = LANES.copy(), LANES.copy()
    registers = flat(mixed_addresses(array)) | {4: 7}
    code = (
        "scratch_store_dword off, v5, off offset:8\n"
        f"flat_atomic_{operation} v6, v[0:1], v4 sc0\n"
        "scratch_load_dword v7, off, off offset:8"
    )
    end = isa.run(
        "gfx942",
        code,
        vgpr=registers | {5: LANES},
        memory=[array],
        lds=lds.view(np.uint8),
        scratch_lane_bytes=16,
    )
    apply = atomics.operations(32)[operation]
    after = np.array([apply(int(lane), 7, 0) for lane in LANES])
    np.testing.assert_array_equal(end.vgpr[6], LANES)
    for place, words in enumerate((array, end.lds.view(np.uint32), end.vgpr[7])):
        np.testing.assert_array_equal(words, np.where(place == LANES % 3, after, LANES))


@pytest.mark.parametrize("bits", [32, 64])
def test_cmpswap_takes_the_new_value_first(bits: int) -> None:
    array = (np.arange(64) % 3).astype(f"u{bits // 8}")
    before = array.copy()
    new, compare = np.arange(64, dtype=array.dtype) + 1000, np.full_like(array, 1)
    rows = bits // 32
    name = "cmpswap" + ("_x2" if rows == 2 else "")
    operands = f"{data_registers(rows, 8)}, v[0:1], {data_registers(2 * rows, 2)}"
    isa.run(
        "gfx942",
        f"flat_atomic_{name} {operands} sc0",
        vgpr=addresses(array, LANES * (bits // 8)) | rows_of(new, 2) | rows_of(compare, 2 + rows),
        memory=[array],
    )
    np.testing.assert_array_equal(array, np.where(before == 1, new, before))


@pytest.mark.parametrize(
    ("place", "kind"),
    [(SHARED + 62, "LDS fault"), (PRIVATE + 14, "memory fault"), (64, "memory fault")],
)
def test_each_memory_has_its_own_end(place: int, kind: str) -> None:
    own = np.full(64, SHARED, np.uint64)
    own[19] = place
    with pytest.raises(isa.Trap) as trap:
        isa.run(
            "gfx942", "flat_load_dword v4, v[0:1]", vgpr=flat(own), lds=bytes(64),
            scratch_lane_bytes=16,
        )  # fmt: skip
    assert trap.value.kind == kind
    assert "lane 19" in trap.value.text


def test_wide_atomics_on_scratch_are_refused() -> None:
    registers = flat(np.full(64, PRIVATE, np.uint64)) | {4: 0, 5: 0}
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "flat_atomic_add_x2 v[0:1], v[4:5]", vgpr=registers,
                scratch_lane_bytes=16)  # fmt: skip
    assert trap.value.kind == "unsupported instruction"
    assert "scratch" in trap.value.text
