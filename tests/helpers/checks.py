"""Small kernels, graphs made with bare HIP calls, and what a check of a graph found."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from hipgraph_shmem import Finding, FindingKind, Graph
from hipgraph_shmem.graph.recording import Recording
from hipgraph_shmem.hip_abi import CaptureMode, MemcpyKind
from hipgraph_shmem.launch import LaunchConfig
from hipgraph_shmem.runtime import call, library
from hipgraph_shmem.stream import Stream

SOURCE = """
struct Pair { float* out; int value; };
extern "C" __global__ void copy(const float* __restrict__ in, float* __restrict__ out) {
  out[0] = in[0]; }
__device__ float state[4];
extern "C" __global__ void touch(float* any) { any[0] += 1; }
extern "C" __global__ void hidden(Pair pair) { pair.out[0] = pair.value; }
extern "C" __global__ void count(unsigned* counter) {
  __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
"""
ONE = LaunchConfig(grid=(1, 1, 1), block=(64, 1, 1))


def kinds(graph: Graph) -> list[FindingKind]:
    return [finding.kind for finding in graph.check()]


def only(graph: Graph, kind: FindingKind) -> Finding:
    (finding,) = graph.check()
    assert finding.kind is kind
    return finding


def spans(finding: Finding) -> list[tuple[int, int]]:
    return [(each.start, each.stop) for each in finding.ranges]


def add_copy(graph: Graph, target: int, source: int, nbytes: int, kind: MemcpyKind) -> int:
    none = (ctypes.c_void_p * 0)()
    raw: int = call("hipGraphAddMemcpyNode1D", graph.handle, none, 0, target, source, nbytes, kind)
    return raw


def hip(name: str, *args: Any) -> None:
    """Call a function of the HIP library that the package itself does not use."""
    values = [ctypes.c_void_p(each) if type(each) is int else each for each in args]
    assert getattr(library().pointers, name)(*values) == 0, name


def recorded_by_hand(stream: Stream, work: Callable[[], None]) -> Graph:
    """Capture with bare HIP calls and adopt the graph by its handle."""
    call("hipStreamBeginCapture", stream.handle, CaptureMode.RELAXED)
    work()
    return Graph.adopt(call("hipStreamEndCapture", stream.handle), Recording(), 0)


def launch_by_hand(stream: Stream, function: int, *pointers: int) -> None:
    values = [ctypes.c_void_p(each) for each in pointers]
    array = (ctypes.c_void_p * len(values))(*(ctypes.addressof(each) for each in values))
    grid = (1, 1, 1, 64, 1, 1, 0)
    call("hipModuleLaunchKernel", function, *grid, stream.handle, ctypes.addressof(array), None)
