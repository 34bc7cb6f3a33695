"""Advice on managed memory and prefetches (api/memory_advice.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip

INVALID, INVALID_DEVICE, NOT_SUPPORTED = 1, 101, 801
CPU, NOWHERE = -1, -2
READ_MOSTLY, PREFERRED, ACCESSED_BY, LAST_PREFETCH, COHERENCY = 1, 2, 3, 4, 100
NBYTES = 1 << 16


@pytest.fixture
def managed():
    """Give managed memory."""
    address = hip.out("hipMallocManaged", NBYTES, 1)
    yield address
    hip.ok("hipFree", address)


def told(attribute: int, pointer: int, nbytes: int = NBYTES) -> int:
    data = ctypes.c_int(77)
    hip.ok("hipMemRangeGetAttribute", ctypes.byref(data), 4, attribute, pointer, nbytes)
    return data.value


def test_nothing_is_said_at_first(managed):
    kinds = (READ_MOSTLY, PREFERRED, ACCESSED_BY, LAST_PREFETCH, COHERENCY)
    assert [told(kind, managed) for kind in kinds] == [0, NOWHERE, NOWHERE, NOWHERE, 0]


@pytest.mark.parametrize(
    "advice, undone, attribute, device, expected, cleared",
    [
        (1, 2, READ_MOSTLY, 0, 1, 0),
        (1, 2, READ_MOSTLY, 99, 1, 0),
        (3, 4, PREFERRED, 0, 0, NOWHERE),
        (3, 4, PREFERRED, CPU, CPU, NOWHERE),
        (5, 6, ACCESSED_BY, 0, 0, NOWHERE),
        (100, 101, COHERENCY, 0, 1, 0),
    ],
)
def test_advice_is_told_again(managed, advice, undone, attribute, device, expected, cleared):
    hip.ok("hipMemAdvise", managed, NBYTES, advice, device)
    assert told(attribute, managed) == expected
    hip.ok("hipMemAdvise", managed, NBYTES, undone, device)
    assert told(attribute, managed) == cleared


def test_a_range_has_what_all_of_it_has(managed):
    hip.ok("hipMemAdvise", managed, NBYTES, 3, 0)
    hip.ok("hipMemAdvise", managed + 4096, 4096, 3, CPU)
    hip.ok("hipMemAdvise", managed, 4096, 1, 0)
    assert told(PREFERRED, managed, 4096) == 0
    assert told(PREFERRED, managed + 4096, 4096) == CPU
    assert told(PREFERRED, managed) == NOWHERE
    assert told(READ_MOSTLY, managed, 4096) == 1
    assert told(READ_MOSTLY, managed, 4097) == 0


def test_places_by_location(managed):
    hip.ok("hipMemAdvise_v2", managed, NBYTES, 3, hip.MemLocation(2, 0))
    assert told(PREFERRED, managed) == CPU
    hip.ok("hipMemPrefetchAsync_v2", managed, NBYTES, hip.MemLocation(1, 0), 0, None)
    assert told(LAST_PREFETCH, managed) == 0
    nowhere = hip.MemLocation(0, 0)
    assert hip.code("hipMemAdvise_v2", managed, NBYTES, 3, nowhere) == INVALID
    flags = ("hipMemPrefetchAsync_v2", managed, NBYTES, hip.MemLocation(1, 0), 1, None)
    assert hip.code(*flags) == INVALID


def test_prefetches_change_no_bytes(managed, stream):
    ctypes.memset(managed, 5, NBYTES)
    hip.ok("hipMemPrefetchAsync", managed, NBYTES, 0, stream)
    hip.ok("hipStreamSynchronize", stream)
    assert told(LAST_PREFETCH, managed) == 0
    hip.ok("hipMemPrefetchAsync", managed, NBYTES, CPU, None)
    assert told(LAST_PREFETCH, managed) == CPU
    assert ctypes.string_at(managed, NBYTES) == b"\5" * NBYTES


def test_new_memory_at_an_old_address_has_no_old_advice():
    for _ in range(3):
        address = hip.out("hipMallocManaged", 64, 1)
        assert told(READ_MOSTLY, address, 64) == 0
        hip.ok("hipMemAdvise", address, 64, 1, 0)
        hip.ok("hipFree", address)


def test_codes_of_advice(managed, out):
    assert hip.code("hipMemAdvise", None, 64, 1, 0) == INVALID
    assert hip.code("hipMemAdvise", managed, 0, 1, 0) == INVALID
    assert hip.code("hipMemAdvise", managed, NBYTES + 1, 1, 0) == INVALID
    assert hip.code("hipMemAdvise", managed, 64, 7, 0) == INVALID
    assert hip.code("hipMemAdvise", managed, 64, 3, 99) == INVALID_DEVICE
    assert hip.code("hipMemAdvise", out, 64, 1, 0) == INVALID


def test_codes_of_prefetches(managed, out):
    host = bytes(64)
    assert hip.code("hipMemPrefetchAsync", None, 64, 0, None) == INVALID
    assert hip.code("hipMemPrefetchAsync", managed, 0, 0, None) == INVALID
    assert hip.code("hipMemPrefetchAsync", managed, NBYTES + 1, 0, None) == INVALID
    assert hip.code("hipMemPrefetchAsync", managed, 64, 99, None) == INVALID_DEVICE
    assert hip.code("hipMemPrefetchAsync", host, 64, 0, None) == NOT_SUPPORTED
    assert hip.code("hipMemPrefetchAsync", host, 64, CPU, None) == 0
    assert hip.code("hipMemPrefetchAsync", out, 64, 0, None) == 0


def test_codes_of_questions(managed, out):
    data = (ctypes.c_int * 4)()
    ask = "hipMemRangeGetAttribute"
    assert hip.code(ask, None, 4, READ_MOSTLY, managed, 64) == INVALID
    assert hip.code(ask, data, 0, READ_MOSTLY, managed, 64) == INVALID
    assert hip.code(ask, data, 8, READ_MOSTLY, managed, 64) == INVALID
    assert hip.code(ask, data, 6, ACCESSED_BY, managed, 64) == INVALID
    assert hip.code(ask, data, 4, 5, managed, 64) == INVALID
    assert hip.code(ask, data, 4, READ_MOSTLY, None, 64) == INVALID
    assert hip.code(ask, data, 4, READ_MOSTLY, managed, 0) == INVALID
    assert hip.code(ask, data, 4, READ_MOSTLY, out, 64) == INVALID


def test_several_attributes_at_once(managed):
    for device in (0, CPU):
        hip.ok("hipMemAdvise", managed, NBYTES, 5, device)
    kinds, sizes = (ctypes.c_int * 2)(READ_MOSTLY, ACCESSED_BY), (ctypes.c_size_t * 2)(4, 12)
    one, three = ctypes.c_int(9), (ctypes.c_int * 3)(9, 9, 9)
    places = (ctypes.c_void_p * 2)(ctypes.addressof(one), ctypes.addressof(three))
    hip.ok("hipMemRangeGetAttributes", places, sizes, kinds, 2, managed, NBYTES)
    assert (one.value, list(three)) == (0, [CPU, 0, NOWHERE])
    call = "hipMemRangeGetAttributes"
    assert hip.code(call, None, sizes, kinds, 2, managed, NBYTES) == INVALID
    assert hip.code(call, places, sizes, kinds, 0, managed, NBYTES) == INVALID
    places[1] = None
    assert hip.code(call, places, sizes, kinds, 2, managed, NBYTES) == INVALID


def test_attaching_to_a_stream(managed, out, stream):
    attach = "hipStreamAttachMemAsync"
    for flags in (1, 2, 4):
        assert hip.code(attach, stream, managed, 0, flags) == 0
        assert hip.code(attach, stream, managed, NBYTES, flags) == 0
    assert hip.code(attach, None, managed, 0, 1) == 0
    assert hip.code(attach, None, managed, 0, 4) == INVALID
    assert hip.code(attach, stream, managed, 64, 1) == INVALID
    assert hip.code(attach, stream, managed, 0, 3) == INVALID
    assert hip.code(attach, stream, None, 0, 1) == INVALID
    assert hip.code(attach, stream, bytes(8), 0, 1) == INVALID
    assert hip.code(attach, stream, out, 64, 1) == 0
    hip.begin(stream)
    assert hip.code(attach, stream, managed, 0, 1) == 0
    graph = hip.end(stream)
    assert hip.nodes(graph) == []
    hip.ok("hipGraphDestroy", graph)
