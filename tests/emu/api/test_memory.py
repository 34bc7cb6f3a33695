"""Allocation, registration and pointer queries (api/memory.cpp)."""

from __future__ import annotations

import ctypes
import threading

import pytest
from helpers import hip_ctypes as hip

INVALID, OUT_OF_MEMORY, NOT_FOUND, NOT_REGISTERED = 1, 2, 500, 713
HOST, DEVICE, MANAGED = 1, 2, 3


@pytest.mark.parametrize(
    "call, extra",
    [
        ("hipMalloc", ()),
        ("hipExtMallocWithFlags", (3,)),
        ("hipHostMalloc", (0,)),
        ("hipExtHostAlloc", (0,)),
        ("hipHostAlloc", (0,)),
        ("hipMallocAsync", (0,)),
    ],
)
def test_no_bytes_give_null_and_no_out_is_refused(call, extra):
    pointer = ctypes.c_uint64(7)
    assert hip.code(call, ctypes.byref(pointer), 0, *extra) == 0
    assert pointer.value == 0
    assert hip.code(call, None, 8, *extra) == INVALID


def test_more_than_the_device_has_is_out_of_memory():
    pointer = ctypes.c_uint64(7)
    assert hip.code("hipMalloc", ctypes.byref(pointer), 1 << 50) == OUT_OF_MEMORY
    assert pointer.value == 0


@pytest.mark.parametrize(
    "flags, nbytes, expected",
    [
        *((flags, 64, 0) for flags in (0, 1, 3, 4)),
        (2, 8, 0),
        (2, 16, INVALID),
        (5, 64, INVALID),
        (0x80000000, 64, INVALID),
    ],
)
def test_device_memory_of_other_cache_kinds(flags, nbytes, expected):
    pointer = ctypes.c_uint64(7)
    assert hip.code("hipExtMallocWithFlags", ctypes.byref(pointer), nbytes, flags) == expected
    assert (pointer.value != 0) == (expected == 0)
    if expected == 0:
        attributes = hip.PointerAttributes()
        hip.ok("hipPointerGetAttributes", ctypes.byref(attributes), pointer.value)
        assert (attributes.type, attributes.allocationFlags) == (DEVICE, flags)
    hip.ok("hipFree", pointer.value)


@pytest.mark.parametrize(
    "flags, expected",
    [(0, 0), (7, 0), (0x40000000, 0), (0x80000000, 0), (0xC0000000, INVALID), (0x100, INVALID)],
)
def test_host_flags(flags, expected):
    pointer = ctypes.c_uint64(7)
    assert hip.code("hipHostMalloc", ctypes.byref(pointer), 64, flags) == expected
    assert (pointer.value != 0) == (expected == 0)
    hip.ok("hipHostFree", pointer.value)


@pytest.mark.parametrize("call", ["hipFree", "hipHostFree"])
def test_freeing_null_is_nothing_and_unknown_memory_is_refused(call, out):
    assert hip.code(call, None) == 0
    assert hip.code(call, bytes(64)) == INVALID
    assert hip.code(call, out + 16) == INVALID, "an interior pointer"


def test_freed_memory_is_unknown():
    pointer = hip.malloc(64)
    hip.ok("hipFree", pointer)
    assert hip.code("hipFree", pointer) == INVALID
    assert hip.code("hipMemset", pointer, 0, 64) == INVALID


def test_free_waits_for_the_device(stream, out, gate):
    pointer = hip.malloc(256)
    gate.block(stream)
    hip.ok("hipMemsetAsync", pointer, 1, 256, stream)
    hip.ok("hipMemcpyAsync", out, pointer, 256, hip.D2D, stream)
    freed = []
    worker = threading.Thread(target=lambda: freed.append(hip.code("hipFree", pointer)))
    worker.start()
    worker.join(0.1)
    assert not freed
    gate.open_gate()
    worker.join(30)
    assert freed == [0]
    assert hip.from_device(out, 256) == b"\1" * 256


def test_a_stream_ordered_free_comes_after_the_work_before_it(stream, out, gate):
    pointer = hip.out("hipMallocAsync", 256, stream)
    gate.block(stream)
    hip.ok("hipMemsetAsync", pointer, 1, 256, stream)
    hip.ok("hipMemcpyAsync", out, pointer, 256, hip.D2D, stream)
    hip.ok("hipFreeAsync", pointer, stream)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, 256) == b"\1" * 256
    assert hip.code("hipFree", pointer) == INVALID
    assert hip.code("hipFreeAsync", pointer, stream) == INVALID
    assert hip.code("hipFreeAsync", None, stream) == 0


