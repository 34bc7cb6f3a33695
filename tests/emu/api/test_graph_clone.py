"""Clones, and graphs inside graphs (api/graph_clone.cpp, runtime/graph.cpp)."""

from __future__ import annotations

import ctypes

from helpers import hip_ctypes as hip
from helpers.graph_nodes import Launch, add, empty, fill_node, generic, ints, ref, run

INVALID, UNKNOWN = 1, 999
STALE = 0x7_0000_0000
FIND, GET_GRAPH = "hipGraphNodeFindInClone", "hipGraphChildGraphNodeGetGraph"
SET_CHILD = "hipGraphExecChildGraphNodeSetParams"


def child_of(node: int) -> int:
    graph = ctypes.c_uint64()
    hip.ok(GET_GRAPH, node, ref(graph))
    return graph.value


def test_nodes_are_found_in_a_clone(graph):
    a = empty(graph)
    b = empty(graph, a)
    clone = hip.out("hipGraphClone", graph)
    twin_a, twin_b = (hip.out(FIND, node, clone) for node in (a, b))
    assert hip.edges(clone) == [(twin_a, twin_b)]
    assert not {a, b} & {twin_a, twin_b}
    later = empty(graph)
    handle = ctypes.c_uint64(7)
    for node, where in (
        (later, clone),
        (a, graph),
        (twin_a, clone),
        (None, clone),
        (STALE, clone),
        (a, None),
        (a, STALE),
    ):
        assert hip.code(FIND, ref(handle), node, where) == INVALID
        assert handle.value == 0
    assert hip.code(FIND, None, a, clone) == INVALID
    hip.ok("hipGraphDestroyNode", twin_a)
    assert hip.code(FIND, ref(handle), a, clone) == INVALID
    second = hip.out("hipGraphClone", clone)
    assert hip.code(FIND, ref(handle), b, second) == INVALID, "a clone of another graph"
    assert hip.out(FIND, twin_b, second) in hip.nodes(second)
    hip.ok("hipGraphDestroy", clone)
    hip.ok("hipGraphDestroy", second)


def test_a_clone_is_edited_alone(graph, stream, put, out):
    node = Launch(put, out, 1).node(graph)
    clone = hip.out("hipGraphClone", graph)
    two = Launch(put, out, 2)
    hip.ok("hipGraphKernelNodeSetParams", hip.out(FIND, node, clone), ref(two.params))
    for which, value in ((clone, 2), (graph, 1)):
        run(which, stream)
        assert ints(out) == [value] * 64
    hip.ok("hipGraphDestroy", clone)


def test_the_graph_of_a_child_node_is_its_own_clone(graph, stream, out):
    child = hip.out("hipGraphCreate", 0)
    inner = fill_node(child, out, 1)
    node = add("hipGraphAddChildGraphNode", graph, child)
    embedded = child_of(node)
    assert embedded not in (child, graph)
    assert child_of(node) == embedded
    twin = hip.out(FIND, inner, embedded)
    assert hip.nodes(embedded) == [twin]
    exec_ = hip.instantiate(graph)
    params = hip.MemsetParams(out, 4, 1, 0, 2, 64)
    hip.ok("hipGraphMemsetNodeSetParams", twin, ref(params))
    for which, value in ((exec_, 1), (hip.instantiate(graph), 2)):
        hip.launch(which, stream)
        assert ints(out) == [value] * 64
        assert hip.code("hipGraphExecMemsetNodeSetParams", which, twin, ref(params)) == INVALID
        hip.ok("hipGraphExecDestroy", which)
    assert hip.code("hipGraphDestroy", embedded) == INVALID, "the node owns it"
    hip.ok("hipGraphDestroyNode", node)
    count = ctypes.c_size_t()
    assert hip.code("hipGraphGetNodes", embedded, None, ref(count)) == INVALID
    hip.ok("hipGraphDestroy", child)


def test_an_exec_keeps_no_child_alive(graph):
    child = hip.out("hipGraphCreate", 0)
    inner = empty(child)
    node = add("hipGraphAddChildGraphNode", graph, child)
    twin = hip.out(FIND, inner, child_of(node))
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphDestroyNode", node)
    assert hip.code("hipGraphNodeGetType", twin, bytes(4)) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", child)


def test_child_codes(graph):
    handle = ctypes.c_uint64(7)
    for node in (None, STALE, empty(graph)):
        assert hip.code(GET_GRAPH, node, ref(handle)) == INVALID
        assert handle.value == 0
    child = hip.out("hipGraphCreate", 0)
    node = add("hipGraphAddChildGraphNode", graph, child)
    assert hip.code(GET_GRAPH, node, None) == INVALID
    exec_ = hip.instantiate(graph)
    for args in (
        (STALE, node, child),
        (exec_, STALE, child),
        (exec_, empty(graph), child),
        (exec_, node, None),
        (exec_, node, STALE),
    ):
        assert hip.code(SET_CHILD, *args) == INVALID
    assert hip.code(SET_CHILD, exec_, node, graph) == UNKNOWN, "its own parent"
    own = generic(hip.GRAPH, ctypes.c_uint64(graph))
    assert hip.code("hipGraphExecNodeSetParams", exec_, node, ref(own)) == UNKNOWN
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", child)


def chain(out: int, put: int, value: int) -> int:
    """A graph that fills, then puts a value over the first half."""
    made = hip.out("hipGraphCreate", 0)
    Launch(put, out, value, blockDim=hip.Dim3(32, 1, 1)).node(made, fill_node(made, out, value + 1))
    return made


def test_a_child_of_an_exec_takes_the_work_of_a_like_graph(graph, stream, put, out):
    first, second = chain(out, put, 1), chain(out, put, 5)
    node = add("hipGraphAddChildGraphNode", graph, first)
    exec_, generic_exec = hip.instantiate(graph), hip.instantiate(graph)
    hip.ok(SET_CHILD, exec_, node, second)
    params = generic(hip.GRAPH, ctypes.c_uint64(second))
    hip.ok("hipGraphExecNodeSetParams", generic_exec, node, ref(params))
    for which, value in ((exec_, 5), (generic_exec, 5), (hip.instantiate(graph), 1)):
        hip.launch(which, stream)
        assert ints(out) == [value] * 32 + [value + 1] * 32
    other = hip.out("hipGraphCreate", 0)
    fill_node(other, out, 1)
    assert hip.code(SET_CHILD, exec_, node, other) == UNKNOWN, "fewer nodes"
    fill_node(other, out, 1)
    assert hip.code(SET_CHILD, exec_, node, other) == UNKNOWN, "other kinds"
    hip.launch(exec_, stream)
    assert ints(out) == [5] * 32 + [6] * 32
    for handle in (exec_, generic_exec):
        hip.ok("hipGraphExecDestroy", handle)
    for handle in (first, second, other):
        hip.ok("hipGraphDestroy", handle)


def test_a_child_node_takes_another_graph(graph, stream, put, out):
    first, second = chain(out, put, 1), chain(out, put, 5)
    node = add("hipGraphAddChildGraphNode", graph, first)
    embedded = child_of(node)
    params = generic(hip.GRAPH, ctypes.c_uint64(second))
    hip.ok("hipGraphNodeSetParams", node, ref(params))
    assert hip.code("hipGraphGetNodes", embedded, None, bytes(8)) == INVALID, "it is gone"
    assert len(hip.nodes(child_of(node))) == 2
    run(graph, stream)
    assert ints(out) == [5] * 32 + [6] * 32
    for handle in (first, second):
        hip.ok("hipGraphDestroy", handle)
