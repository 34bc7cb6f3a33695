"""No two live execs share counters, whichever way their graphs came about.

Every way gives execs that run one GEMM. The counters of all are filled with garbage; then each is
launched: its result is right, and the counters of the others still hold the garbage, which its own
zero-fill would have erased in shared words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from helpers.gemm import Problem, problem

from hipgraph_shmem.errors import GraphError
from hipgraph_shmem.graph import Graph, GraphExec, KernelNode, MemsetNode, NodeKind, capture
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.runtime import call
from hipgraph_shmem.splitk import Gemm, check, usage
from hipgraph_shmem.stream import Stream

SIZES = (20, 70, 136)
GARBAGE = 0x3F803F80


class World:
    """A problem on the device, and graphs that solve it."""

    def __init__(self, stream: Stream, keep: ExitStack) -> None:
        self.stream = stream
        self.keep = keep
        self.given: Problem = problem(*SIZES)
        self.a, self.b = (
            keep.enter_context(from_numpy(each, stream)) for each in (self.given.a, self.given.b)
        )
        self.out = keep.enter_context(Buffer((SIZES[0], SIZES[1]), np.float32))
        stream.synchronize()

    def graph(self) -> Graph:
        with capture(self.stream) as captured:
            Gemm(*SIZES, split_k=2)(self.stream, self.a, self.b, self.out)
        return self.keep.enter_context(captured.graph)

    def empty(self) -> Graph:
        return self.keep.enter_context(Graph())

    def exec_of(self, graph: Graph) -> GraphExec:
        return self.keep.enter_context(graph.instantiate())

    def parent_of(self, *children: Graph) -> Graph:
        graph = self.empty()
        last = ()
        for child in children:
            last = (graph.add_child(child, dependencies=last),)
        return graph


def second_exec(world: World) -> list[GraphExec]:
    graph = world.graph()
    return [world.exec_of(graph) for _ in range(3)]


def clones(world: World) -> list[GraphExec]:
    graph = world.graph()
    clone = world.keep.enter_context(graph.clone())
    again = world.keep.enter_context(clone.clone())
    return [world.exec_of(each) for each in (graph, clone, again, clone)]


def clone_of_a_closed_graph(world: World) -> list[GraphExec]:
    graph = world.graph()
    clone = world.keep.enter_context(graph.clone())
    first = world.exec_of(graph)
    graph.close()
    return [first, world.exec_of(clone)]


def children(world: World) -> list[GraphExec]:
    child = world.graph()
    twice = world.parent_of(child, child)
    once = world.parent_of(child)
    return [world.exec_of(each) for each in (child, twice, twice, once, once)]


def grandchildren(world: World) -> list[GraphExec]:
    child = world.graph()
    graph = world.parent_of(world.parent_of(child))
    return [world.exec_of(each) for each in (graph, graph, child)]


def clones_of_parents(world: World) -> list[GraphExec]:
    graph = world.parent_of(world.graph())
    clone = world.keep.enter_context(graph.clone())
    return [world.exec_of(each) for each in (graph, clone, clone)]


def updates(world: World) -> list[GraphExec]:
    first, second = world.graph(), world.graph()
    execs = [world.exec_of(first), world.exec_of(first), world.exec_of(second)]
    assert execs[0].update(second).in_place
    assert execs[1].update(second).in_place
    return execs


def updates_from_its_own_graph(world: World) -> list[GraphExec]:
    graph = world.graph()
    execs = [world.exec_of(graph), world.exec_of(graph)]
    for each in execs:
        assert each.update(graph).in_place
    return execs


def update_before_the_first_exec(world: World) -> list[GraphExec]:
    first, second = world.graph(), world.graph()
    updated = world.exec_of(first)
    assert updated.update(second).in_place
    return [updated, world.exec_of(second), world.exec_of(first)]


def update_from_a_closed_graph(world: World) -> list[GraphExec]:
    first, second = world.graph(), world.graph()
    execs = [world.exec_of(first), world.exec_of(second)]
    first.close()
    assert execs[0].update(second).in_place
    second.close()
    return execs


def updates_of_parents(world: World) -> list[GraphExec]:
    first, second = (world.parent_of(world.graph()) for _ in range(2))
    execs = [world.exec_of(first), world.exec_of(second)]
    assert execs[0].update(second).in_place
    return execs


def made_anew(world: World) -> list[GraphExec]:
    graph, other = world.graph(), world.empty()
    other.add_child(graph)
    execs = [world.exec_of(graph), world.exec_of(other), world.exec_of(graph)]
    assert not execs[0].update(other).in_place
    return execs


def set_children(world: World) -> list[GraphExec]:
    child = world.graph()
    graph = world.parent_of(child)
    execs = [world.exec_of(graph), world.exec_of(graph), world.exec_of(child)]
    for each in execs[:2]:
        each.set_child(graph.nodes[0], child)
    return execs


WAYS = [
    second_exec,
    clones,
    clone_of_a_closed_graph,
    children,
    grandchildren,
    clones_of_parents,
    updates,
    updates_from_its_own_graph,
    update_before_the_first_exec,
    update_from_a_closed_graph,
    updates_of_parents,
    made_anew,
    set_children,
]


@pytest.fixture
def world(stream: Stream) -> Iterator[World]:
    with ExitStack() as keep:
        yield World(stream, keep)
    assert usage().counter_in_use == 0


def words_at(stream: Stream, start: int, stop: int) -> np.ndarray[Any, Any]:
    words = np.empty((stop - start) // 4, np.uint32)
    call("hipMemcpyAsync", words.ctypes.data, start, words.nbytes, 2, stream.handle)
    stream.synchronize()
    return words


def is_garbage(stream: Stream, graph_exec: GraphExec) -> bool:
    return all((words_at(stream, *each) == GARBAGE).all() for each in graph_exec.counter_memory)


@pytest.mark.parametrize("way", WAYS)
def test_each_exec_uses_its_own_counters_only(
    world: World, way: Callable[[World], list[GraphExec]]
) -> None:
    stream, execs = world.stream, way(world)
    assert all(each.counter_memory for each in execs)
    for launched in execs:
        for each in execs:
            for start, stop in each.counter_memory:
                call("hipMemsetD32Async", start, GARBAGE, (stop - start) // 4, stream.handle)
        world.out.fill(0xFF, stream)
        launched.launch(stream)
        world.given.assert_right(world.out.to_numpy(stream), 2)
        others = [each for each in execs if each is not launched]
        assert all(is_garbage(stream, each) for each in others)
        assert not is_garbage(stream, launched)
    check(stream)


@pytest.mark.parametrize("way", WAYS)
def test_the_check_finds_nothing_shared(
    world: World, way: Callable[[World], list[GraphExec]]
) -> None:
    for each in way(world):
        assert each.graph is None or each.graph.check() == ()


def test_a_clone_has_a_zero_fill_of_its_own(world: World) -> None:
    graph = world.graph()
    with graph.clone() as clone:
        fills = [
            node for each in (graph, clone) for node in each.nodes if isinstance(node, MemsetNode)
        ]
        assert len({fill.address for fill in fills}) == 2
        assert [node.kind for node in clone.nodes] == [node.kind for node in graph.nodes]
        # A launch added to the clone later gets words that this fill does not zero twice.
        Gemm(*SIZES, split_k=2).add_to(clone, world.a, world.b, world.out)
        kinds = [node.kind for node in clone.nodes]
        assert kinds.count(NodeKind.MEMSET) == 2
        assert len(graph.nodes) == 2


def test_nobody_else_edits_a_split_k_launch(world: World) -> None:
    graph = world.graph()
    graph_exec = world.exec_of(graph)
    (fill,) = (node for node in graph.nodes if isinstance(node, MemsetNode))
    (launch,) = (node for node in graph.nodes if isinstance(node, KernelNode))
    for target in (graph, graph_exec):
        with pytest.raises(GraphError, match="split-K launch"):
            target.set_memset(fill, world.out, 0, 4)
    with pytest.raises(GraphError, match="split-K launch"):
        graph_exec.set_enabled(fill, False)
    with pytest.raises(GraphError, match="split-K launch"):
        graph.remove(launch)
    with pytest.raises(GraphError, match="joins nodes of split-K launches"):
        graph.remove_dependencies([fill], [launch])
    world.out.fill(0, world.stream)
    graph_exec.set_enabled(launch, False)
    graph_exec.launch(world.stream)
    assert not world.out.to_numpy(world.stream).any()
    graph_exec.set_enabled(launch, True)
    graph_exec.launch(world.stream)
    world.given.assert_right(world.out.to_numpy(world.stream), 2)
