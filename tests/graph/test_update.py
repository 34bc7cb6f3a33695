"""GraphExec.update: the next launch does what the new graph says, done in place or not."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.kernels import compile_hip

from hipgraph_shmem import Access
from hipgraph_shmem.errors import GraphError, HipError
from hipgraph_shmem.graph import Graph, GraphExec, Node, capture, update
from hipgraph_shmem.graph.listing import twins
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.module import Kernel, Module
from hipgraph_shmem.runtime import call, library, state
from hipgraph_shmem.stream import Stream

SOURCE = """
extern "C" __global__ void set(int* out, int value) { *out = value; }
extern "C" __global__ void add(int* out, int value) { *out += value; }
"""
ONE = LaunchConfig(grid=(1, 1, 1), block=(1, 1, 1))
NODES = 64


@pytest.fixture
def kernels(device: Any) -> Iterator[tuple[Kernel, Kernel]]:
    with Module(compile_hip(SOURCE)) as module:
        yield module.kernel("set"), module.kernel("add")


@pytest.fixture
def out(device: Any) -> Iterator[Buffer]:
    with Buffer(NODES, np.int32) as made:
        yield made


def recorded(stream: Stream, kernel: Kernel, out: Buffer, first: int) -> Graph:
    """Record launches that set the words of `out` to first, first + 1 and so on."""
    with capture(stream) as captured:
        for index in range(NODES):
            launch(stream, kernel, ONE, out.address + 4 * index, first + index)
        captured.keep(out)
    return captured.graph


def words(graph_exec: GraphExec, out: Buffer, stream: Stream) -> list[int]:
    out.fill(0, stream)
    graph_exec.launch(stream)
    return [int(word) for word in out.to_numpy(stream)]


def expected(first: int) -> list[int]:
    return list(range(first, first + NODES))


def test_every_update_is_seen_in_the_values(
    stream: Stream, out: Buffer, kernels: tuple[Kernel, Kernel]
) -> None:
    """Recapture with a new scalar, update, launch (ROCm/rocm-systems issues 10713, 10021)."""
    with recorded(stream, kernels[0], out, 0).instantiate() as graph_exec:
        raw = graph_exec.handle
        for step in range(1, 30):
            with recorded(stream, kernels[0], out, 1000 * step) as graph:
                assert graph_exec.update(graph).in_place
            assert words(graph_exec, out, stream) == expected(1000 * step)
        assert graph_exec.handle == raw


def test_after_many_updates_the_exec_is_made_anew(
    stream: Stream, out: Buffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hipgraph_shmem.graph.graph_exec.UPDATES_IN_PLACE", 3)
    assert update.UPDATES_IN_PLACE == 1000
    with Graph() as first:
        first.add_memset(out, 1, NODES)
        with first.instantiate() as graph_exec:
            done = []
            for value in range(2, 12):
                with Graph() as graph:
                    graph.add_memset(out, value, NODES)
                    done.append(graph_exec.update(graph))
                    graph_exec.launch(stream)
                    assert set(out.to_numpy(stream).view(np.uint8)[:NODES]) == {value}
            assert [each.in_place for each in done] == 2 * [True, True, True, False] + 2 * [True]
            assert done[3].reason == "it was updated 3 times in place"


def test_another_kernel_is_taken_in_place(
    stream: Stream, out: Buffer, kernels: tuple[Kernel, Kernel]
) -> None:
    with recorded(stream, kernels[0], out, 5).instantiate() as graph_exec:
        assert graph_exec.update(recorded(stream, kernels[1], out, 7)).in_place
        out.fill(1, stream, width=4)
        graph_exec.launch(stream)
        assert [int(word) for word in out.to_numpy(stream)] == expected(8)


def add_fill(graph: Graph, out: Buffer, *before: Node) -> Node:
    return graph.add_memset(out, 7, NODES, width=4, dependencies=before)


def longer(graph: Graph, out: Buffer) -> None:
    add_fill(graph, out, graph.add_empty())


def other_kind(graph: Graph, out: Buffer) -> None:
    graph.add_memcpy(out, np.full(NODES, 7, np.int32))


@pytest.mark.parametrize(
    ("change", "reason"), [(longer, "TOPOLOGY_CHANGED"), (other_kind, "NODE_TYPE_CHANGED")]
)
def test_another_shape_makes_the_exec_anew(
    stream: Stream, out: Buffer, change: Any, reason: str
) -> None:
    with Graph() as first, Graph() as second:
        add_fill(first, out)
        change(second, out)
        with first.instantiate() as graph_exec:
            before = graph_exec.handle
            done = graph_exec.update(second)
            assert not done.in_place
            assert graph_exec.handle != before
            with pytest.raises(HipError):
                call("hipGraphUpload", before, stream.handle)  # it is destroyed
            assert reason in done.reason
            assert "hipErrorGraphExecUpdateFailure" in done.reason
            assert words(graph_exec, out, stream) == NODES * [7]
            assert graph_exec.graph == second
            if reason == "NODE_TYPE_CHANGED":
                assert done.node == second.nodes[0].handle
                node = second.nodes[0]
                graph_exec.set_memcpy(node, out, np.full(NODES, 8, np.int32))
                assert words(graph_exec, out, stream) == NODES * [8]


def test_an_update_that_fails_half_way_cannot_be_launched(
    stream: Stream, out: Buffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runtime changes some nodes and reports 910; then instantiating fails as well."""
    with Graph() as first, Graph() as second:
        add_fill(first, out)
        longer(second, out)
        with first.instantiate() as graph_exec:
            monkeypatch.setitem(
                state.calls, "hipGraphInstantiateWithFlags", lambda *_: fail_with_no_memory()
            )
            with pytest.raises(MemoryError):
                graph_exec.update(second)
            with pytest.raises(GraphError, match="half updated"):
                graph_exec.launch(stream)
            monkeypatch.undo()
            assert graph_exec.update(first).in_place
            assert words(graph_exec, out, stream) == NODES * [7]


