"""Graphs by hand: edges, queries, clones (api/graph.cpp, runtime/graph.cpp)."""

from __future__ import annotations

import ctypes
import random

import pytest
from helpers import hip_ctypes as hip

INVALID = 1
STALE = 0x7_0000_0000


@pytest.fixture
def graph():
    made = hip.out("hipGraphCreate", 0)
    yield made
    hip.ok("hipGraphDestroy", made)


def empty(graph: int, *dependencies: int) -> int:
    """Add an empty node."""
    return hip.out("hipGraphAddEmptyNode", graph, hip.array(dependencies), len(dependencies))


def connect(graph: int, *pairs: tuple[int, int], call: str = "hipGraphAddDependencies") -> int:
    """Add edges; the error number."""
    sources, targets = zip(*pairs, strict=True)
    return hip.code(call, graph, hip.array(sources), hip.array(targets), len(pairs))


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipGraphCreate", (None, 0), INVALID),
        ("hipGraphCreate", (bytes(8), 1), INVALID),
        ("hipGraphDestroy", (None,), INVALID),
        ("hipGraphDestroy", (STALE,), INVALID),
        ("hipGraphClone", (bytes(8), STALE), INVALID),
        ("hipGraphGetNodes", (STALE, None, bytes(8)), INVALID),
        ("hipGraphGetRootNodes", (STALE, None, bytes(8)), INVALID),
        ("hipGraphGetEdges", (STALE, None, None, bytes(8)), INVALID),
        ("hipGraphNodeGetDependencies", (STALE, None, bytes(8)), INVALID),
        ("hipGraphNodeGetDependentNodes", (None, None, bytes(8)), INVALID),
        ("hipGraphNodeGetType", (STALE, bytes(4)), INVALID),
        ("hipGraphDestroyNode", (STALE,), INVALID),
        ("hipGraphAddEmptyNode", (bytes(8), STALE, None, 0), INVALID),
    ],
)
def test_codes(call, args, expected):
    assert hip.code(call, *args) == expected


def test_missing_places_for_results(graph):
    node = empty(graph)
    assert hip.code("hipGraphGetNodes", graph, None, None) == INVALID
    assert hip.code("hipGraphNodeGetType", node, None) == INVALID
    assert hip.code("hipGraphAddEmptyNode", None, graph, None, 0) == INVALID
    assert hip.code("hipGraphAddEmptyNode", bytes(8), graph, None, 1) == INVALID
    count = ctypes.c_size_t(1)
    half = hip.array([0])
    assert hip.code("hipGraphGetEdges", graph, half, None, ctypes.byref(count)) == INVALID


def test_refused_nodes_change_nothing(graph):
    node = empty(graph)
    elsewhere = hip.out("hipGraphCreate", 0)
    foreign = empty(elsewhere)
    for dependencies in ([STALE], [foreign], [node, node]):
        handle = ctypes.c_uint64(7)
        args = graph, hip.array(dependencies), len(dependencies)
        assert hip.code("hipGraphAddEmptyNode", ctypes.byref(handle), *args) == INVALID
        assert handle.value == 0
    assert hip.nodes(graph) == [node]
    hip.ok("hipGraphDestroy", elsewhere)


def test_order_is_kahns_with_ties_by_insertion(graph):
    a, b = empty(graph), empty(graph)
    c = empty(graph, b)
    d = empty(graph, a)
    e = empty(graph, c, d)
    assert hip.nodes(graph) == [a, b, d, c, e]
    assert hip.handles("hipGraphGetRootNodes", graph) == [a, b]
    assert hip.edges(graph) == [(a, d), (b, c), (c, e), (d, e)]
    assert hip.handles("hipGraphNodeGetDependencies", e) == [c, d]
    assert hip.handles("hipGraphNodeGetDependentNodes", a) == [d]


