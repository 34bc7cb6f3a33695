"""Accesses outside live allocations end the launch with an error that names the allocation."""

import ctypes

import numpy as np
import pytest
from helpers import emulated
from helpers.kernels import compile_hip

KERNELS = """
extern "C" __global__ void poke(unsigned* to, unsigned long stride) {
  to[__builtin_amdgcn_workitem_id_x() * stride] = 7;
}
extern "C" __global__ void peek(const volatile unsigned* from, unsigned* to) { *to = *from; }
extern "C" __global__ void past_kernarg(unsigned* to) {
  const unsigned __attribute__((address_space(4)))* p =
      (const unsigned __attribute__((address_space(4)))*)__builtin_amdgcn_kernarg_segment_ptr();
  *to = p[4096];
}
__constant__ unsigned fixed = 3;
__device__ unsigned changes = 4;
extern "C" __global__ void variables(unsigned* to) {
  *to = *(volatile unsigned*)&fixed + *(volatile unsigned*)&changes;
  *(volatile unsigned*)&changes = 9;
}
extern "C" __global__ void write_constant() { *(volatile unsigned*)&fixed = 1; }
"""


@pytest.fixture(scope="module")
def module():
    return emulated.load(compile_hip(KERNELS))


def run(module, name, *arguments, block=(1,)):
    emulated.launch(emulated.function(module, name), (1,), block, emulated.words(*arguments))
    return emulated.synchronize()


@pytest.fixture
def buffer():
    address = emulated.upload(np.zeros(16, np.uint32))
    yield address
    emulated.free(address)


def test_a_store_past_the_end_names_lane_offset_and_allocation(module, buffer):
    assert run(module, "poke", buffer, 2, block=(16,)) == emulated.ILLEGAL_ADDRESS
    report = emulated.last_report()
    assert report["kind"] == "trap"
    assert report["trap"] == "memory fault"
    assert report["kernel"] == "poke"
    assert report["instruction"].startswith("global_store_dword")
    assert report["symbol"].startswith("poke+0x")
    assert report["text"].startswith(
        f"lane 8: {buffer + 64:#x} is 0 bytes past the end of hipMalloc"
    )
    assert f"(64 bytes at {buffer:#x})" in report["text"]


def test_an_access_across_the_end_is_refused(module, buffer):
    assert run(module, "peek", buffer + 62, buffer) == emulated.ILLEGAL_ADDRESS
    assert "offset 62: the 4 bytes there reach 2 bytes past its end" in emulated.last_text()


def test_the_device_works_after_a_fault(module, buffer):
    assert run(module, "poke", buffer, 1 << 20, block=(2,)) == emulated.ILLEGAL_ADDRESS
    assert run(module, "poke", buffer, 1, block=(16,)) == 0
    assert list(emulated.download(buffer, 16)) == [7] * 16


def test_use_after_free_is_named(module, buffer):
    dead = emulated.malloc(4096)
    emulated.free(dead)
    assert run(module, "peek", dead + 8, buffer) == emulated.ILLEGAL_ADDRESS
    assert f"(4096 bytes at {dead:#x}), which was freed, offset 8" in emulated.last_text()


def test_fresh_and_freed_memory_is_not_zero(module):
    first = emulated.malloc(256)
    assert set(emulated.download(first, 64)) == {0xBEBEBEBE}
    emulated.free(first)


def test_a_null_pointer_is_called_one(module, buffer):
    assert run(module, "peek", 16, buffer) == emulated.ILLEGAL_ADDRESS
    assert "0x10 is a null pointer plus an offset" in emulated.last_text()


def test_host_memory_is_unknown_until_it_is_registered(module, buffer):
    host = np.full(1024, 0x1234, np.uint32)
    pointer = ctypes.c_void_p(host.ctypes.data)
    assert run(module, "peek", host.ctypes.data, buffer) == emulated.ILLEGAL_ADDRESS
    assert "memory that the device does not know" in emulated.last_text()
    emulated.call("hipHostRegister", pointer, ctypes.c_size_t(host.nbytes), 0)
    assert run(module, "peek", host.ctypes.data, buffer) == 0
    assert emulated.download(buffer, 1)[0] == 0x1234
    emulated.call("hipHostUnregister", pointer)
    assert run(module, "peek", host.ctypes.data, buffer) == emulated.ILLEGAL_ADDRESS


def test_reads_past_the_kernarg_segment_fault(module, buffer):
    assert run(module, "past_kernarg", buffer) == emulated.ILLEGAL_ADDRESS
    assert "past the end of kernarg segment" in emulated.last_text()


def test_constants_are_read_only_and_device_variables_are_not(module, buffer):
    assert run(module, "variables", buffer) == 0
    assert emulated.download(buffer, 1)[0] == 7
    address, size = ctypes.c_void_p(), ctypes.c_size_t()
    emulated.call(
        "hipModuleGetGlobal", ctypes.byref(address), ctypes.byref(size), module, b"changes"
    )
    assert size.value == 4
    assert emulated.download(address.value, 1)[0] == 9
    assert run(module, "write_constant") == emulated.ILLEGAL_ADDRESS
    assert "write to read-only memory: code object" in emulated.last_text()


def test_a_recorded_fill_may_not_outlive_its_memory():
    stream, graph, graph_exec = emulated.stream(), ctypes.c_void_p(), ctypes.c_void_p()
    dead = emulated.malloc(64)
    emulated.call("hipStreamBeginCapture", stream, 2)
    emulated.call("hipMemsetAsync", ctypes.c_void_p(dead), 0, ctypes.c_size_t(64), stream)
    emulated.call("hipStreamEndCapture", stream, ctypes.byref(graph))
    emulated.call("hipGraphInstantiate", ctypes.byref(graph_exec), graph, None, None, 0)
    emulated.call("hipGraphLaunch", graph_exec, stream)
    assert emulated.synchronize(stream) == 0
    emulated.free(dead)
    emulated.call("hipGraphLaunch", graph_exec, stream)
    assert emulated.synchronize(stream) == emulated.ILLEGAL_ADDRESS
    text = emulated.last_text()
    assert "memory fault in a fill of: hipMalloc" in text
    assert "which was freed, offset 0" in text
    emulated.call("hipGraphExecDestroy", graph_exec)
    emulated.call("hipGraphDestroy", graph)
    emulated.call("hipStreamDestroy", stream)