def fail_with_no_memory() -> int:
    raise MemoryError


def test_an_update_swaps_what_is_held(stream: Stream) -> None:
    first, second = Buffer(64), Buffer(64)
    watched = [weakref.ref(each) for each in (first, second)]
    with Graph() as graph:
        graph.add_memset(first, 1, 64)
        graph_exec = graph.instantiate()
    graph_exec.launch(stream)
    with Graph() as graph:
        graph.add_memset(second, 2, 64)
        assert graph_exec.update(graph).in_place
    del first, second
    gc.collect()
    assert [each() is None for each in watched] == [True, False]
    graph_exec.launch(stream)
    stream.synchronize()
    graph_exec.close()
    gc.collect()
    assert watched[1]() is None


def test_nodes_of_the_first_graph_stay_the_address_after_an_update(
    stream: Stream, out: Buffer
) -> None:
    """What an edit replaces is what the update brought for that place."""
    old, new, last = Buffer(64), Buffer(64), Buffer(64)
    with Graph() as first, Graph() as second:
        node = first.add_memset(old, 1, 64)
        second.add_memset(new, 2, 64)
        second.recording.declare(second.nodes[0].handle, Access(counters=[new]))
        with first.instantiate() as graph_exec:
            assert graph_exec.update(second).in_place
            assert graph_exec.counter_memory == (new.extent,)
            second.close()
            alive = weakref.ref(new)
            del new
            graph_exec.set_memset(node, last, 3, 64)
            gc.collect()
            assert alive() is None
            assert graph_exec.counter_memory == ()
            graph_exec.launch(stream)
            assert set(last.to_numpy(stream)) == {3}
    old.close()
    last.close()


def test_what_cannot_be_launched_is_refused_before_hip_sees_it(stream: Stream, out: Buffer) -> None:
    with Graph() as first, Graph() as second:
        add_fill(first, out)
        dead = Buffer(64)
        second.add_memset(dead, 1, 64)
        with first.instantiate() as graph_exec:
            dead.close()
            with pytest.raises(GraphError, match="closed"):
                graph_exec.update(second)
            assert words(graph_exec, out, stream) == NODES * [7]


def test_disabled_nodes_stay_disabled(stream: Stream, out: Buffer) -> None:
    with Graph() as first, Graph() as second:
        node = add_fill(first, out)
        second.add_memset(out, 9, NODES, width=4)
        with first.instantiate() as graph_exec:
            graph_exec.set_enabled(node, False)
            assert graph_exec.update(second).in_place
            assert words(graph_exec, out, stream) == NODES * [0]
            graph_exec.set_enabled(node, True)
            assert words(graph_exec, out, stream) == NODES * [9]


def test_nodes_and_edges_of_a_clone_are_in_the_order_of_the_graph(stream: Stream) -> None:
    """What is assumed of HIP: a clone's list of nodes runs beside the original's."""
    rng = np.random.default_rng(5)
    find = library().pointers.hipGraphNodeFindInClone
    for _ in range(20):
        with Graph() as graph:
            nodes: list[Node] = []
            for _ in range(int(rng.integers(1, 30))):
                nodes.append(graph.add_empty())
            for _ in range(40):
                one, other = sorted(rng.integers(0, len(nodes), 2))
                pair = nodes[one], nodes[other]
                if one != other and pair not in graph.edges:
                    graph.add_dependencies([nodes[one]], [nodes[other]])
            with graph.clone() as clone:
                for node, twin in twins(graph.handle, clone.handle).items():
                    found = ctypes.c_void_p()
                    code = find(
                        ctypes.byref(found), ctypes.c_void_p(node), ctypes.c_void_p(clone.handle)
                    )
                    assert (code, found.value) == (0, twin)
                place = twins(graph.handle, clone.handle)
                edges = {(start.handle, end.handle) for start, end in clone.edges}
                assert edges == {
                    (place[start.handle], place[end.handle]) for start, end in graph.edges
                }
