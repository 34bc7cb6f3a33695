"""SCRATCH: address forms, widths, the layout of lanes, the end of a lane's memory."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import isa
from helpers.lanes import (
    LANES,
    LOADS,
    SOME_LANES,
    STORES,
    active,
    assembled,
    data_registers,
    random_rows,
)

SIZE = 64  # bytes a lane


def lane_scratch(scratch: np.ndarray) -> np.ndarray:
    """[lane, byte]: scratch holds dword after dword, each of all lanes."""
    return scratch.reshape(-1, 64, 4).transpose(1, 0, 2).reshape(64, -1)


FORMS = {  # target -> address operands of a store and of a load -> offset of each lane
    "gfx942": {
        ("off, {data}, off offset:8", "{data}, off, off offset:8"): lambda _: 8,
        ("off, {data}, s3 offset:8", "{data}, off, s3 offset:8"): lambda _: 20,
        ("v0, {data}, off offset:8", "{data}, v0, off offset:8"): lambda lane: 4 * (lane % 8) + 8,
        ("v0, {data}, s3 offset:-4", "{data}, v0, s3 offset:-4"): lambda lane: 4 * (lane % 8) + 8,
    },
    "gfx90a": {
        ("off, {data}, s3 offset:8", "{data}, off, s3 offset:8"): lambda _: 20,
        ("v0, {data}, off offset:8", "{data}, v0, off offset:8"): lambda lane: 4 * (lane % 8) + 8,
    },
}
FORMS["gfx950"] = FORMS["gfx942"]
CASES = [(target, *form) for target, forms in FORMS.items() for form in forms]


@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
@pytest.mark.parametrize(("target", "store", "load"), CASES)
def test_address_forms(target: str, store: str, load: str, mask: int) -> None:
    offset = FORMS[target][store, load]
    code = (
        f"scratch_store_dwordx2 {store.format(data='v[4:5]')}\n"
        f"scratch_load_dwordx2 {load.format(data='v[6:7]')}"
    )
    registers = {0: 4 * (LANES % 8), 4: LANES + 100, 5: LANES + 200}
    end = isa.run(
        target, code, vgpr=registers, sgpr={3: 12}, scratch_lane_bytes=SIZE, exec_mask=mask
    )
    want = np.full((64, SIZE), isa.POISON & 0xFF, np.uint8)
    for lane in np.flatnonzero(active(mask)):
        words = np.array([lane + 100, lane + 200], np.uint32)
        want[lane, offset(lane) : offset(lane) + 8] = words.view(np.uint8)
    np.testing.assert_array_equal(lane_scratch(end.scratch), want)
    for row in (0, 1):
        loaded = np.where(active(mask), registers[4 + row], isa.POISON)
        np.testing.assert_array_equal(end.vgpr[6 + row], loaded)


def store_text(name: str) -> str:
    return f"scratch_store_{name} v0, {data_registers(max(STORES[name][0] // 4, 1))}, off"


def load_text(name: str) -> str:
    return f"scratch_load_{name} {data_registers(LOADS[name][1], 8)}, v0, off"


FILL = [
    "scratch_store_dwordx4 off, v[4:7], off",
    "scratch_store_dwordx4 off, v[4:7], off offset:16",
]
TEXTS = (*map(store_text, STORES), *map(load_text, LOADS))


@pytest.mark.parametrize("alignment", [4, 1])
@pytest.mark.parametrize("name", STORES)
def test_stores_of_every_width(name: str, alignment: int) -> None:
    size, shift = STORES[name]
    offsets, data = LANES % 10 * alignment + 4 - alignment, random_rows()
    code = assembled("gfx942", TEXTS)[store_text(name)]
    registers = {0: offsets} | dict(enumerate(data, 4))
    end = isa.run("gfx942", code, vgpr=registers, scratch_lane_bytes=SIZE)
    want = np.full((64, SIZE), isa.POISON & 0xFF, np.uint8)
    lane_bytes = np.ascontiguousarray((data >> np.uint32(shift)).T).view(np.uint8)
    for lane in range(64):
        want[lane, offsets[lane] : offsets[lane] + size] = lane_bytes[lane, :size]
    np.testing.assert_array_equal(lane_scratch(end.scratch), want)


@pytest.mark.parametrize("alignment", [4, 1])
@pytest.mark.parametrize("name", LOADS)
def test_loads_of_every_width(name: str, alignment: int) -> None:
    dtype, rows = LOADS[name]
    offsets, data = LANES % 4 * alignment, random_rows()
    texts = assembled("gfx942", TEXTS)
    fill = b"".join(isa.assemble("gfx942", FILL))
    registers = {0: offsets} | dict(enumerate(data, 4))
    end = isa.run("gfx942", fill + texts[load_text(name)], vgpr=registers, scratch_lane_bytes=SIZE)
    lanes = np.tile(np.ascontiguousarray(data.T).view(np.uint8), 2)
    size = np.dtype(dtype).itemsize * rows
    own = np.stack([lanes[lane, offsets[lane] : offsets[lane] + size] for lane in range(64)])
    want = own.view(dtype).astype(np.int64).astype(np.uint32).T
    np.testing.assert_array_equal(end.vgpr[8 : 8 + rows], want)


@pytest.mark.parametrize(("offset", "good"), [(60, True), (61, False), (64, False), (-4, False)])
def test_the_end_of_a_lanes_memory(offset: int, good: bool) -> None:
    offsets = np.zeros(64, np.int64)
    offsets[63] = offset
    code = isa.assemble("gfx942", ["scratch_load_dword v1, v0, off"])[0]
    if good:
        isa.run("gfx942", code, vgpr={0: offsets}, scratch_lane_bytes=SIZE)
        return
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", code, vgpr={0: offsets}, scratch_lane_bytes=SIZE)
    assert trap.value.kind == "memory fault"
    assert "lane 63" in trap.value.text
    assert "64 bytes of scratch" in trap.value.text


def test_rewriting_the_same_value_has_no_effect() -> None:
    once = "scratch_store_dword off, v4, off"
    first = isa.run("gfx942", once, vgpr={4: LANES}, scratch_lane_bytes=SIZE).effects
    twice = isa.run("gfx942", f"{once}\n{once}", vgpr={4: LANES}, scratch_lane_bytes=SIZE).effects
    assert twice == first
