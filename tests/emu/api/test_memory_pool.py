"""Memory pools and allocation in stream order (api/memory_pool.cpp, api/memory_async.cpp)."""

from __future__ import annotations

import ctypes
import json

import pytest
from helpers import hip_ctypes as hip
from helpers.process import run_python

INVALID, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_HANDLE, NOT_SUPPORTED = 1, 2, 101, 400, 801
FOLLOW, OPPORTUNISTIC, INTERNAL, THRESHOLD = 1, 2, 3, 4
RESERVED, RESERVED_HIGH, USED, USED_HIGH = 5, 6, 7, 8
PAGE = 4096


def properties(**changes) -> hip.MemPoolProps:
    props = hip.MemPoolProps(allocType=1)
    props.location = hip.MemLocation(1, 0)
    for name, value in changes.items():
        setattr(props, name, value)
    return props


@pytest.fixture
def pool():
    """Give a pool of its own that keeps all it gets."""
    made = hip.out("hipMemPoolCreate", ctypes.byref(properties()))
    put(made, THRESHOLD, (1 << 64) - 1)
    yield made
    hip.ok("hipDeviceSynchronize")
    hip.ok("hipMemPoolDestroy", made)


def get(pool: int, attribute: int) -> int:
    value = ctypes.c_uint64(0)
    hip.ok("hipMemPoolGetAttribute", pool, attribute, ctypes.byref(value))
    return value.value


def put(pool: int, attribute: int, value: int) -> int:
    data = ctypes.c_uint64(value)
    return hip.code("hipMemPoolSetAttribute", pool, attribute, ctypes.byref(data))


def take(pool: int, nbytes: int, stream: int) -> int:
    return hip.out("hipMallocFromPoolAsync", nbytes, pool, stream)


def free(pointer: int, stream: int) -> None:
    hip.ok("hipFreeAsync", pointer, stream)
    hip.ok("hipStreamSynchronize", stream)


def available() -> int:
    value = ctypes.c_size_t()
    hip.ok("hipMemGetInfo", ctypes.byref(value), None)
    return value.value


def test_attributes_at_first(pool):
    fresh = hip.out("hipMemPoolCreate", ctypes.byref(properties()))
    assert [get(fresh, a) for a in range(1, 9)] == [1, 1, 1, 0, 0, 0, 0, 0]
    hip.ok("hipMemPoolDestroy", fresh)
    default = hip.out("hipDeviceGetDefaultMemPool", 0)
    assert [get(default, a) for a in (FOLLOW, OPPORTUNISTIC, INTERNAL, THRESHOLD)] == [1, 1, 1, 0]


def test_setting_attributes(pool):
    for attribute in (FOLLOW, OPPORTUNISTIC, INTERNAL):
        assert put(pool, attribute, 0) == 0
        assert get(pool, attribute) == 0
    assert put(pool, THRESHOLD, 1 << 40) == 0
    assert get(pool, THRESHOLD) == 1 << 40
    for attribute in (RESERVED, USED):
        assert put(pool, attribute, 0) == INVALID
    for attribute in (RESERVED_HIGH, USED_HIGH):
        assert put(pool, attribute, 1) == INVALID
        assert put(pool, attribute, 0) == 0
    for attribute in (0, 9):
        assert put(pool, attribute, 0) == INVALID
        value = ctypes.c_uint64()
        assert hip.code("hipMemPoolGetAttribute", pool, attribute, ctypes.byref(value)) == INVALID
    assert hip.code("hipMemPoolGetAttribute", pool, USED, None) == INVALID
    assert hip.code("hipMemPoolSetAttribute", pool, THRESHOLD, None) == INVALID


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({}, 0),
        ({"allocType": 0}, INVALID),
        ({"location": hip.MemLocation(2, 0)}, INVALID),
        ({"location": hip.MemLocation(1, 99)}, INVALID),
        ({"location": hip.MemLocation(1, -1)}, INVALID),
    ],
)
def test_creation(changes, expected):
    made = ctypes.c_uint64(7)
    call = "hipMemPoolCreate"
    assert hip.code(call, ctypes.byref(made), ctypes.byref(properties(**changes))) == expected
    assert (made.value != 0) == (expected == 0)
    if not expected:
        hip.ok("hipMemPoolDestroy", made.value)
    assert hip.code(call, None, ctypes.byref(properties())) == INVALID
    assert hip.code(call, ctypes.byref(made), None) == INVALID


