"""Memory nodes in the calls for nodes of any kind, in updates, clones and drawings."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import NodeParams, add, fill, fill_node, generic, ints, memory, ref

INVALID, OUT_OF_MEMORY, NOT_SUPPORTED = 1, 2, 801
SUCCESS, TYPE = 0, 3
VERBOSE = 1
ADDRESS_AT = 112  # in hipMemAllocNodeParams


@pytest.fixture
def graphs():
    """Give a maker of graphs, all destroyed after the test."""
    made = []

    def make() -> int:
        made.append(hip.out("hipGraphCreate", 0))
        return made[-1]

    yield make
    for each in made:
        hip.ok("hipGraphDestroy", each)


def address_in(described: NodeParams) -> int:
    return int.from_bytes(bytes(described.union)[ADDRESS_AT : ADDRESS_AT + 8], "little")


class Scratch:
    """A graph that fills memory of its own and copies it to `out`, by generic calls."""

    def __init__(self, graph: int, out: int, value: int):
        described = generic(hip.MEM_ALLOC, memory(256))
        self.alloc = add("hipGraphAddNode", graph, ref(described))
        self.pointer = address_in(described)
        self.fill = fill_node(graph, self.pointer, value, self.alloc)
        args = (out, self.pointer, 256, hip.D2D)
        self.copy = add("hipGraphAddMemcpyNode1D", graph, *args, after=(self.fill,))
        freed = generic(hip.MEM_FREE, ctypes.c_uint64(self.pointer))
        self.free = add("hipGraphAddNode", graph, ref(freed), after=(self.copy,))


def test_both_nodes_are_added_by_their_kind(graph, stream, out):
    scratch = Scratch(graph, out, 5)
    kinds = [hip.node_type(node) for node in hip.nodes(graph)]
    assert kinds == [hip.MEM_ALLOC, hip.MEMSET, hip.MEMCPY, hip.MEM_FREE]
    found, freed = hip.MemAllocNodeParams(), ctypes.c_uint64()
    hip.ok("hipGraphMemAllocNodeGetParams", scratch.alloc, ref(found))
    hip.ok("hipGraphMemFreeNodeGetParams", scratch.free, ref(freed))
    assert (found.dptr, found.bytesize, freed.value) == (scratch.pointer, 256, scratch.pointer)
    exec_ = hip.instantiate(graph)
    for _ in range(2):
        hip.ok("hipMemset", out, 0, 256)
        hip.launch(exec_, stream)
        assert ints(out) == [5] * 64
    hip.ok("hipGraphExecDestroy", exec_)


@pytest.mark.parametrize(
    "kind, params, expected",
    [
        (hip.MEM_ALLOC, hip.MemAllocNodeParams(), INVALID),
        (hip.MEM_ALLOC, memory(0), INVALID),
        (hip.MEM_ALLOC, memory(1 << 50), OUT_OF_MEMORY),
        (hip.MEM_FREE, ctypes.c_uint64(0), INVALID),
        (hip.MEM_FREE, ctypes.c_uint64(8), INVALID),
    ],
)
def test_codes(graph, kind, params, expected):
    node, described = ctypes.c_uint64(7), generic(kind, params)
    assert hip.code("hipGraphAddNode", ref(node), graph, None, 0, ref(described)) == expected
    assert node.value == 0
    assert hip.nodes(graph) == []


def test_memory_is_not_edited_nor_switched_off(graph, out):
    scratch = Scratch(graph, out, 5)
    exec_, enabled = hip.instantiate(graph), ctypes.c_uint()
    changes = (
        (scratch.alloc, generic(hip.MEM_ALLOC, memory(512))),
        (scratch.free, generic(hip.MEM_FREE, ctypes.c_uint64(scratch.pointer))),
    )
    for node, params in changes:
        assert hip.code("hipGraphNodeSetParams", node, ref(params)) == NOT_SUPPORTED
        assert hip.code("hipGraphExecNodeSetParams", exec_, node, ref(params)) == NOT_SUPPORTED
        assert hip.code("hipGraphNodeSetEnabled", exec_, node, 0) == INVALID
        assert hip.code("hipGraphNodeGetEnabled", exec_, node, ref(enabled)) == INVALID
        other = generic(hip.MEMSET, fill(out, 1))
        assert hip.code("hipGraphNodeSetParams", node, ref(other)) == INVALID, "another kind"
        assert hip.code("hipGraphExecNodeSetParams", exec_, node, ref(other)) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)


def update(exec_: int, graph: int) -> int:
    node, result = ctypes.c_uint64(), ctypes.c_int(-1)
    code = hip.code("hipGraphExecUpdate", exec_, graph, ref(node), ref(result))
    assert (code == 0) == (result.value == SUCCESS)
    return result.value


def test_an_update_from_the_own_graph_keeps_the_memory(graph, stream, out):
    scratch = Scratch(graph, out, 5)
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphMemsetNodeSetParams", scratch.fill, ref(fill(scratch.pointer, 6)))
    assert update(exec_, graph) == SUCCESS
    for _ in range(2):
        hip.launch(exec_, stream)
    assert ints(out) == [6] * 64
    hip.ok("hipGraphExecDestroy", exec_)


def test_an_update_from_another_graph_leaves_both_their_memory(graphs, stream, out):
    """What the exec took of the other graph's nodes is changed to its own addresses then."""
    first, second = graphs(), graphs()
    own, other = Scratch(first, out, 5), Scratch(second, out, 7)
    exec_ = hip.instantiate(first)
    assert update(exec_, second) == SUCCESS
    for name, node, args in (
        ("hipGraphExecMemsetNodeSetParams", own.fill, (ref(fill(own.pointer, 8)),)),
        ("hipGraphExecMemcpyNodeSetParams1D", own.copy, (out, own.pointer, 256, hip.D2D)),
    ):
        hip.ok(name, exec_, node, *args)
    other_exec = hip.instantiate(second)
    for which, value in ((exec_, 8), (other_exec, 7), (exec_, 8)):
        hip.launch(which, stream)
        assert ints(out) == [value] * 64
    assert other.pointer != own.pointer
    plain = graphs()
    fill_node(plain, out, 1, fill_node(plain, out, 1, fill_node(plain, out, 1)))
    fill_node(plain, out, 1)
    assert update(exec_, plain) == TYPE
    for each in (exec_, other_exec):
        hip.ok("hipGraphExecDestroy", each)


