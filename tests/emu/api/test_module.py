"""Modules, kernels and variables (api/module.cpp)."""

from __future__ import annotations

import ctypes
import struct

import pytest
from helpers import hip_ctypes as hip
from helpers.kernels import compile_hip

INVALID, INVALID_IMAGE, NO_BINARY, FILE_NOT_FOUND, HANDLE, NOT_FOUND = 1, 200, 209, 301, 400, 500
STALE = 0x7_0000_0000


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipModuleLoadData", (None, b"x"), INVALID),
        ("hipModuleLoadData", (bytes(8), None), INVALID),
        ("hipModuleLoadData", (bytes(8), b"no code object at all, but long enough"), INVALID_IMAGE),
        ("hipModuleLoadDataEx", (bytes(8), b"", 0, None, None), INVALID_IMAGE),
        ("hipModuleLoad", (None, b"x"), INVALID),
        ("hipModuleLoad", (bytes(8), None), INVALID),
        ("hipModuleLoad", (bytes(8), b""), INVALID),
        ("hipModuleLoad", (bytes(8), b"/nowhere/at/all.co"), FILE_NOT_FOUND),
        ("hipModuleUnload", (None,), HANDLE),
        ("hipModuleUnload", (STALE,), NOT_FOUND),
        ("hipModuleGetFunction", (None, None, b"put"), INVALID),
        ("hipModuleGetFunction", (bytes(8), None, None), INVALID),
        ("hipModuleGetFunction", (bytes(8), None, b""), INVALID),
        ("hipModuleGetFunction", (bytes(8), None, b"put"), HANDLE),
        ("hipModuleGetFunction", (bytes(8), STALE, b"put"), NOT_FOUND),
        ("hipModuleGetGlobal", (None, None, None, b"counter"), INVALID),
        ("hipModuleGetGlobal", (bytes(8), None, None, None), INVALID),
        ("hipModuleGetGlobal", (bytes(8), None, None, b"counter"), HANDLE),
        ("hipModuleGetGlobal", (bytes(8), None, STALE, b"counter"), NOT_FOUND),
        ("hipModuleGetFunctionCount", (bytes(4), None), HANDLE),
        ("hipFuncGetAttribute", (None, 0, None), INVALID),
        ("hipFuncGetAttribute", (bytes(4), 0, None), HANDLE),
    ],
)
def test_codes(call, args, expected):
    assert hip.code(call, *args) == expected


def test_a_missing_kernel_is_not_found_and_its_handle_null(module):
    handle = ctypes.c_uint64(7)
    assert hip.code("hipModuleGetFunction", ctypes.byref(handle), module, b"none") == NOT_FOUND
    assert handle.value == 0
    assert hip.code("hipModuleGetGlobal", ctypes.byref(handle), None, module, b"put") == NOT_FOUND


def test_a_kernel_has_one_handle(module):
    assert hip.function(module, "put") == hip.function(module, "put") != hip.function(module, "add")
    count = ctypes.c_uint(0)
    hip.ok("hipModuleGetFunctionCount", ctypes.byref(count), module)
    assert count.value == 4


def test_a_file_is_loaded(tmp_path):
    path = tmp_path / "k.co"
    path.write_bytes(compile_hip('extern "C" __global__ void k() {}'))
    assert hip.code("hipModuleLoad", bytes(8), str(path).encode()) == 0
    path.write_bytes(b"")
    assert hip.code("hipModuleLoad", bytes(8), str(path).encode()) == INVALID_IMAGE


def test_code_of_another_target_is_refused():
    handle = ctypes.c_uint64(7)
    other = compile_hip('extern "C" __global__ void k() {}', "gfx950")
    assert hip.code("hipModuleLoadData", ctypes.byref(handle), other) in (NO_BINARY, 218)
    assert handle.value == 0
    assert b"load" in hip.library().hipgraphEmuLastReport()


def test_a_variable_is_device_memory(module, stream):
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    refs = ctypes.byref(address), ctypes.byref(size)
    hip.ok("hipModuleGetGlobal", *refs, module, b"counter")
    assert size.value == 4
    assert struct.unpack("i", hip.from_device(address.value, 4)) == (41,)
    hip.ok("hipMemcpyHtoDAsync", address.value, struct.pack("i", 42), 4, stream)
    hip.ok("hipStreamSynchronize", stream)
    assert struct.unpack("i", hip.from_device(address.value, 4)) == (42,)
    hip.to_device(address.value, struct.pack("i", 41))
    only_size = ctypes.c_size_t()
    hip.ok("hipModuleGetGlobal", None, ctypes.byref(only_size), module, b"counter")
    assert only_size.value == 4