def test_an_unknown_pool_is_an_invalid_value(stream):
    gone = hip.out("hipMemPoolCreate", ctypes.byref(properties()))
    hip.ok("hipMemPoolDestroy", gone)
    value, pointer = ctypes.c_uint64(), ctypes.c_uint64()
    location, flags = hip.MemLocation(1, 0), ctypes.c_int()
    for pool in (None, gone, 12345):
        assert hip.code("hipMemPoolDestroy", pool) == INVALID
        assert hip.code("hipMemPoolTrimTo", pool, 0) == INVALID
        assert hip.code("hipDeviceSetMemPool", 0, pool) == INVALID
        assert hip.code("hipMemPoolGetAttribute", pool, USED, ctypes.byref(value)) == INVALID
        assert hip.code("hipMemPoolSetAttribute", pool, THRESHOLD, ctypes.byref(value)) == INVALID
        assert hip.code("hipMemPoolSetAccess", pool, ctypes.byref(location), 0) == INVALID
        call = ("hipMemPoolGetAccess", ctypes.byref(flags), pool, ctypes.byref(location))
        assert hip.code(*call) == INVALID
        call = ("hipMallocFromPoolAsync", ctypes.byref(pointer), 64, pool, stream)
        assert hip.code(*call) == INVALID


def test_default_and_current_pool(pool, stream):
    default = hip.out("hipDeviceGetDefaultMemPool", 0)
    assert hip.out("hipDeviceGetMemPool", 0) == default
    assert hip.code("hipMemPoolDestroy", default) == INVALID
    hip.ok("hipDeviceSetMemPool", 0, pool)
    assert hip.out("hipDeviceGetMemPool", 0) == pool
    pointer = hip.out("hipMallocAsync", 64, stream)
    assert get(pool, USED) == PAGE
    free(pointer, stream)
    other = hip.out("hipMemPoolCreate", ctypes.byref(properties()))
    hip.ok("hipDeviceSetMemPool", 0, other)
    hip.ok("hipMemPoolDestroy", other)
    assert hip.out("hipDeviceGetMemPool", 0) == default, "the current one was destroyed"
    found = ctypes.c_uint64(7)
    assert hip.code("hipDeviceGetDefaultMemPool", ctypes.byref(found), 99) == INVALID_DEVICE
    assert hip.code("hipDeviceGetMemPool", ctypes.byref(found), 99) == INVALID
    assert hip.code("hipDeviceGetDefaultMemPool", None, 0) == INVALID
    assert hip.code("hipDeviceGetMemPool", None, 0) == INVALID
    assert hip.code("hipDeviceSetMemPool", 99, pool) == INVALID


def test_pools_of_two_devices():
    done = run_python(
        """
        import ctypes, json
        from helpers import hip_ctypes as hip
        pools = [hip.out("hipDeviceGetDefaultMemPool", device) for device in (0, 1)]
        codes = [hip.code("hipDeviceSetMemPool", 0, pools[1])]
        hip.ok("hipSetDevice", 1)
        stream = hip.stream()
        hip.ok("hipSetDevice", 0)
        pointer = hip.out("hipMallocAsync", 64, stream)
        found = hip.PointerAttributes()
        hip.ok("hipPointerGetAttributes", ctypes.byref(found), pointer)
        flags, there = ctypes.c_int(9), hip.MemLocation(1, 1)
        ask = ("hipMemPoolGetAccess", ctypes.byref(flags), pools[0], ctypes.byref(there))
        hip.ok(*ask)
        told = [flags.value]
        access = hip.MemAccessDesc(there, 1)
        hip.ok("hipMemPoolSetAccess", pools[0], ctypes.byref(access), 1)
        hip.ok(*ask)
        told.append(flags.value)
        hip.ok("hipFreeAsync", pointer, stream)
        hip.ok("hipStreamSynchronize", stream)
        print(json.dumps([codes, found.device, told]))
        """,
        HIPGRAPH_EMU_DEVICES="2",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[INVALID_DEVICE], 1, [0, 1]]


