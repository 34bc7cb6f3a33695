"""Checks look into child graphs, and know when memory of a graph exists."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from helpers.checks import ONE, kinds, only, spans

from hipgraph_shmem import Access, Buffer, FindingKind, Graph, Module
from hipgraph_shmem.graph import AllocNode, Node
from hipgraph_shmem.runtime import call


def test_a_child_is_one_node_of_its_parent(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph, Graph() as child:
        child.add_memcpy(buffers[1], buffers[0])
        node = graph.add_child(child)
        write = graph.add_memset(buffers[0].address + 8, 1, 4)
        finding = only(graph, FindingKind.UNORDERED)
        assert set(finding.nodes) == {node, write}
        assert spans(finding) == [(buffers[0].address + 8, buffers[0].address + 12)]
        graph.add_dependencies([node], [write])
        assert graph.check() == ()


def test_children_that_only_read_the_same_need_no_order(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph, Graph() as one, Graph() as two:
        one.add_memcpy(buffers[1], buffers[0])
        two.add_memcpy(buffers[2], buffers[0])
        graph.add_child(one)
        graph.add_child(two)
        assert graph.check() == ()


def test_faults_inside_a_child_name_its_nodes(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph, Graph() as middle, Graph() as child:
        child.add_memset(buffers[0], 1, 64)
        child.add_memset(buffers[0], 2, 64)
        middle.add_child(child)
        node = graph.add_child(middle)
        (inner,) = Graph.borrow(node.graph).nodes
        nested = Graph.borrow(inner.graph).nodes
        assert only(graph, FindingKind.UNORDERED).nodes == nested


def add_count(graph: Graph, module: Module, word: int, *before: Node) -> Node:
    return graph.add_kernel(
        module.kernel("count"),
        ONE,
        word,
        dependencies=before,
        access=Access(counters=[(word, 4)]),
    )


def test_a_parent_zeroes_the_counters_of_a_child(
    buffers: tuple[Buffer, ...], module: Module
) -> None:
    word = buffers[0].address
    with Graph() as graph, Graph() as child:
        add_count(child, module, word)
        node = graph.add_child(child)
        finding = only(graph, FindingKind.DIRTY_COUNTER)
        assert (finding.nodes, spans(finding)) == ((node,), [(word, word + 4)])
        fill = graph.add_memset(word, 0, 4)
        assert kinds(graph) == [FindingKind.DIRTY_COUNTER, FindingKind.UNORDERED]
        graph.add_dependencies([fill], [node])
        assert graph.check() == ()
        again = graph.add_child(child, dependencies=(node,))
        finding = only(graph, FindingKind.DIRTY_COUNTER)
        assert finding.nodes == (again, node)  # the first child leaves them used


def test_a_child_zeroes_its_own_counters(buffers: tuple[Buffer, ...], module: Module) -> None:
    word = buffers[0].address
    with Graph() as graph, Graph() as child:
        fill = child.add_memset(word, 0, 4)
        add_count(child, module, word, fill)
        node = graph.add_child(child)
        graph.add_child(child, dependencies=(node,))
        assert graph.check() == ()


def test_no_parent_helps_counters_that_the_child_spoils(
    buffers: tuple[Buffer, ...], module: Module
) -> None:
    word = buffers[0].address
    with Graph() as graph, Graph() as child:
        spoiler = child.add_memset(word, 5, 4)
        add_count(child, module, word, spoiler)
        node = graph.add_child(child)
        inner = Graph.borrow(node.graph).nodes
        assert only(graph, FindingKind.DIRTY_COUNTER).nodes == (inner[1], inner[0])
        fill = graph.add_memset(word, 0, 4)
        graph.add_dependencies([fill], [node])
        assert only(graph, FindingKind.DIRTY_COUNTER).nodes == (inner[1], inner[0])


def test_what_was_declared_in_a_child_counts(buffers: tuple[Buffer, ...], module: Module) -> None:
    """Without the declarations, two launches that write one allocation would be unordered."""
    kernel = module.kernel("touch")
    with Graph() as graph, Graph() as child:
        for half in (buffers[0].address, buffers[0].address + 128):
            child.add_kernel(kernel, ONE, half, access=Access(writes=[(half, 4)]))
        assert child.check() == ()
        graph.add_child(child)
        assert graph.check() == ()


def test_a_child_that_others_added_is_looked_into(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph, Graph() as child:
        child.add_memset(buffers[0], 1, 64)
        none = (ctypes.c_void_p * 0)()
        call("hipGraphAddChildGraphNode", graph.handle, none, 0, child.handle)
        graph.add_memset(buffers[0], 2, 64)
        assert kinds(graph) == [FindingKind.UNORDERED]


def in_order(graph: Graph, memory: AllocNode) -> None:
    fill = graph.add_memset(memory.address, 0, 256, dependencies=(memory,))
    graph.add_free(memory, dependencies=(fill,))


def before_it_exists(graph: Graph, memory: AllocNode) -> None:
    fill = graph.add_memset(memory.address, 0, 256)
    graph.add_free(memory, dependencies=(fill, memory))


def when_it_may_be_gone(graph: Graph, memory: AllocNode) -> None:
    graph.add_memset(memory.address, 0, 256, dependencies=(memory,))
    graph.add_free(memory, dependencies=(memory,))


def never_freed(graph: Graph, memory: AllocNode) -> None:
    graph.add_memset(memory.address + 255, 0, 1, dependencies=(memory,))


@pytest.mark.parametrize(
    ("use", "is_wrong"),
    [
        (in_order, False),
        (before_it_exists, True),
        (when_it_may_be_gone, True),
        (never_freed, False),
    ],
)
def test_memory_of_a_graph_is_there_between_its_nodes(
    device: Any, use: Any, is_wrong: bool
) -> None:
    with Graph() as graph:
        memory = graph.add_alloc(256)
        use(graph, memory)
        found = graph.check()
        assert [each.kind for each in found] == [FindingKind.DEAD_MEMORY] * is_wrong
        if is_wrong:
            assert found[0].nodes[1] == memory
