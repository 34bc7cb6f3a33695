"""What hipDeviceReset takes away and what stays (runtime/device_reset.cpp)."""

from __future__ import annotations

from helpers.process import run_python

START = """
import ctypes
from helpers import hip_ctypes as hip
from helpers.kernels import compile_hip

def available():
    value = ctypes.c_size_t()
    hip.ok("hipMemGetInfo", ctypes.byref(value), None)
    return value.value

"""


def run(code: str, **variables: str) -> list[str]:
    done = run_python(START + code, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_streams_events_and_memory_of_callers_end():
    lines = run("""
before = available()
stream, event = hip.stream(), hip.event()
memory, pinned = hip.malloc(1 << 20), hip.out("hipHostMalloc", 64, 0)
managed, pooled = hip.out("hipMallocManaged", 64, 1), hip.out("hipMallocAsync", 64, stream)
kept = ctypes.create_string_buffer(64)
hip.ok("hipHostRegister", kept, 64, 0)
pool = hip.out("hipDeviceGetDefaultMemPool", 0)
hip.ok("hipMemsetAsync", memory, 1, 1 << 20, stream)
hip.ok("hipDeviceReset")
print(hip.code("hipStreamQuery", stream), hip.code("hipEventQuery", event))
print([hip.code("hipFree", each) for each in (memory, pinned, managed, pooled)])
print(hip.code("hipHostUnregister", kept), available() - before)
print(hip.out("hipDeviceGetDefaultMemPool", 0) != pool)
again = hip.malloc(64)
hip.ok("hipMemset", again, 0, 64)
print(hip.from_device(again, 4), hip.code("hipDeviceReset"))
""")
    assert lines == ["709 400", "[1, 1, 1, 1]", "713 0", "True", "b'\\x00\\x00\\x00\\x00' 0"]


def test_code_graphs_and_managed_variables_stay():
    lines = run("""
source = '''
#define __managed__ __attribute__((managed))
extern "C" { __managed__ int value = 3; }
extern "C" __global__ void bump() { value += 1; }
'''
module = hip.module(compile_hip(source))
bump = hip.function(module, "bump")
address = ctypes.c_uint64()
hip.ok("hipModuleGetGlobal", ctypes.byref(address), None, module, b"value")
stream = hip.stream()
hip.begin(stream)
hip.launch_kernel(bump, stream, None, block=(1, 1, 1))
exec_ = hip.instantiate(hip.end(stream))
hip.launch(exec_, stream)
hip.ok("hipDeviceReset")
hip.launch(exec_, hip.stream())
print(ctypes.c_int.from_address(address.value).value)
""")
    assert lines == ["5"]


def test_captures_end_and_failures_are_forgotten():
    lines = run("""
source = 'extern "C" __global__ void fault(int* p) { *p = 1; }'
fault = hip.function(hip.module(compile_hip(source)), "fault")
capturing, failing = hip.stream(), hip.stream()
hip.begin(capturing)
params, kept = hip.parameters(ctypes.c_uint64(64))
hip.launch_kernel(fault, failing, params)
hip.ok("hipDeviceReset")
print(hip.code("hipDeviceSynchronize"), hip.code("hipStreamIsCapturing", capturing, bytes(4)))
""")
    assert lines == ["0 709"]


def test_graph_memory_is_freed():
    lines = run("""
before = available()
stream = hip.stream()
hip.begin(stream)
hip.out("hipMallocAsync", 64, stream)
exec_ = hip.instantiate(hip.end(stream))
hip.launch(exec_, stream)
hip.ok("hipDeviceReset")
print(before - available())
hip.launch(exec_, hip.stream())
""")
    assert lines == ["0"]


def test_flags_start_anew_and_other_devices_are_left_alone():
    lines = run(
        """
hip.ok("hipSetDeviceFlags", 4)
first = hip.malloc(64)
hip.ok("hipSetDevice", 1)
second, stream = hip.malloc(64), hip.stream()
hip.ok("hipSetDevice", 0)
hip.ok("hipDeviceReset")
print(hip.out("hipGetDeviceFlags", kind=ctypes.c_uint), hip.code("hipFree", first))
print(hip.code("hipFree", second), hip.code("hipStreamQuery", stream))
""",
        HIPGRAPH_EMU_DEVICES="2",
    )
    assert lines == ["1 1", "0 0"]
