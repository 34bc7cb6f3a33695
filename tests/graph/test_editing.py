"""Editing nodes, of a graph and of an exec: exactly what was asked changes, and what it needs."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from helpers.kernels import compile_hip

from hipgraph_shmem import Access
from hipgraph_shmem.errors import GraphError, HipError
from hipgraph_shmem.graph import Graph, GraphExec, Node, NodeKind, capture
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.module import Kernel, Module
from hipgraph_shmem.runtime import call
from hipgraph_shmem.stream import Event, Stream

SOURCE = """
extern "C" __global__ void set(int* out, int value) {
  out[__builtin_amdgcn_workitem_id_x()] = value; }
extern "C" __global__ void negate(int* out, int value) {
  out[__builtin_amdgcn_workitem_id_x()] = -value; }
"""
CONFIG = LaunchConfig(grid=(1, 1, 1), block=(64, 1, 1))


@pytest.fixture
def kernels(device: Any) -> Iterator[tuple[Kernel, Kernel]]:
    with Module(compile_hip(SOURCE)) as module:
        yield module.kernel("set"), module.kernel("negate")


@pytest.fixture
def out(device: Any) -> Iterator[Buffer]:
    with Buffer(64, np.int32) as made:
        yield made


class Case:
    """A node whose effect on `out` is one value, to be set to another."""

    def __init__(
        self,
        add: Callable[[Graph, int], Node],
        edit: Callable[[Any, Node, int], None],
    ) -> None:
        self.add = add
        self.edit = edit


@pytest.fixture(params=["kernel", "memset", "memcpy", "host"])
def case(request: pytest.FixtureRequest, out: Buffer, kernels: tuple[Kernel, Kernel]) -> Case:
    kernel = kernels[0]
    sources = {value: np.full(64, value, np.int32) for value in range(1, 6)}

    def add_host(graph: Graph, value: int) -> Node:
        pinned.array[:] = 0
        node = graph.add_host(lambda: pinned.array.fill(value))
        graph.add_memcpy(out, pinned, dependencies=(node,))
        return node

    pinned = PinnedBuffer(64, np.int32)
    request.addfinalizer(pinned.close)
    cases = {
        "kernel": Case(
            lambda graph, value: graph.add_kernel(kernel, CONFIG, out, value),
            lambda target, node, value: target.set_kernel(node, kernel, CONFIG, out, value),
        ),
        "memset": Case(
            lambda graph, value: graph.add_memset(out, value, 64, width=4),
            lambda target, node, value: target.set_memset(node, out, value, 64, width=4),
        ),
        "memcpy": Case(
            lambda graph, value: graph.add_memcpy(out, sources[value]),
            lambda target, node, value: target.set_memcpy(node, out, sources[value]),
        ),
        "host": Case(
            add_host,
            lambda target, node, value: target.set_host(node, lambda: pinned.array.fill(value)),
        ),
    }
    return cases[request.param]


def result(graph_exec: GraphExec, out: Buffer, stream: Stream) -> int:
    out.fill(0, stream)
    graph_exec.launch(stream)
    (value,) = set(out.to_numpy(stream).tolist())
    return int(value)


def test_an_edit_changes_the_graph_or_the_exec_alone(
    stream: Stream, out: Buffer, case: Case
) -> None:
    """ROCm/clr issue 42, CHIP-SPV/chipStar issue 1498."""
    with Graph() as graph:
        node = case.add(graph, 1)
        with graph.instantiate() as first:
            case.edit(first, node, 2)
            assert result(first, out, stream) == 2
            with graph.instantiate() as second:
                assert result(second, out, stream) == 1
                case.edit(graph, node, 3)
                assert result(first, out, stream) == 2
                assert result(second, out, stream) == 1
                with graph.instantiate() as third:
                    assert result(third, out, stream) == 3


def test_another_kernel(stream: Stream, out: Buffer, kernels: tuple[Kernel, Kernel]) -> None:
    with Graph() as graph:
        node = graph.add_kernel(kernels[0], CONFIG, out, 5)
        with graph.instantiate() as graph_exec:
            graph_exec.set_kernel(node, kernels[1], CONFIG, out, 5)
            assert result(graph_exec, out, stream) == -5
        graph.set_kernel(node, kernels[1], LaunchConfig((1, 1, 1), (32, 1, 1)), out, 7)
        (listed,) = graph.nodes
        assert (listed.handle, listed.name, listed.block) == (node.handle, "negate", (32, 1, 1))


def test_an_event_node_gets_another_event(stream: Stream) -> None:
    with (
        Graph() as graph,
        Stream() as other,
        Event() as first,
        Event() as second,
        Buffer(1) as buffer,
    ):
        fill = graph.add_memset(buffer, 1, 1)
        node = graph.add_event_record(first, dependencies=(fill,))
        wait = graph.add_event_wait(first)
        with graph.instantiate() as graph_exec:
            graph_exec.set_event(node, second)
            graph_exec.launch(stream)
            other.wait(second)
            assert set(buffer.to_numpy(other)) == {1}
        for each in (node, wait):
            graph.set_event(each, second)
        assert {listed.event for listed in graph.nodes if listed.kind is not NodeKind.MEMSET} == {
            second.handle
        }


def test_editing_swaps_what_is_kept(stream: Stream) -> None:
    first, second = Buffer(64), Buffer(64)
    watched = [weakref.ref(each) for each in (first, second)]
    graph = Graph()
    node = graph.add_memset(first, 1, 64)
    graph_exec = graph.instantiate()
    graph.set_memset(node, second, 1, 64)
    graph_exec.launch(stream)
    del first, second
    gc.collect()
    assert [each() is None for each in watched] == [False, False]  # the exec's, the graph's
    fresh = Buffer(64)
    graph_exec.set_memset(node, fresh, 2, 64)
    gc.collect()
    assert [each() is None for each in watched] == [True, False]
    graph_exec.launch(stream)
    assert set(fresh.to_numpy(stream)) == {2}
    graph.close()
    gc.collect()
    assert watched[1]() is None
    graph_exec.close()
    fresh.close()


def test_an_edit_waits_for_a_launch_in_flight(
    stream: Stream, out: Buffer, kernels: tuple[Kernel, Kernel], gate: Any
) -> None:
    """HIP edits an exec in place, so a launch in flight would run half of each."""
    hold, flag = gate
    with Graph() as graph:
        node = graph.add_kernel(kernels[0], CONFIG, out, 1)
        with graph.instantiate() as graph_exec:
            hold(stream)
            graph_exec.launch(stream)
            done: list[str] = []

            def edit() -> None:
                graph_exec.set_kernel(node, kernels[0], CONFIG, out, 2)
                done.append("edited")

            thread = threading.Thread(target=edit)
            thread.start()
            time.sleep(0.2)
            assert done == []
            flag.array[0] = 1
            thread.join(30)
            assert done == ["edited"]
            assert set(out.to_numpy(stream).tolist()) == {1}
            assert result(graph_exec, out, stream) == 2


def test_closed_memory_comes_back_by_an_edit(stream: Stream) -> None:
    first = Buffer(64)
    with Graph() as graph, Buffer(64) as second:
        node = graph.add_memset(first, 1, 64)
        with graph.instantiate() as graph_exec:
            first.close()
            with pytest.raises(GraphError, match="closed"):
                graph_exec.launch(stream)
            graph_exec.set_memset(node, second, 3, 64)
            graph_exec.launch(stream)
            assert set(second.to_numpy(stream)) == {3}
            second_copy = Buffer(64)
            graph_exec.set_memset(node, second_copy, 3, 64)
            second_copy.close()
            with pytest.raises(GraphError, match="closed"):
                graph_exec.launch(stream)


def test_disabled_nodes_are_skipped_and_edges_stay(stream: Stream) -> None:
    with Graph() as graph, Buffer(64) as one, Buffer(64) as two:
        fill = graph.add_memset(one, 1, 64)
        again = graph.add_memset(one, 2, 64, dependencies=(fill,))
        graph.add_memcpy(two, one, dependencies=(again,))
        with graph.instantiate() as graph_exec:
            assert graph_exec.is_enabled(again)
            for enabled, expected in ((False, 1), (True, 2)):
                graph_exec.set_enabled(again, enabled)
                assert graph_exec.is_enabled(again) is enabled
                graph_exec.launch(stream)
                assert set(two.to_numpy(stream)) == {expected}


def test_wrong_nodes_are_refused(
    stream: Stream, out: Buffer, kernels: tuple[Kernel, Kernel]
) -> None:
    with Graph() as graph, Graph() as other, Graph() as empty, Event() as event:
        fill = graph.add_memset(out, 1, 64, width=4)
        rows = graph.add_memset(out, 1, 4, rows=2, pitch=32, dependencies=(fill,))
        foreign = other.add_memset(out, 1, 64, width=4)
        none = empty.add_empty()
        with graph.instantiate() as graph_exec:
            with pytest.raises(GraphError, match="give a node of the graph"):
                graph_exec.set_memset(foreign, out, 2, 64, width=4)
            with pytest.raises(GraphError, match="give a node of the graph"):
                graph_exec.set_memset(rows, out, 2, 3, rows=2, pitch=32)  # other rows
            for target in (graph, graph_exec):
                with pytest.raises(TypeError, match="kind KERNEL"):
                    target.set_kernel(fill, kernels[0], CONFIG, out, 1)
                with pytest.raises(TypeError, match="kind EVENT_RECORD"):
                    target.set_event(fill, event)
            with pytest.raises(TypeError, match="kind GRAPH"):
                graph_exec.set_child(fill, other)
            with pytest.raises(GraphError, match="kernel, memcpy or memset"):
                graph_exec.set_enabled(none, False)
        assert graph.nodes == (fill, rows)


def test_a_recorded_node_is_edited_by_its_place_in_the_list(
    stream: Stream, out: Buffer, kernels: tuple[Kernel, Kernel]
) -> None:
    with capture(stream) as captured:
        launch(stream, kernels[0], CONFIG, out, 3)
    (node,) = captured.graph.nodes
    with captured.graph.instantiate() as graph_exec:
        graph_exec.set_kernel(node, kernels[0], CONFIG, out, 4)
        assert result(graph_exec, out, stream) == 4


def test_declared_accesses_follow_an_edit(out: Buffer, kernels: tuple[Kernel, Kernel]) -> None:
    words = [(out.address, 4), (out.address + 4, 4)]
    with Graph() as graph:
        access = Access(counters=[words[0]])
        node = graph.add_kernel(kernels[0], CONFIG, out, 1, access=access)
        with graph.instantiate() as graph_exec:
            assert graph_exec.counter_memory == ((words[0][0], words[0][0] + 4),)
            moved = Access(counters=[words[1]])
            graph_exec.set_kernel(node, kernels[0], CONFIG, out, 1, access=moved)
            assert graph_exec.counter_memory == ((words[1][0], words[1][0] + 4),)
        graph.set_kernel(node, kernels[0], CONFIG, out, 1)
        assert not graph.recording.accesses


def test_a_child_node_of_an_exec_gets_another_graph(stream: Stream, out: Buffer) -> None:
    with Graph() as graph, Graph() as child, Graph() as other, Graph() as longer:
        child.add_memset(out, 1, 64, width=4)
        source = Buffer(64, np.int32)
        other.add_memset(source, 2, 64, width=4)
        fill = longer.add_memset(out, 3, 64, width=4)
        longer.add_empty(dependencies=(fill,))
        node = graph.add_child(child)
        with graph.instantiate() as graph_exec:
            graph_exec.set_child(node, other)
            alive = weakref.ref(source)
            del source
            other.close()
            gc.collect()
            kept = alive()
            assert kept is not None
            out.fill(9, stream, width=4)
            graph_exec.launch(stream)
            assert set(out.to_numpy(stream).tolist()) == {9}
            assert set(kept.to_numpy(stream).tolist()) == {2}
            del kept
            graph_exec.set_child(node, child)
            gc.collect()
            assert alive() is None
            assert result(graph_exec, out, stream) == 1
            with pytest.raises(GraphError, match="a graph of the child's shape"):
                graph_exec.set_child(node, longer)
            assert result(graph_exec, out, stream) == 1


def test_execs_of_others(stream: Stream) -> None:
    """A raw exec is launched, waited for and destroyed; a borrowed one is left alone."""
    with Graph() as graph, Buffer(64) as buffer:
        graph.add_memset(buffer, 6, 64)
        raw = call("hipGraphInstantiateWithFlags", graph.handle, 0)
        with GraphExec.borrow(raw) as borrowed:
            borrowed.launch(stream)
            borrowed.synchronize(timeout=30)
            assert set(buffer.to_numpy(stream)) == {6}
        kept = Buffer(4)
        adopted = GraphExec.adopt(raw, 0, kept)
        adopted.launch(stream)
        alive = weakref.ref(kept)
        del kept
        gc.collect()
        assert alive() is not None
        stream.synchronize()
        adopted.close()
        gc.collect()
        assert alive() is None
        with pytest.raises(HipError):
            call("hipGraphUpload", raw, stream.handle)
