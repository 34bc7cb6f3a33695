"""Launches that count work-items (api/extended_launch.cpp): the last block may be partial."""

from __future__ import annotations

import ctypes
import struct

import pytest
from helpers import hip_ctypes as hip
from helpers.kernels import compile_hip

CONFIGURATION, NOT_SUPPORTED = 9, 801
NOBODY = -1

# Each work-item writes to its own place, in a grid of 2^10 by 2^5 by 2^5, how many work-items its
# block has: they count themselves in LDS between two barriers. The first one also writes what the
# hidden arguments and the packet say of the sizes; the compiler, which takes all blocks for whole,
# would otherwise read some of them as 0.
SOURCE = """
#define AS4 __attribute__((address_space(4)))
extern "C" __global__ void where(int* out, int* facts) {
  __attribute__((shared)) static volatile int there;
  const unsigned local[3] = {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                             __builtin_amdgcn_workitem_id_z()};
  const unsigned group[3] = {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                             __builtin_amdgcn_workgroup_id_z()};
  const char AS4* implicit = (const char AS4*)__builtin_amdgcn_implicitarg_ptr();
  const volatile unsigned short AS4* sizes = (const volatile unsigned short AS4*)(implicit + 12);
  if (local[0] + local[1] + local[2] == 0) there = 0;
  __builtin_amdgcn_s_barrier();
  __atomic_fetch_add((int*)&there, 1, __ATOMIC_RELAXED);
  __builtin_amdgcn_s_barrier();
  unsigned at[3];
  for (int i = 0; i < 3; ++i) at[i] = group[i] * sizes[i] + local[i];
  out[at[2] << 15 | at[1] << 10 | at[0]] = there;
  if ((at[0] | at[1] | at[2]) != 0) return;
  for (int i = 0; i < 3; ++i) {
    facts[i] = ((const int AS4*)implicit)[i];
    facts[3 + i] = sizes[i];
    facts[6 + i] = sizes[3 + i];
    facts[9 + i] = ((const unsigned AS4*)(__builtin_amdgcn_dispatch_ptr()))[3 + i];
  }
}
"""


@pytest.fixture(scope="module")
def where():
    return hip.function(hip.module(compile_hip(SOURCE)), "where")


def launch(function: int, stream: int, params, items, block) -> int:
    return hip.code(
        "hipExtModuleLaunchKernel", function, *items, *block, 0, stream, params, None, None, None, 0
    )


def extents(items: int, block: int) -> list[tuple[int, int]]:
    """(first work-item, count) of each block of an axis."""
    return [(first, min(block, items - first)) for first in range(0, items, block)]


@pytest.mark.parametrize(
    "items, block",
    [
        ((128, 1, 1), (64, 1, 1)),
        ((100, 1, 1), (64, 1, 1)),
        ((3, 1, 1), (64, 1, 1)),
        ((330, 1, 1), (128, 1, 1)),
        ((70, 10, 5), (32, 4, 2)),
        ((64, 3, 1), (64, 2, 1)),
    ],
)
def test_every_work_item_runs_once_and_knows_its_block(where, stream, items, block):
    places = 1 << 20
    out, facts = hip.malloc(4 * places), hip.malloc(48)
    hip.ok("hipMemset", out, 0xFF, 4 * places)
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_uint64(facts))
    assert launch(where, stream, params, items, block) == 0
    hip.ok("hipStreamSynchronize", stream)
    expected = [NOBODY] * places
    for z, depth in extents(items[2], block[2]):
        for y, height in extents(items[1], block[1]):
            for x, width in extents(items[0], block[0]):
                for k in range(z, z + depth):
                    for j in range(y, y + height):
                        row = k << 15 | j << 10
                        count = width * height * depth
                        expected[row + x : row + x + width] = [count] * width
    assert list(struct.unpack(f"{places}i", hip.from_device(out, 4 * places))) == expected
    told = struct.unpack("12i", hip.from_device(facts, 48))
    whole = tuple(n // b for n, b in zip(items, block, strict=True))
    rest = tuple(n % b for n, b in zip(items, block, strict=True))
    assert told == whole + block + rest + items
    hip.ok("hipFree", out)
    hip.ok("hipFree", facts)


def test_the_smallest_block_is_the_last(stream, out, add):
    """Two blocks of 48 and 16 work-items, one wave each."""
    hip.ok("hipMemset", out, 0, 256)
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(1))
    assert launch(add, stream, params, (64, 1, 1), (48, 1, 1)) == 0
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, 256) == struct.pack("64i", *[2] * 16, *[1] * 32, *[0] * 16)


def test_a_node_has_whole_blocks(stream, out, put):
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(1))
    hip.begin(stream)
    assert launch(put, stream, params, (96, 1, 1), (64, 1, 1)) == NOT_SUPPORTED
    assert launch(put, stream, params, (64, 1, 1), (64, 1, 1)) == 0
    graph = hip.end(stream)
    assert len(hip.nodes(graph)) == 1
    hip.ok("hipGraphDestroy", graph)


@pytest.mark.parametrize("items, block", [((0, 1, 1), (64, 1, 1)), ((64, 1, 1), (64, 0, 1))])
def test_nothing_to_run_is_refused(stream, put, items, block):
    assert launch(put, stream, None, items, block) == CONFIGURATION
