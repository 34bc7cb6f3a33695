"""Split-K counters in graphs, as users met them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.gemm import Problem, integers, same_bits

from hipgraph_shmem.graph import CaptureMode, MemsetNode, capture
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.splitk import Gemm
from hipgraph_shmem.stream import Stream

GARBAGE = 0x3F803F80


@pytest.fixture(scope="module")
def given() -> Problem:
    return integers(16, 64, 256)


def upload(given: Problem, stream: Stream) -> tuple[Buffer, Buffer, Buffer]:
    a, b = Buffer(given.a.shape, "bfloat16"), Buffer(given.b.shape, "bfloat16")
    a.copy_from(given.a, stream)
    b.copy_from(given.b, stream)
    return a, b, Buffer((16, 64), np.float32)


@pytest.mark.parametrize("residue", [1, 2, GARBAGE])
def test_c002_a_residue_in_a_counter_changes_no_replay(
    stream: Stream, given: Problem, residue: int
) -> None:
    """The zero-fill is a node of the graph, so each replay starts from zero."""
    gemm = Gemm(16, 64, 256, split_k=2)
    a, b, out = upload(given, stream)
    gemm(stream, a, b, out)
    eager = out.to_numpy(stream)
    with capture(stream) as captured:
        gemm(stream, a, b, out)
    with captured.graph as graph, graph.instantiate() as graph_exec:
        (fill,) = (node for node in graph.nodes if isinstance(node, MemsetNode))
        words = np.full(fill.width, residue, np.uint32)
        for _ in range(4):
            write(fill.address, words, stream)
            out.fill(0xFF, stream)
            graph_exec.launch(stream)
            assert same_bits(out.to_numpy(stream), eager)


def test_c004_scratch_of_a_first_use_in_a_capture_is_nobody_elses(
    stream: Stream, given: Problem
) -> None:
    """Memory that the capture's other nodes write is never what a later graph counts in."""
    gemm = Gemm(16, 64, 256, split_k=2)
    a, b, out = upload(given, stream)
    with capture(stream, CaptureMode.RELAXED) as first:
        temporary = Buffer(1 << 16)
        temporary.fill(0x5A, stream)
        gemm(stream, a, b, out)
        del temporary
    with capture(stream) as second:
        gemm(stream, a, b, out)
    execs = [captured.graph.instantiate() for captured in (first, second)]
    for graph_exec in (*execs, *reversed(execs), *execs):
        out.fill(0xFF, stream)
        graph_exec.launch(stream)
        given.assert_right(out.to_numpy(stream), 2)
    for closing in (*execs, first.graph, second.graph):
        closing.close()


def write(address: int, words: Any, stream: Stream) -> None:
    from hipgraph_shmem.runtime import MemcpyKind, call

    kind = MemcpyKind.HOST_TO_DEVICE
    call("hipMemcpyAsync", address, words.ctypes.data, words.nbytes, kind, stream.handle)
    stream.synchronize()