def test_what_the_pool_keeps_is_given_up_for_another_size(pool, stream):
    total = ctypes.c_size_t()
    hip.ok("hipMemGetInfo", None, ctypes.byref(total))
    most = total.value // 8 * 5
    pointer = take(pool, most, stream)
    free(pointer, stream)
    assert get(pool, RESERVED) == most
    pointer = take(pool, most + PAGE, stream)
    assert get(pool, RESERVED) == most + PAGE
    free(pointer, stream)


def test_use_reserve_and_high_marks(pool, stream):
    first, second = (take(pool, PAGE, stream) for _ in range(2))
    assert (get(pool, USED), get(pool, RESERVED)) == (2 * PAGE, 2 * PAGE)
    free(first, stream)
    assert (get(pool, USED), get(pool, RESERVED)) == (PAGE, 2 * PAGE)
    assert (get(pool, USED_HIGH), get(pool, RESERVED_HIGH)) == (2 * PAGE, 2 * PAGE)
    hip.ok("hipMemPoolTrimTo", pool, 0)
    assert get(pool, RESERVED) == PAGE
    assert put(pool, USED_HIGH, 0) == put(pool, RESERVED_HIGH, 0) == 0
    assert (get(pool, USED_HIGH), get(pool, RESERVED_HIGH)) == (0, 0)
    free(second, stream)


def test_memory_is_used_again(pool, streams):
    one, two = streams(), streams()
    pointer = take(pool, 1000, one)
    free(pointer, one)
    assert take(pool, 2000, one) == pointer, "the same stream, as many pages"
    free(pointer, one)
    assert take(pool, 1000, two) == pointer, "another stream, opportunistically"
    free(pointer, two)
    assert put(pool, OPPORTUNISTIC, 0) == 0
    other = take(pool, 1000, one)
    assert other != pointer
    assert take(pool, 1000, two) == pointer
    free(pointer, two)
    free(other, one)


def test_the_threshold_is_kept_when_the_host_waits(pool, stream):
    before = available()
    assert put(pool, THRESHOLD, 2 * PAGE) == 0
    pointers = [take(pool, PAGE, stream) for _ in range(4)]
    assert before - available() == 4 * PAGE
    for pointer in pointers:
        hip.ok("hipFreeAsync", pointer, stream)
    hip.ok("hipStreamSynchronize", stream)
    assert (get(pool, USED), get(pool, RESERVED)) == (0, 2 * PAGE)
    hip.ok("hipMemPoolTrimTo", pool, PAGE)
    assert get(pool, RESERVED) == PAGE
    assert put(pool, THRESHOLD, 0) == 0
    hip.ok("hipStreamSynchronize", stream)
    assert get(pool, RESERVED) == 0
    assert available() == before


def test_a_limit_of_size(stream):
    small = hip.out("hipMemPoolCreate", ctypes.byref(properties(maxSize=2 * PAGE)))
    pointer = take(small, PAGE, stream)
    call = ("hipMallocFromPoolAsync", ctypes.byref(ctypes.c_uint64()), 2 * PAGE, small, stream)
    assert hip.code(*call) == OUT_OF_MEMORY
    free(pointer, stream)
    hip.ok("hipMemPoolDestroy", small)


