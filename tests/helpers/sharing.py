"""What the tests of shared memory run in their processes: kernels, and a few words for them."""

from __future__ import annotations

import functools
import textwrap

from helpers.kernels import compile_hip
from helpers.peers import run_peers

SOURCE = """
typedef unsigned u32;
typedef unsigned long u64;
#define SYSTEM __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM
static __device__ u32 load(u32* p) { return __hip_atomic_load(p, SYSTEM); }
static __device__ void store(u32* p, u32 v) { __hip_atomic_store(p, v, SYSTEM); }
extern "C" __global__ void await(u32* flag, u32* out, u32 wanted) {
  while (load(flag) != wanted) {}
  *out = load(flag);
}
extern "C" __global__ void await_both(u32* flag, u32* own, u32* out) {
  while ((load(flag) & load(own)) == 0) {}
  *out = load(flag);
}
extern "C" __global__ void await_any(u32* flags, u32* out, u32 count) {
  for (u32 i = 0;; i = (i + 1) % count) {
    const u32 value = load(flags + i);
    if (value != 0) { *out = value; return; }
  }
}
extern "C" __global__ void set(u32* flag, u32 value) { store(flag, value); }
extern "C" __global__ void increment(u32* word, u32* floats, u32 times) {
  for (u32 i = 0; i < times; ++i) {
    __hip_atomic_fetch_add(word, 1u, SYSTEM);
    __hip_atomic_fetch_add((u64*)(word + 2), 1ul, SYSTEM);
    u32 old = load(floats);
    while (!__hip_atomic_compare_exchange_strong(floats, &old, old + 3, __ATOMIC_RELAXED,
           __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM)) {}
  }
}
extern "C" __global__ void fill(u32* to, u32 first) {
  to[__builtin_amdgcn_workitem_id_x()] = first + __builtin_amdgcn_workitem_id_x();
}
extern "C" __global__ void ping(u32* mine, u32* theirs, u32 first, u32 times) {
  for (u32 i = 0; i < times; ++i) {
    if (first) store(theirs, i + 1);
    while (load(mine) != i + 1) {}
    if (!first) store(theirs, i + 1);
  }
}
extern "C" __global__ void timed(u32* flag, u64* out, u32 ticks) {
  const u64 start = __builtin_readsteadycounter();
  u64 passed = 0;
  while (load(flag) == 0 && passed < ticks) {
    __builtin_amdgcn_s_sleep(8);
    passed = __builtin_readsteadycounter() - start;
  }
  out[0] = passed;
}
extern "C" __global__ void two_halves(u64* word, u32* stop, u32* done, u32 times) {
  for (u32 i = 1; i <= times; ++i) *(volatile u64*)word = (u64)i << 32 | i;
  store(stop, 1);
}
extern "C" __global__ void torn(u64* word, u32* stop, u32* bad) {
  u32 found = 0;
  while (load(stop) == 0) {
    const u64 value = *(volatile u64*)word;
    found += (u32)value != (u32)(value >> 32);
  }
  *bad = found;
}
"""

SETUP = """
import ctypes, json, os, struct, time
import numpy as np
from helpers import emulated
from helpers.peers import close_code, handle_of, open_code, open_handle
module = emulated.load(peer.image()) if peer.image() else None
def start(name, grid, block, *arguments, on=None):
    packed = b"".join(struct.pack("<Q" if a > 0xffffffff else "<I", a) for a in arguments)
    emulated.launch(emulated.function(module, name), grid, block, packed, on=on)
def buffer(*values):
    return emulated.upload(np.array(values, np.uint32))
def number(address):
    return int(emulated.download(address, 1)[0])
def exported(address):
    '''Memory of rank 0 as each process sees it.'''
    handle = peer.gather("handle", handle_of(address) if peer.rank == 0 else b"")[0]
    memory = address if peer.rank == 0 else open_handle(handle)
    peer.gather("mapped")
    return memory
def done(**facts):
    peer.gather("done")
    print(json.dumps(facts | {"report": emulated.last_report()}), flush=True)
"""


@functools.cache
def kernels() -> bytes:
    """Compile the kernels once a session."""
    return compile_hip(SOURCE)


def peers(count: int, code: str, timeout: float = 60) -> list[dict]:
    """Run code in `count` processes that can launch the kernels."""
    text = SETUP + textwrap.dedent(code)
    return run_peers(text, count, image=kernels(), timeout=timeout)
