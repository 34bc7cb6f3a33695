"""Counters of recorded launches: one memset node a segment, no words shared, nothing left over."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.gemm import Problem, problem

from hipgraph_shmem.env import settings
from hipgraph_shmem.graph import Graph, GraphExec, KernelNode, MemsetNode, NodeKind, capture
from hipgraph_shmem.graph.retired import drain_retired
from hipgraph_shmem.hip_abi import MemcpyKind
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.runtime import call, state
from hipgraph_shmem.splitk import Gemm, check, usage
from hipgraph_shmem.splitk.recorded import RecordedLaunches, _Loan
from hipgraph_shmem.stream import Event, Stream

SIZES = (20, 70, 136)
GARBAGE = 0x3F803F80


@pytest.fixture
def given() -> Problem:
    return problem(*SIZES)


@pytest.fixture
def operands(stream: Stream, given: Problem) -> Iterator[tuple[Buffer, Buffer]]:
    with from_numpy(given.a, stream) as a, from_numpy(given.b, stream) as b:
        stream.synchronize()
        yield a, b


def outputs(count: int) -> list[Buffer]:
    return [Buffer((SIZES[0], SIZES[1]), np.float32) for _ in range(count)]


def loan_of(graph_exec: GraphExec) -> _Loan:
    (loan,) = (held for held in graph_exec._needs.objects if isinstance(held, _Loan))
    return loan


def launches_of(graph: Graph) -> RecordedLaunches:
    (launches,) = graph.recording._attachments.values()
    assert isinstance(launches, RecordedLaunches)
    return launches


def spans(graph_exec: GraphExec) -> list[tuple[int, int]]:
    loan = loan_of(graph_exec)
    return [(each.address, each.nbytes) for each in (*loan.segments, *loan.workspaces)]


def assert_apart(first: GraphExec, second: GraphExec) -> None:
    for start, size in spans(first):
        assert all(
            start + size <= other or other + length <= start for other, length in spans(second)
        )


def memset_of(graph: Graph) -> MemsetNode:
    (fill,) = (node for node in graph.nodes if isinstance(node, MemsetNode))
    return fill


def test_one_memset_node_before_every_launch_on_every_stream(
    stream: Stream, given: Problem, operands: tuple[Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    outs = outputs(4)
    with Stream() as branch, Event() as fork, Event() as join, capture(stream) as captured:
        gemm(stream, *operands, outs[0])
        stream.record(fork)
        branch.wait(fork)
        gemm(branch, *operands, outs[1])
        gemm(stream, *operands, outs[2])
        branch.record(join)
        stream.wait(join)
        gemm(stream, *operands, outs[3])
    graph = captured.graph
    fill = memset_of(graph)
    kernels = {node for node in graph.nodes if isinstance(node, KernelNode)}
    assert len(kernels) == 4
    assert {after for before, after in graph.edges if before == fill} == kernels
    assert not [before for before, after in graph.edges if after == fill]
    assert (fill.value, fill.height) == (0, 1)
    with graph.instantiate() as graph_exec:
        for _ in range(3):
            call("hipMemsetD32Async", fill.address, GARBAGE, fill.width, stream.handle)
            graph_exec.launch(stream)
            for out in outs:
                given.assert_right(out.to_numpy(stream), 2)
                out.fill(0xFF, stream)
    check(stream)


def test_launches_of_a_graph_do_not_share_words(
    stream: Stream, operands: tuple[Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    (out,) = outputs(1)
    with capture(stream) as captured:
        for _ in range(3):
            gemm(stream, *operands, out)
    places = [use.place for use in launches_of(captured.graph)._uses]
    assert {place.segment for place in places} == {0}
    starts = sorted(place.offset for place in places)
    size = 4 * gemm.plan.counter_words
    assert all(start + size <= after for start, after in itertools.pairwise(starts))
    assert memset_of(captured.graph).nbytes >= starts[-1] + size


def workspaces_of(graph: Graph) -> list[int | None]:
    return [use.place.workspace for use in launches_of(graph)._uses]


def test_only_launches_of_one_stream_share_a_workspace(
    stream: Stream, operands: tuple[Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    (out,) = outputs(1)
    with Stream() as branch, capture(stream) as captured:
        gemm(stream, *operands, out)
        branch.wait(stream.record())
        gemm(stream, *operands, out)
        gemm(branch, *operands, out)
        stream.wait(branch.record())
    assert workspaces_of(captured.graph) == [0, 0, 1]
    with Graph() as graph:
        gemm.add_to(graph, *operands, out)
        gemm.add_to(graph, *operands, out)
        assert workspaces_of(graph) == [0, 1]


def test_a_workspace_is_large_enough_for_each_of_its_launches(
    stream: Stream, operands: tuple[Buffer, Buffer]
) -> None:
    small, large = Gemm(*SIZES, split_k=2), Gemm(*SIZES, split_k=8)
    (out,) = outputs(1)
    with capture(stream) as captured:
        for gemm in (small, large, small):
            gemm(stream, *operands, out)
    assert workspaces_of(captured.graph) == [0, 1, 1]
    sizes = [lease.nbytes for lease in launches_of(captured.graph)._workspaces]
    assert sizes[0] >= small.plan.workspace_bytes
    assert sizes[1] >= large.plan.workspace_bytes


@pytest.mark.parametrize("scheme", ["counter", "two_kernel"])
def test_two_execs_of_a_graph_run_side_by_side(
    stream: Stream, given: Problem, operands: tuple[Buffer, Buffer], scheme: str
) -> None:
    if settings().emu_check == "race":
        pytest.skip("both execs write the graph's one output, which is a race")
    gemm = Gemm(*SIZES, split_k=2, scheme=scheme)
    (out,) = outputs(1)
    with capture(stream) as captured:
        gemm(stream, *operands, out)
    with captured.graph.instantiate() as first, captured.graph.instantiate() as second:
        assert_apart(first, second)
        # Some releases read the arguments at each launch.
        assert len(loan_of(second).blocks) == len(launches_of(captured.graph)._uses)
        with Stream() as other:
            for _ in range(5):
                first.launch(stream)
                second.launch(other)
            other.synchronize()
        given.assert_right(out.to_numpy(stream), 2)
        out.fill(0xFF, stream)
        second.launch(stream)
        given.assert_right(out.to_numpy(stream), 2)
    check(stream)


def test_the_second_exec_zeroes_its_own_words(
    stream: Stream, given: Problem, operands: tuple[Buffer, Buffer]
) -> None:
    (out,) = outputs(1)
    with capture(stream) as captured:
        Gemm(*SIZES, split_k=2)(stream, *operands, out)
    with captured.graph.instantiate(), captured.graph.instantiate() as second:
        (segment,) = loan_of(second).segments
        call("hipMemsetD32Async", segment.address, GARBAGE, segment.nbytes // 4, stream.handle)
        second.launch(stream)
        given.assert_right(out.to_numpy(stream), 2)
    check(stream)


def words_at(stream: Stream, address: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    words = np.zeros(nbytes // 4, np.uint32)
    copy = (words.ctypes.data, address, nbytes, MemcpyKind.DEVICE_TO_HOST, stream.handle)
    call("hipMemcpyAsync", *copy)
    stream.synchronize()
    return words


def test_the_second_exec_leaves_the_memory_of_the_first_alone(
    stream: Stream, given: Problem, operands: tuple[Buffer, Buffer]
) -> None:
    (out,) = outputs(1)
    with capture(stream) as captured:
        Gemm(*SIZES, split_k=2)(stream, *operands, out)
    with captured.graph.instantiate() as first, captured.graph.instantiate() as second:
        for start, size in spans(first) + spans(second):
            call("hipMemsetD32Async", start, GARBAGE, size // 4, stream.handle)
        second.launch(stream)
        given.assert_right(out.to_numpy(stream), 2)
        for start, size in spans(first):
            assert (words_at(stream, start, size) == GARBAGE).all()
        for start, size in spans(second):
            assert (words_at(stream, start, size) != GARBAGE).any()
    check(stream)


def test_a_later_exec_takes_over_the_words_of_a_closed_one(
    stream: Stream, operands: tuple[Buffer, Buffer]
) -> None:
    (out,) = outputs(1)
    with capture(stream) as captured:
        Gemm(*SIZES, split_k=2)(stream, *operands, out)
    with captured.graph.instantiate() as first:
        before = spans(first)
        first.launch(stream)
        stream.synchronize()
    drain_retired()
    with captured.graph.instantiate() as second:
        assert spans(second) == before


def test_a_device_that_never_ran_eagerly(
    stream: Stream, given: Problem, operands: tuple[Buffer, Buffer]
) -> None:
    state.shared.clear()
    (out,) = outputs(1)
    with capture(stream) as captured:
        Gemm(*SIZES, split_k=2)(stream, *operands, out)
    with captured.graph.instantiate() as graph_exec:
        graph_exec.launch(stream)
        given.assert_right(out.to_numpy(stream), 2)


def test_a_long_graph_has_one_segment(stream: Stream, operands: tuple[Buffer, Buffer]) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    (out,) = outputs(1)
    with capture(stream) as captured:
        for _ in range(500):
            gemm(stream, *operands, out)
    fill = memset_of(captured.graph)
    assert fill.nbytes == 500 * 256
    assert len([None for before, _ in captured.graph.edges if before == fill]) == 500


def test_two_captures_at_once_have_their_own_segments(
    stream: Stream, operands: tuple[Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    one, two = outputs(2)
    with Stream() as other, capture(stream) as first, capture(other) as second:
        for _ in range(3):
            gemm(stream, *operands, one)
            gemm(other, *operands, two)
    fills = [memset_of(captured.graph) for captured in (first, second)]
    starts = sorted((fill.address, fill.nbytes) for fill in fills)
    assert starts[0][0] + starts[0][1] <= starts[1][0]


def test_an_abandoned_capture_gives_its_words_back(
    stream: Stream, operands: tuple[Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    (out,) = outputs(1)
    gemm(stream, *operands, out)
    before = usage()
    with pytest.raises(KeyError), capture(stream):
        gemm(stream, *operands, out)
        raise KeyError
    gc.collect()
    assert usage() == before


def test_launches_added_after_an_instantiation(
    stream: Stream, given: Problem, operands: tuple[Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    outs = outputs(2)
    with Graph() as graph:
        last = gemm.add_to(graph, *operands, outs[0])
        with graph.instantiate() as first:
            gemm.add_to(graph, *operands, outs[1], dependencies=(last,))
            with graph.instantiate() as second:
                assert_apart(first, second)
                for graph_exec in (first, second):
                    graph_exec.launch(stream)
                for out in outs:
                    given.assert_right(out.to_numpy(stream), 2)


def test_a_launch_added_later_is_zeroed_by_a_node_of_its_own(
    operands: tuple[Buffer, Buffer],
) -> None:
    """The first node's size and edges were settled when the graph was instantiated."""
    gemm = Gemm(*SIZES, split_k=2)
    (out,) = outputs(1)
    with Graph() as graph:
        gemm.add_to(graph, *operands, out)
        graph.instantiate().close()
        gemm.add_to(graph, *operands, out)
        pairs = [(before, after) for before, after in graph.edges if before.kind is NodeKind.MEMSET]
        assert len({before for before, _ in pairs}) == 2
        assert len({after for _, after in pairs}) == 2


def resident_bytes() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


def free_bytes() -> int:
    return int(call("hipMemGetInfo")[0])


def test_ten_thousand_captures_leave_nothing(stream: Stream, given: Problem) -> None:
    sizes = (1, 1, 16)
    small = problem(*sizes)
    a, b = from_numpy(small.a, stream), from_numpy(small.b, stream)
    out = Buffer((1, 1), np.float32)
    gemm = Gemm(*sizes, split_k=2)

    def cycle() -> None:
        with capture(stream) as captured:
            gemm(stream, a, b, out)
        with captured.graph as graph, graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
        stream.synchronize()

    def now() -> tuple[Any, ...]:
        drain_retired()
        gc.collect()
        return usage(), free_bytes(), len(state.live), len(state.retired), len(state.postponed)

    for _ in range(500):
        cycle()
    before, resident = now(), resident_bytes()
    for _ in range(10_000):
        cycle()
    assert now() == before
    assert resident_bytes() - resident < 4 << 20
    small.assert_right(out.to_numpy(stream), 2)
