"""The local provider and the device header together: a user's kernels in several processes."""

import ctypes
from pathlib import Path

import numpy as np
from helpers import hip_ctypes, pes
from helpers.kernels import compile_hip
from helpers.pes import INVALID, Pe

HEADERS = Path(__file__).resolve().parents[3] / "native" / "shmem" / "include"
SOURCE = """
#include <rocshmem/rocshmem.hpp>
using namespace rocshmem;
extern "C" __global__ void ring(int* target, const int* source, size_t bytes, uint64_t* signal,
                                uint64_t round) {
  const int right = (rocshmem_my_pe() + 1) % rocshmem_n_pes();
  rocshmem_putmem_signal(target, source, bytes, signal, 1, ROCSHMEM_SIGNAL_ADD, right);
  rocshmem_uint64_wait_until(signal, ROCSHMEM_CMP_GE, round);
  rocshmem_int_p(target + bytes / 4, rocshmem_int_g(source, right), rocshmem_my_pe());
  rocshmem_barrier_all();
}
extern "C" __global__ void stray(int* target) { rocshmem_int_p(target, 1, 99); }
"""
COUNT = 100


def load(pe: Pe) -> int:
    """Load the user's module and give its symbols the bytes that the provider names."""
    if pe.pe == 0:
        pe.tell("image", compile_hip(SOURCE, include=HEADERS))
    module = hip_ctypes.module(pe.hear("image"))
    for symbol in (b"ROCSHMEM_CTX_DEFAULT", b"ROCSHMEM_TEAM_WORLD", b"ROCSHMEM_TEAM_SHARED"):
        address, room = ctypes.c_uint64(), ctypes.c_size_t()
        places = ctypes.byref(address), ctypes.byref(room)
        hip_ctypes.ok("hipModuleGetGlobal", *places, module, symbol)
        data, size = ctypes.create_string_buffer(room.value), ctypes.c_size_t()
        pe.ok("hgs_symbol_bytes", symbol, data, room.value, ctypes.byref(size))
        assert size.value == room.value
        hip_ctypes.to_device(address.value, data.raw)
    return module


def launch(module: int, name: str, stream: int, *arguments: int) -> None:
    params, kept = hip_ctypes.parameters(*map(ctypes.c_uint64, arguments))
    kernel = hip_ctypes.function(module, name)
    assert hip_ctypes.launch_kernel(kernel, stream, params, block=(1, 1, 1)) == 0
    del kept
    hip_ctypes.ok("hipStreamSynchronize", stream)


def use_kernels(pe: Pe):
    pe.init()
    module, stream = load(pe), hip_ctypes.stream()
    source, signal = pe.out("hgs_calloc", COUNT, 4), pe.out("hgs_calloc", 1, 8)
    target = pe.out("hgs_calloc", COUNT + 1, 4)
    right, left = (pe.pe + 1) % pe.n_pes, (pe.pe - 1) % pe.n_pes
    for round_ in range(1, 4):
        pe.write(source, np.arange(COUNT, dtype=np.int32) + 1000 * pe.pe + round_)
        pe.barrier()
        launch(module, "ring", stream, target, source, 4 * COUNT, signal, round_)
        pe.ok("hgs_check")
        found = pe.read(target, COUNT + 1, np.int32)
        assert (found[:COUNT] == np.arange(COUNT) + 1000 * left + round_).all()
        assert found[COUNT] == 1000 * right + round_
    # The barriers of the device and of a stream share the team's epochs.
    pe.ok("hgs_barrier_all_on_stream", stream)
    hip_ctypes.ok("hipStreamSynchronize", stream)
    pe.barrier()
    launch(module, "stray", stream, target)
    seen = pe.error("hgs_check")
    pe.ok("hgs_finalize")
    return seen


def test_kernels_of_the_device_header_reach_other_processes():
    for seen in pes.values(pes.run(use_kernels, 2, timeout=120)):
        assert seen == (INVALID, "a kernel named PE 99: there are PEs 0 to 1")
