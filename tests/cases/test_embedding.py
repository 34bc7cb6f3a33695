"""A runtime with streams, memory, captures and graphs of its own, by raw handles, records a GEMM.

No stream, buffer, capture or graph of the package exists before.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from helpers.gemm import Problem, integers

from hipgraph_shmem.errors import CaptureError, GraphError
from hipgraph_shmem.graph import Graph, Node, NodeKind, adopt_capture, capture
from hipgraph_shmem.hip_abi import CaptureMode, MemcpyKind
from hipgraph_shmem.runtime import call, state
from hipgraph_shmem.splitk import Gemm, usage
from hipgraph_shmem.stream import Stream

M, N, K = 16, 64, 256


@dataclass
class Host:
    """The embedding runtime: bare handles and addresses."""

    stream: int
    a: int
    b: int
    out: int
    given: Problem

    def replay(self, graph_exec: int) -> None:
        """Launch over garbage, and compare the result."""
        result = np.empty((M, N), np.float32)
        call("hipMemsetD8Async", self.out, 0xFF, result.nbytes, self.stream)
        call("hipGraphLaunch", graph_exec, self.stream)
        kind = MemcpyKind.DEVICE_TO_HOST
        call("hipMemcpyAsync", result.ctypes.data, self.out, result.nbytes, kind, self.stream)
        call("hipStreamSynchronize", self.stream)
        self.given.assert_right(result, 2)


@pytest.fixture
def host(device: Any) -> Iterator[Host]:
    given = integers(M, N, K)
    raw = call("hipStreamCreateWithPriority", 1, 0)
    addresses = [call("hipMalloc", size) for size in (M * K * 2, N * K * 2, M * N * 4)]
    for address, array in zip(addresses, (given.a, given.b), strict=False):
        kind = MemcpyKind.HOST_TO_DEVICE
        call("hipMemcpyAsync", address, array.ctypes.data, array.nbytes, kind, raw)
    call("hipStreamSynchronize", raw)
    yield Host(raw, *addresses, given)
    for address in addresses:
        call("hipFree", address)
    call("hipStreamDestroy", raw)


@contextlib.contextmanager
def instantiated(graph: int) -> Iterator[int]:
    raw = call("hipGraphInstantiateWithFlags", graph, 0)
    yield raw
    call("hipGraphExecDestroy", raw)


def kinds_of(graph: int) -> list[NodeKind]:
    count = ctypes.c_size_t()
    call("hipGraphGetNodes", graph, None, ctypes.byref(count))
    handles = (ctypes.c_void_p * count.value)()
    call("hipGraphGetNodes", graph, handles, ctypes.byref(count))
    return sorted(NodeKind(call("hipGraphNodeGetType", handle)) for handle in handles)


def test_a_gemm_in_a_capture_of_the_host(host: Host) -> None:
    gemm = Gemm(M, N, K, split_k=2)
    call("hipStreamBeginCapture", host.stream, CaptureMode.GLOBAL)
    call("hipMemsetD8Async", host.out, 0, 16, host.stream)
    with adopt_capture(host.stream) as recorded:
        gemm(host.stream, host.a, host.b, host.out)
    raw_graph = call("hipStreamEndCapture", host.stream)
    assert raw_graph == recorded.handle
    assert not state.open_captures
    assert kinds_of(raw_graph) == [NodeKind.KERNEL, NodeKind.MEMSET, NodeKind.MEMSET]
    with instantiated(raw_graph) as first, instantiated(raw_graph) as second:
        loans = [recorded.recording.lend(each) for each in (first, second)]
        places = {slot.address for loan in loans for each in loan for slot in each.counters}
        assert len(places) == 2
        for each in (first, second, first):
            host.replay(each)
        call("hipStreamSynchronize", host.stream)
    call("hipGraphDestroy", raw_graph)
    recorded.close()
    del loans, recorded
    assert usage().counter_in_use == 0


def test_a_gemm_in_a_graph_of_the_host(host: Host) -> None:
    raw_graph = call("hipGraphCreate", 0)
    before = call("hipGraphAddEmptyNode", raw_graph, None, 0)
    ours = Graph.borrow(raw_graph)
    last = Gemm(M, N, K, split_k=2).add_to(
        ours, host.a, host.b, host.out, dependencies=(Node(before, NodeKind.EMPTY),)
    )
    ours.complete()
    after = call("hipGraphAddEmptyNode", raw_graph, ctypes.byref(ctypes.c_void_p(last.handle)), 1)
    assert after
    with instantiated(raw_graph) as graph_exec:
        loan = ours.recording.lend(graph_exec)
        assert loan
        for _ in range(2):
            host.replay(graph_exec)
    ours.close()
    assert kinds_of(raw_graph)  # closing a borrowed graph leaves it
    call("hipGraphDestroy", raw_graph)


def test_our_execs_of_the_hosts_capture(host: Host) -> None:
    call("hipStreamBeginCapture", host.stream, CaptureMode.THREAD_LOCAL)
    with adopt_capture(host.stream) as recorded:
        Gemm(M, N, K, split_k=2)(host.stream, host.a, host.b, host.out)
    raw_graph = call("hipStreamEndCapture", host.stream)
    with recorded.instantiate() as first, recorded.instantiate() as second:
        for each in (first, second):
            host.replay(each.handle)
    call("hipGraphDestroy", raw_graph)


def test_what_cannot_be_adopted_is_refused(host: Host, stream: Stream) -> None:
    with pytest.raises(GraphError, match="begin the capture"), adopt_capture(host.stream):
        pass
    with (
        capture(stream) as captured,
        pytest.raises(GraphError, match="already"),
        adopt_capture(stream),
    ):
        pass
    captured.graph.close()
    call("hipStreamBeginCapture", host.stream, CaptureMode.THREAD_LOCAL)
    with pytest.raises(CaptureError, match="adopt_capture"):
        Gemm(M, N, K, split_k=2)(host.stream, host.a, host.b, host.out)
    call("hipGraphDestroy", call("hipStreamEndCapture", host.stream))


def test_an_error_in_the_block_leaves_the_capture_to_the_host(host: Host) -> None:
    call("hipStreamBeginCapture", host.stream, CaptureMode.THREAD_LOCAL)
    with pytest.raises(ZeroDivisionError), adopt_capture(host.stream):
        raise ZeroDivisionError
    assert not state.open_captures
    call("hipGraphDestroy", call("hipStreamEndCapture", host.stream))
