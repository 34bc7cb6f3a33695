"""Loads from device memory straight into LDS: BUFFER with its lds bit, GLOBAL by its own rows."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import isa
from helpers.lanes import LANES, SOME_LANES, active, gather, memory, whole


@pytest.mark.parametrize("target", isa.TARGETS)
@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
def test_buffer_loads(target: str, mask: int) -> None:
    """LDS address: M0 + constant + 4 * lane; active lanes outside of the buffer write zero."""
    data, lds = memory(2048), memory(1024)[::-1].copy()
    offsets = (LANES * 28) ^ 4
    offsets[7], offsets[62] = 0x80000000, 2048
    code = "buffer_load_dword v0, s[8:11], s3 offen offset:16 lds"
    scalars = whole(data) | {3: 8}
    end = isa.run(
        target,
        code,
        vgpr={0: offsets},
        sgpr=scalars,
        memory=[data],
        m0=512,
        lds=lds,
        exec_mask=mask,
    )
    inside = offsets < 2048 - 24
    values = gather(data, np.where(inside, offsets + 24, 0), np.uint32)[:, 0]
    want = lds.copy()
    words = want[528:784].view(np.uint32)
    words[active(mask)] = np.where(inside, values, 0)[active(mask)]
    np.testing.assert_array_equal(end.lds, want)
    assert (end.vgpr[1] == isa.POISON).all()


@pytest.mark.parametrize("dwords", [3, 4])
def test_gfx950_buffer_loads_of_wide_elements(dwords: int) -> None:
    data = memory(4096)
    offsets = (63 - LANES) * 4 * dwords
    code = f"buffer_load_dwordx{dwords} v0, s[8:11], 0 offen lds"
    arguments = {"sgpr": whole(data), "memory": [data], "m0": 256, "lds": bytes(2048)}
    end = isa.run("gfx950", code, vgpr={0: offsets}, **arguments)
    got = end.lds[256 : 256 + 256 * dwords].view(np.uint32).reshape(64, dwords)
    np.testing.assert_array_equal(got, gather(data, offsets, np.uint32, dwords))


def test_narrow_buffer_loads_are_refused() -> None:
    data = memory(256)
    with pytest.raises(isa.Trap) as trap:
        isa.run(
            "gfx942",
            "buffer_load_ubyte v0, s[8:11], 0 offen lds",
            vgpr={0: 0},
            sgpr=whole(data),
            memory=[data],
            m0=0,
            lds=bytes(256),
        )
    assert trap.value.kind == "unsupported modifier"
    assert "lds" in trap.value.text


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("mask", [isa.ALL_LANES, SOME_LANES])
def test_global_loads_add_the_offset_on_both_sides(target: str, mask: int) -> None:
    data, offsets = memory(), (63 - LANES) * 64
    code = "global_load_lds_dword v0, s[8:9] offset:16"
    base = isa.pair(8, isa.address(data))
    lds = memory(1024)[::-1].copy()
    end = isa.run(
        target, code, vgpr={0: offsets}, sgpr=base, memory=[data], m0=512, lds=lds, exec_mask=mask
    )
    want = lds.copy()
    values = gather(data, offsets + 16, np.uint32)[:, 0]
    want[528:784].view(np.uint32)[active(mask)] = values[active(mask)]
    np.testing.assert_array_equal(end.lds, want)


@pytest.mark.parametrize("dwords", [3, 4])
def test_gfx950_global_loads_of_wide_elements(dwords: int) -> None:
    data, offsets = memory(), (63 - LANES) * 64
    code = f"global_load_lds_dwordx{dwords} v0, s[8:9]"
    base = isa.pair(8, isa.address(data))
    arguments = {"sgpr": base, "memory": [data], "m0": 0x10000, "lds": bytes(0x10000 + 2048)}
    end = isa.run("gfx950", code, vgpr={0: offsets}, **arguments)
    want = gather(data, offsets, np.uint32, dwords)
    got = end.lds[0x10000 : 0x10000 + 256 * dwords].view(np.uint32).reshape(64, dwords)
    np.testing.assert_array_equal(got, want)


def test_m0_has_sixteen_address_bits_before_gfx950() -> None:
    data = memory()
    base = isa.pair(8, isa.address(data))
    code = "global_load_lds_dword v0, s[8:9]"
    arguments = {"sgpr": base, "memory": [data], "m0": 0x30000, "lds": bytes(256)}
    end = isa.run("gfx942", code, vgpr={0: LANES * 4}, **arguments)
    np.testing.assert_array_equal(end.lds, data[:256])


def test_loads_into_lds_stay_inside_it() -> None:
    data = memory()
    base = isa.pair(8, isa.address(data))
    with pytest.raises(isa.Trap) as trap:
        isa.run(
            "gfx942",
            "global_load_lds_dword v0, s[8:9]",
            vgpr={0: LANES * 4},
            sgpr=base,
            memory=[data],
            m0=4,
            lds=bytes(256),
        )
    assert trap.value.kind == "LDS fault"


def test_narrow_global_loads_are_refused_by_name() -> None:
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "global_load_lds_ubyte v[0:1], off", vgpr={0: 0, 1: 0}, m0=0)
    assert trap.value.kind == "unsupported instruction"
    assert "global_load_lds_ubyte" in trap.value.text
