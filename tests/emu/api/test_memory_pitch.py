"""Memory for rows (api/memory_pitch.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip

INVALID, OUT_OF_MEMORY = 1, 2


def pitched(call: str, *args: int) -> tuple[int, int, int]:
    """Code, address and pitch."""
    pointer, pitch = ctypes.c_uint64(7), ctypes.c_size_t(7)
    result = hip.code(call, ctypes.byref(pointer), ctypes.byref(pitch), *args)
    return result, pointer.value, pitch.value


@pytest.mark.parametrize("call, extra", [("hipMallocPitch", ()), ("hipMemAllocPitch", (4,))])
@pytest.mark.parametrize("width, pitch", [(1, 256), (256, 256), (257, 512)])
def test_rows_start_at_multiples_of_the_alignment(call, extra, width, pitch):
    result, pointer, found = pitched(call, width, 4, *extra)
    assert (result, found) == (0, pitch)
    size = ctypes.c_size_t()
    hip.ok("hipMemGetAddressRange", None, ctypes.byref(size), pointer)
    assert size.value == 4 * pitch
    hip.ok("hipFree", pointer)


def test_codes_of_two_dimensions():
    assert pitched("hipMallocPitch", 0, 4)[:2] == (0, 0)
    assert pitched("hipMallocPitch", 4, 0)[:2] == (0, 0)
    assert pitched("hipMallocPitch", 1 << 40, 1 << 40)[:2] == (OUT_OF_MEMORY, 0)
    assert pitched("hipMemAllocPitch", 0, 4, 4)[:2] == (INVALID, 0)
    assert pitched("hipMemAllocPitch", 4, 0, 4)[:2] == (INVALID, 0)
    assert pitched("hipMemAllocPitch", 4, 4, 2)[:2] == (INVALID, 0)
    for call, extra in (("hipMallocPitch", ()), ("hipMemAllocPitch", (4,))):
        assert hip.code(call, None, ctypes.byref(ctypes.c_size_t()), 4, 4, *extra) == INVALID
        assert hip.code(call, ctypes.byref(ctypes.c_uint64()), None, 4, 4, *extra) == INVALID


def test_three_dimensions():
    box = hip.PitchedPtr(7, 7, 7, 7)
    hip.ok("hipMalloc3D", ctypes.byref(box), hip.Extent(300, 4, 2))
    assert (box.pitch, box.xsize, box.ysize) == (512, 300, 4)
    size = ctypes.c_size_t()
    hip.ok("hipMemPtrGetInfo", box.ptr, ctypes.byref(size))
    assert size.value == 512 * 4 * 2
    hip.ok("hipFree", box.ptr)
    hip.ok("hipMalloc3D", ctypes.byref(box), hip.Extent(300, 0, 2))
    assert box.ptr is None
    huge = hip.Extent(1 << 40, 1 << 40, 1 << 40)
    assert hip.code("hipMalloc3D", ctypes.byref(box), huge) == OUT_OF_MEMORY
    assert hip.code("hipMalloc3D", None, hip.Extent(1, 1, 1)) == INVALID


@pytest.mark.parametrize("call", ["hipMallocHost", "hipMemAllocHost"])
def test_other_names_of_pinned_memory(call):
    pointer = hip.out(call, 64)
    flags = ctypes.c_uint(7)
    hip.ok("hipHostGetFlags", ctypes.byref(flags), pointer)
    assert flags.value == 0
    hip.ok("hipFreeHost", pointer)
    assert hip.out(call, 0) == 0
    assert hip.code(call, None, 64) == INVALID
    assert hip.code("hipFreeHost", bytes(8)) == INVALID
