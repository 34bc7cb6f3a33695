"""Counters that a graph does not zero, or that two execs reach, and the same graphs mended."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from helpers.checks import (
    ONE,
    hip,
    kinds,
    only,
    spans,
)

from hipgraph_shmem import (
    Access,
    Buffer,
    FindingKind,
    Graph,
    Kernel,
    Module,
    capture,
)
from hipgraph_shmem.graph import KernelNode, MemsetNode, Node
from hipgraph_shmem.launch import launch_packed
from hipgraph_shmem.splitk import Gemm
from hipgraph_shmem.splitk.aiter import AiterKernels, load
from hipgraph_shmem.stream import Event, Stream

WORD = 4


def counting(
    graph: Graph, kernel: Kernel, counter: Buffer, *before: Node, offset: int = 0
) -> KernelNode:
    """Add a kernel that needs the counter's word at an offset to be zero."""
    access = Access(counters=[(counter.address + offset, WORD)])
    return graph.add_kernel(
        kernel, ONE, counter.address + offset, dependencies=before, access=access
    )


def test_a_counter_that_nothing_zeroes(module: Module, buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph:
        node = counting(graph, module.kernel("count"), buffers[0])
        finding = only(graph, FindingKind.DIRTY_COUNTER)
        assert finding.nodes == (node,)
        assert spans(finding) == [(buffers[0].address, buffers[0].address + WORD)]
        assert "count" in finding.text
        assert f"{buffers[0].address:#x}" in finding.text
        fill = graph.add_memset(buffers[0], 0, 256)
        assert set(kinds(graph)) == {FindingKind.DIRTY_COUNTER, FindingKind.UNORDERED}
        graph.add_dependencies([fill], [node])
        assert graph.check() == ()


def test_a_fill_must_cover_the_counter_and_be_zero(
    module: Module, buffers: tuple[Buffer, ...]
) -> None:
    kernel, start = module.kernel("count"), buffers[0].address
    for value, count, dirty in ((0, 2, (start + 2, start + 4)), (1, 4, (start, start + 4))):
        with Graph() as graph:
            fill = graph.add_memset(buffers[0], value, count)
            counting(graph, kernel, buffers[0], fill)
            assert spans(only(graph, FindingKind.DIRTY_COUNTER)) == [dirty]
            rest = graph.add_memset(start + 2, 0, 2, dependencies=(fill,))
            graph.add_dependencies([rest], [graph.nodes[1]])
            assert kinds(graph) == ([] if value == 0 else [FindingKind.DIRTY_COUNTER])


def test_two_fills_zero_a_counter_together(module: Module, buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph:
        low = graph.add_memset(buffers[0], 0, 2)
        high = graph.add_memset(buffers[0].address + 2, 0x100, 1, width=1)
        counting(graph, module.kernel("count"), buffers[0], low, high)
        assert spans(only(graph, FindingKind.DIRTY_COUNTER)) == [
            (buffers[0].address + 3, buffers[0].address + 4)
        ]


def test_a_write_behind_the_fill_makes_the_counter_dirty(
    module: Module, buffers: tuple[Buffer, ...]
) -> None:
    kernel = module.kernel("count")
    with Graph() as graph:
        fill = graph.add_memset(buffers[0], 0, 256)
        first = counting(graph, kernel, buffers[0], fill)
        second = counting(graph, kernel, buffers[0], first)
        finding = only(graph, FindingKind.DIRTY_COUNTER)
        assert finding.nodes == (second, first)
    with Graph() as graph:
        fill = graph.add_memset(buffers[0], 0, 256)
        first = counting(graph, kernel, buffers[0], fill)
        again = graph.add_memset(buffers[0], 0, 256, dependencies=(first,))
        counting(graph, kernel, buffers[0], again)
        assert graph.check() == ()


def test_the_order_may_go_through_other_nodes(module: Module, buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph:
        fill = graph.add_memset(buffers[0], 0, 256)
        between = graph.add_empty(dependencies=(fill,))
        counting(graph, module.kernel("count"), buffers[0], between)
        assert graph.check() == ()


def test_counters_that_two_execs_reach(module: Module, buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph:
        fill = graph.add_memset(buffers[0], 0, 256)
        node = counting(graph, module.kernel("count"), buffers[0], fill)
        with graph.instantiate():
            assert graph.check() == ()
            with graph.instantiate():
                finding = only(graph, FindingKind.SHARED_COUNTER)
                assert finding.nodes == (node,)
                assert spans(finding) == [(buffers[0].address, buffers[0].address + WORD)]
            assert graph.check() == ()


def test_counters_that_execs_of_two_graphs_reach(
    module: Module, buffers: tuple[Buffer, ...]
) -> None:
    kernel = module.kernel("count")
    with Graph() as one, Graph() as other:
        for graph in (one, other):
            fill = graph.add_memset(buffers[0], 0, 256)
            counting(graph, kernel, buffers[0], fill)
        with one.instantiate(), other.instantiate():
            assert kinds(one) == kinds(other) == [FindingKind.SHARED_COUNTER]
        assert one.check() == ()


def test_execs_of_one_splitk_graph_share_nothing(stream: Stream) -> None:
    gemm = Gemm(20, 70, 136, split_k=2)
    with (
        Buffer((20, 136), "bfloat16") as a,
        Buffer((70, 136), "bfloat16") as b,
        Buffer((20, 70), np.float32) as out,
    ):
        with capture(stream) as captured:
            gemm(stream, a, b, out)
        with captured.graph as graph, graph.instantiate() as one, graph.instantiate() as other:
            assert one.counter_memory != other.counter_memory
            assert graph.check() == ()


@pytest.fixture
def kernels(device: Any) -> AiterKernels:
    folder = os.environ.get("HIPGRAPH_AITER_DIR")
    if not folder:
        pytest.skip("needs HIPGRAPH_AITER_DIR")
    return load(folder)


@pytest.mark.parametrize("with_fill", [False, True])
def test_amds_kernel_recorded_without_its_fill(
    stream: Stream, kernels: AiterKernels, *, with_fill: bool
) -> None:
    """The counter is zeroed where it is allocated, and a replay would spin on what is left."""
    gemm = kernels.gemm(16, 64, 256, split_k=2)
    with (
        Buffer((16, 256), "bfloat16") as a,
        Buffer((64, 256), "bfloat16") as b,
        Buffer((16, 64), np.float32) as out,
        Buffer(64, np.uint32) as semaphore,
    ):
        work = gemm.work(a, b, out)
        (step,) = work.steps
        with capture(stream) as captured:
            if with_fill:
                semaphore.fill(0, stream)
            block = step.arguments(semaphore.address, 0)
            access = work.access(step, semaphore.address, 0)
            launch_packed(stream, step.kernel, step.config, block, *work.keep, access=access)
        with captured.graph as graph:
            if with_fill:
                assert graph.check() == ()
            else:
                finding = only(graph, FindingKind.DIRTY_COUNTER)
                assert finding.ranges[0].start == semaphore.address


@pytest.mark.parametrize("clean", [True, False])
def test_our_recordings_of_amds_kernels_are_clean(
    stream: Stream, kernels: AiterKernels, *, clean: bool
) -> None:
    gemm = kernels.gemm(16, 64, 256, split_k=2, clean=clean)
    with (
        Buffer((16, 256), "bfloat16") as a,
        Buffer((64, 256), "bfloat16") as b,
        Buffer((2, 16, 64), np.float32) as out,
    ):
        first, second = out.address, out.address + out.nbytes // 2
        with Stream() as branch, Event() as fork, Event() as join, capture(stream) as captured:
            stream.record(fork)
            branch.wait(fork)
            gemm(stream, a, b, first)
            gemm(branch, a, b, second)
            branch.record(join)
            stream.wait(join)
        with captured.graph as graph:
            gemm.add_to(graph, a, b, first, dependencies=graph.nodes)
            assert graph.check() == ()


def test_a_splitk_graph_that_lost_its_fill(stream: Stream) -> None:
    gemm = Gemm(20, 70, 136, split_k=2)
    with (
        Buffer((20, 136), "bfloat16") as a,
        Buffer((70, 136), "bfloat16") as b,
        Buffer((20, 70), np.float32) as out,
    ):
        with capture(stream) as captured:
            gemm(stream, a, b, out)
        with captured.graph as graph:
            assert graph.check() == ()
            (fill,) = (node for node in graph.nodes if isinstance(node, MemsetNode))
            hip("hipGraphDestroyNode", fill.handle)
            assert kinds(graph) == [FindingKind.DIRTY_COUNTER]