def test_unloading_ends_the_handles_of_its_kernels(stream):
    module = hip.module(compile_hip('extern "C" __global__ void gone() {}'))
    gone = hip.function(module, "gone")
    assert hip.launch_kernel(gone, stream, None) == 0
    hip.ok("hipModuleUnload", module)
    hip.ok("hipStreamSynchronize", stream)
    assert hip.launch_kernel(gone, stream, None) == HANDLE
    assert hip.code("hipModuleUnload", module) == NOT_FOUND


def test_unloading_while_a_launch_is_pending_leaves_the_launch_its_code(stream, out, gate):
    module = hip.module(compile_hip('extern "C" __global__ void one(int* p) { *p = 1; }'))
    params, _kept = hip.parameters(ctypes.c_uint64(out))
    gate.block(stream)
    assert hip.launch_kernel(hip.function(module, "one"), stream, params) == 0
    hip.ok("hipModuleUnload", module)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert struct.unpack("i", hip.from_device(out, 4)) == (1,)


def attribute(function: int, number: int) -> int:
    return hip.out("hipFuncGetAttribute", number, function, kind=ctypes.c_int)


def test_attributes_are_those_of_the_code_object(module, put):
    lds = hip.module(
        compile_hip(
            'extern "C" __global__ void k(int* p) {'
            " __attribute__((shared)) static volatile int a[300];"
            " a[__builtin_amdgcn_workitem_id_x()] = 1; *p = a[299]; }"
        )
    )
    kernel = hip.function(lds, "k")
    assert attribute(kernel, 1) == 1200
    assert attribute(kernel, 8) == 65536 - 1200
    assert attribute(put, 0) == 1024
    assert attribute(hip.function(module, "narrow"), 0) == 128
    assert 0 < attribute(put, 4) <= 512
    assert hip.code("hipFuncGetAttribute", bytes(4), 16, put) == INVALID
    assert hip.code("hipFuncGetAttribute", bytes(4), -1, put) == INVALID
    hip.ok("hipModuleUnload", lds)


OCCUPANCY = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"


@pytest.mark.parametrize("items, blocks", [(64, 32), (128, 16), (256, 8), (1024, 2), (1025, 0)])
def test_occupancy_is_limited_by_waves_and_workgroups(nothing, items, blocks):
    """An empty kernel: 32 waves fit on a compute unit, and 16 workgroups of several waves."""
    assert hip.out(OCCUPANCY, nothing, items, 0, kind=ctypes.c_int) == blocks


def test_occupancy_is_limited_by_lds_and_checked(nothing):
    assert hip.out(OCCUPANCY, nothing, 64, 32768, kind=ctypes.c_int) == 2
    assert hip.code(OCCUPANCY, None, nothing, 64, 0) == INVALID
    assert hip.code(OCCUPANCY, bytes(4), None, 64, 0) == INVALID
    assert hip.code(OCCUPANCY, bytes(4), nothing, 0, 0) == INVALID


MANAGED = """
#define __managed__ __attribute__((managed))
extern "C" { __managed__ int shared_with_host[3] = {7, 8, 9}; __managed__ long untouched; }
extern "C" __global__ void bump() { shared_with_host[1] += 100; untouched = shared_with_host[2]; }
"""


def variable(module: int, name: bytes) -> tuple[int, int]:
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    hip.ok("hipModuleGetGlobal", ctypes.byref(address), ctypes.byref(size), module, name)
    return address.value, size.value


def test_managed_variables_are_memory_of_host_and_device(stream):
    image = compile_hip(MANAGED)
    first, second = hip.module(image), hip.module(image)
    shared, size = variable(first, b"shared_with_host")
    assert size == 12
    assert hip.out("hipPointerGetAttribute", 8, shared, kind=ctypes.c_bool), "managed"
    values = (ctypes.c_int * 3).from_address(shared)
    assert list(values) == [7, 8, 9]
    values[2] = 30
    assert hip.launch_kernel(hip.function(first, "bump"), stream, None, block=(1, 1, 1)) == 0
    hip.ok("hipStreamSynchronize", stream)
    assert list(values) == [7, 108, 30]
    untouched, size = variable(first, b"untouched")
    assert (size, ctypes.c_long.from_address(untouched).value) == (8, 30)
    other, _ = variable(second, b"shared_with_host")
    assert list((ctypes.c_int * 3).from_address(other)) == [7, 8, 9], "each module has its own"
    for module in (first, second):
        hip.ok("hipModuleUnload", module)
    assert hip.code("hipFree", shared) == INVALID, "it went with its module"
    hip.last_error()


def test_managed_variables_outlive_a_module_that_a_launch_still_uses(stream, gate):
    module = hip.module(compile_hip(MANAGED))
    gate.block(stream)
    assert hip.launch_kernel(hip.function(module, "bump"), stream, None, block=(1, 1, 1)) == 0
    hip.ok("hipModuleUnload", module)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
