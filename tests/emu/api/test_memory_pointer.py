"""Questions about single pointers (api/memory_pointer.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip

INVALID, NOT_SUPPORTED = 1, 801
HOST, DEVICE, MANAGED = 1, 2, 3
TYPE, ON_DEVICE, ON_HOST, SYNC, ID, IS_MANAGED, ORDINAL = 2, 3, 4, 6, 7, 8, 9
START, SIZE, MAPPED = 11, 12, 13


def ask(attribute: int, pointer) -> tuple[int, int]:
    """Code and value of an attribute."""
    data = ctypes.c_uint64(0)
    return hip.code("hipPointerGetAttribute", ctypes.byref(data), attribute, pointer), data.value


def test_device_memory(out):
    inside = out + 16
    assert ask(TYPE, inside) == (0, DEVICE)
    assert ask(ON_DEVICE, inside) == (0, inside)
    assert ask(ON_HOST, inside) == (INVALID, 0)
    assert ask(SYNC, inside) == (0, 0)
    assert ask(IS_MANAGED, inside) == (0, 0)
    assert ask(ORDINAL, inside) == (0, 0)
    assert ask(START, inside) == (0, out)
    assert ask(SIZE, inside) == (0, 256)
    assert ask(MAPPED, inside) == (0, 1)
    assert ask(ID, inside) == ask(ID, out)
    assert ask(ID, out)[1] > 0


@pytest.mark.parametrize(
    "call, flags, kind", [("hipHostMalloc", 0, HOST), ("hipMallocManaged", 1, MANAGED)]
)
def test_memory_that_the_host_sees(call, flags, kind):
    pointer = hip.out(call, 64, flags)
    assert ask(TYPE, pointer) == (0, kind)
    assert ask(ON_HOST, pointer) == (0, pointer)
    assert ask(IS_MANAGED, pointer) == (0, int(kind == MANAGED))
    hip.ok("hipFree", pointer)


@pytest.mark.parametrize("attribute", [TYPE, ON_DEVICE, ON_HOST, ID, IS_MANAGED, START, SIZE])
def test_unknown_memory_is_an_invalid_value_with_nothing(attribute):
    assert ask(attribute, bytes(8)) == (INVALID, 0)


@pytest.mark.parametrize("attribute", [1, 5, 10, 14, 15, 16, 17])
def test_attributes_that_hip_lacks(out, attribute):
    assert ask(attribute, out)[0] == NOT_SUPPORTED


def test_other_codes(out):
    assert ask(0, out)[0] == INVALID
    assert ask(99, out)[0] == INVALID
    assert ask(TYPE, None)[0] == INVALID
    assert hip.code("hipPointerGetAttribute", None, TYPE, out) == INVALID


def test_several_at_once(out):
    kinds = (ctypes.c_int * 3)(TYPE, 1, START)
    values = [ctypes.c_uint64() for _ in kinds]
    places = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
    hip.ok("hipDrvPointerGetAttributes", 3, kinds, places, out + 4)
    assert [value.value for value in values] == [DEVICE, 0, out]
    hip.ok("hipDrvPointerGetAttributes", 3, kinds, places, bytes(8))
    assert [value.value for value in values] == [0, 0, 0]
    for arguments in ((0, kinds, places, out), (3, None, places, out), (3, kinds, None, out)):
        assert hip.code("hipDrvPointerGetAttributes", *arguments) == INVALID
    assert hip.code("hipDrvPointerGetAttributes", 3, kinds, places, None) == INVALID


@pytest.mark.parametrize("flags", [0, 1, 2, 0x40000000])
def test_flags_of_pinned_memory(flags):
    pointer, found = hip.out("hipHostMalloc", 64, flags), ctypes.c_uint(7)
    hip.ok("hipHostGetFlags", ctypes.byref(found), pointer + 8)
    assert found.value == flags
    assert hip.code("hipHostGetFlags", None, pointer) == INVALID
    hip.ok("hipHostFree", pointer)


def test_flags_of_other_memory(out):
    found = ctypes.c_uint(7)
    assert hip.code("hipHostGetFlags", ctypes.byref(found), out) == INVALID
    assert hip.code("hipHostGetFlags", ctypes.byref(found), bytes(8)) == INVALID
    assert hip.code("hipHostGetFlags", ctypes.byref(found), None) == INVALID


def test_size_of_an_allocation(out):
    size = ctypes.c_size_t()
    hip.ok("hipMemPtrGetInfo", out, ctypes.byref(size))
    assert size.value == 256
    assert hip.code("hipMemPtrGetInfo", out, None) == INVALID
    assert hip.code("hipMemPtrGetInfo", bytes(8), ctypes.byref(size)) == INVALID