def test_counts(graph):
    a, b = empty(graph), empty(graph)
    room = hip.array([9, 9, 9])
    count = ctypes.c_size_t(1)
    hip.ok("hipGraphGetNodes", graph, room, ctypes.byref(count))
    assert (count.value, list(room)) == (1, [a, 9, 9])
    count.value = 3
    hip.ok("hipGraphGetNodes", graph, room, ctypes.byref(count))
    assert (count.value, list(room)) == (2, [a, b, 0])


def test_edges_added_and_removed(graph):
    a, b, c = (empty(graph) for _ in range(3))
    assert connect(graph, (a, c), (a, b)) == 0
    assert hip.edges(graph) == [(a, c), (a, b)]
    assert connect(graph, (b, c), (a, b)) == INVALID, "an edge that exists"
    assert hip.edges(graph) == [(a, c), (a, b), (b, c)], "the earlier edge of the call stays"
    assert connect(graph, (c, b), (a, a)) == INVALID
    assert connect(graph, (c, STALE)) == INVALID
    assert hip.edges(graph) == [(a, c), (a, b), (b, c)]
    remove = "hipGraphRemoveDependencies"
    assert connect(graph, (a, b), call=remove) == 0
    assert connect(graph, (a, b), call=remove) == INVALID
    assert hip.edges(graph) == [(a, c), (b, c)]
    assert hip.code("hipGraphAddDependencies", graph, None, None, 0) == 0
    assert hip.code("hipGraphAddDependencies", graph, None, None, 1) == INVALID


def test_a_cycle_is_accepted_until_someone_needs_an_order(graph):
    a, b = empty(graph), empty(graph)
    assert connect(graph, (a, b), (b, a)) == 0
    count = ctypes.c_size_t(0)
    assert hip.code("hipGraphGetNodes", graph, None, ctypes.byref(count)) == INVALID
    handle = ctypes.c_uint64(7)
    args = ctypes.byref(handle), graph, None, None, 0
    assert hip.code("hipGraphInstantiate", *args) == INVALID
    assert handle.value == 0


def test_a_destroyed_nodes_edges_go_with_it(graph):
    a = empty(graph)
    b = empty(graph, a)
    c = empty(graph, b)
    hip.ok("hipGraphDestroyNode", b)
    assert hip.edges(graph) == []
    assert hip.nodes(graph) == [a, c]
    assert hip.code("hipGraphDestroyNode", b) == INVALID


def test_a_clone_is_equal_and_independent(graph):
    a = empty(graph)
    b = empty(graph, a)
    c = empty(graph, a)
    empty(graph, c, b)
    clone = hip.out("hipGraphClone", graph)
    place = {node: i for i, node in enumerate(hip.nodes(graph))}
    twin = {node: i for i, node in enumerate(hip.nodes(clone))}
    shape = [(place[x], place[y]) for x, y in hip.edges(graph)]
    assert [(twin[x], twin[y]) for x, y in hip.edges(clone)] == shape
    assert not set(place) & set(twin)
    hip.ok("hipGraphDestroyNode", a)
    assert len(hip.nodes(clone)) == 4
    hip.ok("hipGraphDestroy", clone)


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_are_listed_as_they_were_built(graph, seed):
    draw = random.Random(seed)
    made: list[int] = []
    wanted = set()
    for _ in range(60):
        dependencies = draw.sample(made, min(len(made), draw.randrange(4)))
        made.append(empty(graph, *dependencies))
        wanted |= {(dependency, made[-1]) for dependency in dependencies}
    order = {node: i for i, node in enumerate(hip.nodes(graph))}
    assert set(order) == set(made)
    assert set(hip.edges(graph)) == wanted
    assert all(order[x] < order[y] for x, y in wanted)


def test_a_destroyed_graphs_nodes_are_unknown():
    graph = hip.out("hipGraphCreate", 0)
    node = empty(graph)
    hip.ok("hipGraphDestroy", graph)
    assert hip.code("hipGraphNodeGetType", node, bytes(4)) == INVALID
