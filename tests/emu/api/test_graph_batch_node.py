"""Nodes that write values and wait for them (api/graph_batch_node.cpp)."""

from __future__ import annotations

import ctypes
import struct

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import add, fill_node, generic, ref, run

ADD = "hipGraphAddBatchMemOpNode"
GET, SET = "hipGraphBatchMemOpNodeGetParams", "hipGraphBatchMemOpNodeSetParams"
SET_EXEC = "hipGraphExecBatchMemOpNodeSetParams"
INVALID, BATCH_MEM_OP = 1, 14
WAIT32, WRITE32, FLUSH, WAIT64, WRITE64 = 1, 2, 3, 4, 5
GREATER_EQUAL, EQUAL, NOR = 0, 1, 3
OPERATION = "<iiQQIIQ8x"
CONTEXT = 0x1234


class Batch(ctypes.Structure):
    """hipBatchMemOpNodeParams."""

    _fields_ = [
        ("ctx", ctypes.c_void_p),
        ("count", ctypes.c_uint),
        ("paramArray", ctypes.c_void_p),
        ("flags", ctypes.c_uint),
    ]

    def operations(self) -> list[tuple[int, ...]]:
        """(kind, address, value, flags) of each."""
        data = ctypes.string_at(self.paramArray, 48 * self.count)
        return [(o[0], *o[2:5]) for o in struct.iter_unpack(OPERATION, data)]


def batch(*operations: tuple[int, int, int, int], **changes: int) -> Batch:
    data = b"".join(struct.pack(OPERATION, k, 0, a, v, f, 0, 0) for k, a, v, f in operations)
    kept = ctypes.create_string_buffer(data)
    made = Batch(CONTEXT, len(operations), ctypes.addressof(kept), 0)
    made.kept = kept
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def read_back(node: int) -> Batch:
    shown = Batch()
    hip.ok(GET, node, ref(shown))
    return shown


@pytest.fixture
def exec_of(graph):
    made = []

    def make() -> int:
        made.append(hip.instantiate(graph))
        return made[-1]

    yield make
    for each in made:
        hip.ok("hipGraphExecDestroy", each)


def test_operations_run_in_order_behind_the_nodes_dependencies(graph, stream, out):
    first = fill_node(graph, out, -1)
    write, wait = (WRITE32, out, 7, 0), (WAIT32, out, 7, EQUAL)
    params = batch(write, wait, (WRITE32, out, 8, 0), (WRITE64, out + 8, 9, 0))
    node = add(ADD, graph, ref(params), after=(first,))
    assert hip.node_type(node) == BATCH_MEM_OP
    assert hip.edges(graph) == [(first, node)]
    run(graph, stream)
    assert hip.from_device(out, 16) == struct.pack("<IiQ", 8, -1, 9)


def test_the_node_has_its_own_copy_and_shows_it(graph, out):
    operations = [
        (WRITE32, out, 0xFFFFFFF0, 0),
        (WAIT32, out + 4, 2, GREATER_EQUAL),
        (WRITE64, out + 8, 1 << 40, 0),
        (WAIT64, out + 16, 3, NOR),
    ]
    params = batch(*operations)
    node = add(ADD, graph, ref(params))
    ctypes.memset(params.paramArray, 0, 48 * 4)
    shown = read_back(node)
    assert (shown.ctx, shown.count, shown.flags) == (CONTEXT, 4, 0)
    assert shown.operations() == operations


def test_setting_replaces_all_operations(graph, stream, out):
    node = add(ADD, graph, ref(batch((WRITE32, out, 1, 0), (WRITE32, out + 4, 2, 0))))
    hip.ok(SET, node, ref(batch((WRITE32, out + 8, 3, 0))))
    assert read_back(node).operations() == [(WRITE32, out + 8, 3, 0)]
    run(graph, stream)
    assert hip.from_device(out, 12) == struct.pack("<III", 0, 0, 3)


def test_setting_an_execs_operations_leaves_the_graph_alone(graph, stream, out, exec_of):
    node = add(ADD, graph, ref(batch((WRITE32, out, 1, 0))))
    changed, unchanged = exec_of(), exec_of()
    hip.ok(SET_EXEC, changed, node, ref(batch((WRITE32, out, 2, 0))))
    hip.launch(changed, stream)
    assert hip.from_device(out, 4) == struct.pack("<I", 2)
    assert read_back(node).operations() == [(WRITE32, out, 1, 0)]
    hip.launch(unchanged, stream)
    assert hip.from_device(out, 4) == struct.pack("<I", 1)


def test_a_clone_and_an_update_take_the_operations(graph, stream, out, exec_of):
    node = add(ADD, graph, ref(batch((WRITE32, out, 1, 0))))
    exec_ = exec_of()
    clone = hip.out("hipGraphClone", graph)
    twin = hip.out("hipGraphNodeFindInClone", node, clone)
    hip.ok(SET, twin, ref(batch((WRITE32, out, 5, 0))))
    hip.ok("hipGraphExecUpdate", exec_, clone, bytes(8), bytes(4))
    hip.launch(exec_, stream)
    assert hip.from_device(out, 4) == struct.pack("<I", 5)
    hip.ok("hipGraphDestroy", clone)


def test_what_is_no_batch_is_refused(graph, out, exec_of):
    good = batch((WRITE32, out, 1, 0))
    node, other = add(ADD, graph, ref(good)), fill_node(graph, out, 0)
    exec_ = exec_of()
    wrong = [
        batch((WRITE32, out, 1, 0), count=0),
        batch((WRITE32, out, 1, 0), count=257),
        batch((WRITE32, out, 1, 0), flags=1),
        batch((WRITE32, out, 1, 0), paramArray=None),
        batch((FLUSH, 0, 0, 0)),
        batch((WAIT32, out, 1, 4)),
        batch((WRITE32, 0, 1, 0)),
        batch((WRITE32, out + 2, 1, 0)),
        batch((WRITE64, out + 252, 1, 0)),
    ]
    for params in [None, *(ref(each) for each in wrong)]:
        assert hip.code(ADD, bytes(8), graph, None, 0, params) == INVALID
        assert hip.code(SET, node, params) == INVALID
        assert hip.code(SET_EXEC, exec_, node, params) == INVALID
    assert hip.code(SET, other, ref(good)) == INVALID
    assert hip.code(SET_EXEC, exec_, other, ref(good)) == INVALID
    assert hip.code(GET, other, ref(Batch())) == INVALID
    assert hip.code(GET, node, None) == INVALID
    assert hip.code(GET, None, ref(Batch())) == INVALID
    assert read_back(node).operations() == [(WRITE32, out, 1, 0)]


def test_the_calls_for_any_kind_of_node_have_no_place_for_a_batch(graph, out):
    node = add(ADD, graph, ref(batch((WRITE32, out, 1, 0))))
    params = generic(BATCH_MEM_OP)
    assert hip.code("hipGraphAddNode", bytes(8), graph, None, 0, ref(params)) == INVALID
    assert hip.code("hipGraphNodeSetParams", node, ref(params)) == INVALID