def test_a_destroyed_pool_lives_until_its_memory_is_freed(stream, out):
    before = available()
    pool = hip.out("hipMemPoolCreate", ctypes.byref(properties()))
    pointer = take(pool, 256, stream)
    hip.ok("hipMemPoolDestroy", pool)
    hip.ok("hipMemsetAsync", pointer, 6, 256, stream)
    hip.ok("hipMemcpyAsync", out, pointer, 256, hip.D2D, stream)
    free(pointer, stream)
    assert hip.from_device(out, 256) == b"\6" * 256
    assert available() == before


def test_access(pool):
    def ask(location: hip.MemLocation) -> tuple[int, int]:
        flags = ctypes.c_int(9)
        call = ("hipMemPoolGetAccess", ctypes.byref(flags), pool, ctypes.byref(location))
        return hip.code(*call), flags.value

    def give(kind: int, device: int, flags: int) -> int:
        access = hip.MemAccessDesc(hip.MemLocation(kind, device), flags)
        return hip.code("hipMemPoolSetAccess", pool, ctypes.byref(access), 1)

    assert ask(hip.MemLocation(1, 0)) == (0, 3)
    assert ask(hip.MemLocation(1, 99))[0] == INVALID
    assert ask(hip.MemLocation(2, 0))[0] == INVALID
    assert give(1, 0, 3) == 0
    assert give(1, 0, 0) == INVALID_DEVICE
    assert give(1, 0, 1) == NOT_SUPPORTED
    assert give(1, 0, 2) == INVALID
    assert give(2, 0, 3) == INVALID
    assert give(1, 99, 3) == INVALID_DEVICE
    assert hip.code("hipMemPoolSetAccess", pool, None, 1) == INVALID
    one = hip.MemAccessDesc(hip.MemLocation(1, 0), 3)
    assert hip.code("hipMemPoolSetAccess", pool, ctypes.byref(one), 99) == INVALID_DEVICE
    assert hip.code("hipMemPoolGetAccess", None, pool, ctypes.byref(one)) == INVALID


def test_codes_of_allocation(pool, stream):
    pointer = ctypes.c_uint64(7)
    call = "hipMallocFromPoolAsync"
    assert hip.code(call, ctypes.byref(pointer), 0, pool, stream) == 0
    assert pointer.value == 0
    assert hip.code(call, None, 8, pool, stream) == INVALID
    assert hip.code(call, ctypes.byref(pointer), 1 << 50, pool, stream) == OUT_OF_MEMORY
    assert hip.code(call, ctypes.byref(pointer), 8, pool, 12345) == INVALID_HANDLE
    assert hip.code("hipMallocAsync", ctypes.byref(pointer), 8, 12345) == INVALID_HANDLE
    assert hip.code("hipFreeAsync", None, 12345) == INVALID_HANDLE


def test_a_second_free_is_refused_at_once(stream, gate):
    pointer = hip.out("hipMallocAsync", 64, stream)
    gate.block(stream)
    hip.ok("hipFreeAsync", pointer, stream)
    assert hip.code("hipFreeAsync", pointer, stream) == INVALID
    assert hip.code("hipFree", pointer) == INVALID
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)


def test_a_plain_free_of_pool_memory_does_not_wait(stream, out, gate):
    pointer = hip.out("hipMallocAsync", 256, stream)
    gate.block(stream)
    hip.ok("hipMemsetAsync", pointer, 4, 256, stream)
    hip.ok("hipMemcpyAsync", out, pointer, 256, hip.D2D, stream)
    hip.ok("hipFree", pointer)
    assert hip.code("hipStreamQuery", stream) == 600
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, 256) == b"\4" * 256


def test_memory_stays_flat(pool, stream):
    before = available()
    for round_ in range(2000):
        pointer = take(pool, 1 + 37 * round_ % 9000, stream)
        hip.ok("hipFreeAsync", pointer, stream)
        if round_ % 100 == 99:
            hip.ok("hipStreamSynchronize", stream)
            hip.ok("hipMemPoolTrimTo", pool, 0)
            assert available() == before
    assert get(pool, USED) == get(pool, RESERVED) == 0