class InstantiateParams(ctypes.Structure):
    """hipGraphInstantiateParams."""

    _fields_ = [
        ("errNode_out", ctypes.c_uint64),
        ("flags", ctypes.c_ulonglong),
        ("result_out", ctypes.c_int),
        ("uploadStream", ctypes.c_uint64),
    ]


def test_every_call_that_instantiates_counts(graphs, out):
    handle, params = ctypes.c_uint64(7), InstantiateParams()
    with_params = ("hipGraphInstantiateWithParams", lambda graph: (graph, ref(params)))
    plain = ("hipGraphInstantiate", lambda graph: (graph, None, None, 0))
    for (first, of_first), (again, of_again) in ((with_params, plain), (plain, with_params)):
        graph = graphs()
        Scratch(graph, out, 1)
        exec_ = hip.out(first, *of_first(graph))
        assert hip.code(again, ref(handle), *of_again(graph)) == NOT_SUPPORTED
        assert handle.value == 0
        hip.ok("hipGraphExecDestroy", exec_)
    assert params.result_out == 1


def test_a_graph_inside_is_neither_cloned_nor_taken_apart(graphs, out):
    inner, graph = graphs(), graphs()
    Scratch(inner, out, 6)
    node = add("hipGraphAddNode", graph, ref(generic(hip.GRAPH, ctypes.c_uint64(inner))))
    handle, clone = ctypes.c_uint64(), ctypes.c_uint64(7)
    hip.ok("hipGraphChildGraphNodeGetGraph", node, ref(handle))
    embedded = handle.value
    assert hip.code("hipGraphClone", ref(clone), embedded) == NOT_SUPPORTED
    assert clone.value == 0
    first, last = hip.nodes(embedded)[0], hip.nodes(embedded)[-1]
    assert [hip.node_type(each) for each in (first, last)] == [hip.MEM_ALLOC, hip.MEM_FREE]
    for each in (first, last):
        assert hip.code("hipGraphDestroyNode", each) == NOT_SUPPORTED


def test_a_child_is_updated_around_its_memory(graphs, stream, out):
    inner, graph = graphs(), graphs()
    scratch = Scratch(inner, out, 6)
    node = add("hipGraphAddChildGraphNode", graph, inner)
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphMemsetNodeSetParams", scratch.fill, ref(fill(scratch.pointer, 9)))
    hip.ok("hipGraphExecChildGraphNodeSetParams", exec_, node, inner)
    hip.launch(exec_, stream)
    assert ints(out) == [9] * 64
    hip.ok("hipGraphExecDestroy", exec_)


def test_a_drawing_shows_address_and_size(graph, out, tmp_path):
    scratch = Scratch(graph, out, 1)
    path = tmp_path / "graph.dot"
    for flags, shown in ((0, False), (VERBOSE, True)):
        hip.ok("hipGraphDebugDotPrint", graph, str(path).encode(), flags)
        lines = path.read_text().splitlines()
        alloc = next(line for line in lines if "MEM_ALLOC" in line)
        free = next(line for line in lines if "MEM_FREE" in line)
        assert (hex(scratch.pointer) in alloc, "256 bytes" in alloc) == (shown, shown)
        assert (hex(scratch.pointer) in free) == shown


def filled_box(stream: int, out: int, value: int, depth: int) -> int:
    """A graph with the recorded fill of a box of 8 x 2 bytes and `depth` slices of 4 rows of 16."""
    hip.begin(stream)
    box = hip.PitchedPtr(out, 16, 8, 4)
    hip.ok("hipMemset3DAsync", box, value, hip.Extent(8, 2, depth), stream)
    return hip.end(stream)


def test_boxes_are_updated_whole_and_not_edited_as_rows(stream, out):
    graph, new = filled_box(stream, out, 1, 3), filled_box(stream, out, 2, 4)
    exec_ = hip.instantiate(graph)
    rows = hip.MemsetParams(out, 1, 2, 16, 3, 8)
    (node,) = hip.nodes(graph)
    assert hip.code("hipGraphExecMemsetNodeSetParams", exec_, node, ref(rows)) == INVALID
    assert update(exec_, new) == SUCCESS
    hip.launch(exec_, stream)
    slice_ = (b"\2" * 8 + bytes(8)) * 2 + bytes(32)
    assert hip.from_device(out, 256) == slice_ * 4
    for each in (graph, new):
        hip.ok("hipGraphDestroy", each)
    hip.ok("hipGraphExecDestroy", exec_)