def test_memory_in_use_is_counted():
    available, total = ctypes.c_size_t(), ctypes.c_size_t()
    hip.ok("hipMemGetInfo", ctypes.byref(available), ctypes.byref(total))
    before = available.value
    assert 0 < before <= total.value
    pointer = hip.malloc(1 << 20)
    hip.ok("hipMemGetInfo", ctypes.byref(available), None)
    assert before - available.value >= 1 << 20
    hip.ok("hipFree", pointer)
    hip.ok("hipMemGetInfo", ctypes.byref(available), ctypes.byref(total))
    assert available.value == before
    hip.ok("hipMemGetInfo", None, None)


def attributes(pointer) -> hip.PointerAttributes:
    found = hip.PointerAttributes(9, 9, 9, 9, 9, 9)
    hip.ok("hipPointerGetAttributes", ctypes.byref(found), pointer)
    return found


def test_attributes_of_device_memory(out):
    found = attributes(out + 100)
    assert (found.type, found.device, found.isManaged) == (DEVICE, 0, 0)
    assert (found.devicePointer, found.hostPointer) == (out + 100, None)


def test_attributes_of_pinned_memory():
    pointer = hip.out("hipHostMalloc", 64, 2)
    found = attributes(pointer)
    assert (found.type, found.device, found.allocationFlags) == (HOST, 0, 2)
    assert found.devicePointer == found.hostPointer == pointer
    hip.ok("hipHostFree", pointer)


@pytest.mark.parametrize(
    "nbytes, flags, expected", [(64, 1, 0), (64, 2, 0), (0, 1, INVALID), (64, 0, INVALID)]
)
def test_managed_memory(nbytes, flags, expected):
    pointer = ctypes.c_uint64(7)
    assert hip.code("hipMallocManaged", ctypes.byref(pointer), nbytes, flags) == expected
    if expected:
        assert pointer.value == 0
        return
    found = attributes(pointer.value)
    assert (found.type, found.isManaged) == (MANAGED, 1)
    assert found.devicePointer == found.hostPointer == pointer.value
    ctypes.memset(pointer.value, 5, nbytes)
    assert hip.from_device(pointer.value, nbytes) == bytes([5]) * nbytes
    hip.ok("hipFree", pointer.value)


def test_attributes_of_other_memory_say_unregistered():
    found = attributes(bytes(64))
    assert (found.type, found.device) == (0, -2)
    assert found.devicePointer is None
    assert found.hostPointer is None
    assert hip.code("hipPointerGetAttributes", None, None) == 0


def test_address_range(out):
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    hip.ok("hipMemGetAddressRange", ctypes.byref(base), ctypes.byref(size), out + 8)
    assert (base.value, size.value) == (out, 256)
    assert hip.code("hipMemGetAddressRange", ctypes.byref(base), None, bytes(8)) == NOT_FOUND


def test_registered_memory_is_known_until_unregistered(stream, out):
    memory = ctypes.create_string_buffer(b"\5" * 4096, 4096)
    pointer = ctypes.addressof(memory)
    hip.ok("hipHostRegister", pointer, 4096, 0)
    assert attributes(pointer).type == HOST
    assert hip.out("hipHostGetDevicePointer", pointer, 0) == pointer
    hip.ok("hipMemcpyAsync", out, pointer, 256, hip.H2D, stream)
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, 256) == b"\5" * 256
    assert hip.code("hipHostRegister", pointer, 4096, 0) == 712
    hip.ok("hipHostUnregister", pointer)
    assert attributes(pointer).type == 0
    assert hip.code("hipHostUnregister", pointer) == NOT_REGISTERED


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipHostRegister", (None, 8, 0), INVALID),
        ("hipHostRegister", (bytes(8), 0, 0), INVALID),
        ("hipHostRegister", (bytes(8), 8, 64), INVALID),
        ("hipHostUnregister", (None,), INVALID),
        ("hipHostGetDevicePointer", (None, 8, 0), INVALID),
        ("hipHostGetDevicePointer", (bytes(8), bytes(8), 0), INVALID),
    ],
)
def test_registration_codes(call, args, expected):
    assert hip.code(call, *args) == expected
