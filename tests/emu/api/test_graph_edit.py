"""Nodes edited by their kind's own calls and the generic ones (api/graph_edit.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import (
    Calls,
    Launch,
    NodeParams,
    add,
    copy,
    empty,
    fill,
    fill_node,
    generic,
    ints,
    ref,
    run,
)

INVALID, NO_FUNCTION, PITCH, DIRECTION, NOT_SUPPORTED = 1, 98, 12, 21, 801
STALE = 0x7_0000_0000
WAIT_EVENT, EVENT_RECORD, ALLOC, FREE = 6, 7, 10, 11
SET, EXEC_SET = "hipGraphNodeSetParams", "hipGraphExecNodeSetParams"


@pytest.fixture
def other():
    """Give 64 ints of device memory with the value 9."""
    address = hip.malloc(256)
    hip.ok("hipMemsetD32", address, 9, 64)
    yield address
    hip.ok("hipFree", address)


def add_generic(graph: int, params: NodeParams, *after: int) -> int:
    return add("hipGraphAddNode", graph, ref(params), after=after)


def test_a_node_of_each_kind_is_added(graph, stream, put, out, other):
    calls, event = Calls(), hip.event(0)
    child = hip.out("hipGraphCreate", 0)
    fill_node(child, other, 4)
    launch = Launch(put, out, 3)
    nodes = [add_generic(graph, generic(hip.EMPTY))]
    for kind, params in (
        (hip.KERNEL, launch.params),
        (hip.MEMSET, fill(out, 5, width=8)),
        (hip.GRAPH, ctypes.c_uint64(child)),
        (hip.MEMCPY, copy(out + 128, other, hip.D2D, 64)),
        (hip.HOST, calls.params(77)),
        (EVENT_RECORD, ctypes.c_uint64(event)),
        (WAIT_EVENT, ctypes.c_uint64(event)),
    ):
        nodes.append(add_generic(graph, generic(kind, params), nodes[-1]))
        assert hip.node_type(nodes[-1]) == kind
    run(graph, stream)
    assert ints(out) == [5] * 8 + [3] * 24 + [4] * 16 + [3] * 16
    assert calls.seen == [77]
    hip.ok("hipEventElapsedTime", ref(ctypes.c_float()), event, event)
    hip.ok("hipEventDestroy", event)
    hip.ok("hipGraphDestroy", child)


@pytest.mark.parametrize(
    "kind, params, expected",
    [
        (hip.KERNEL, hip.KernelNodeParams(), INVALID),
        (hip.KERNEL, hip.KernelNodeParams(func=STALE), NO_FUNCTION),
        (hip.MEMSET, hip.MemsetParams(), INVALID),
        (hip.MEMCPY, copy(0, 0, hip.D2D), INVALID),
        (hip.MEMCPY, copy(0, 0, 77), DIRECTION),
        (hip.HOST, hip.HostNodeParams(None, 1), INVALID),
        (hip.GRAPH, ctypes.c_uint64(0), INVALID),
        (WAIT_EVENT, ctypes.c_uint64(0), INVALID),
        (EVENT_RECORD, ctypes.c_uint64(STALE), INVALID),
        (8, None, NOT_SUPPORTED),
        (9, None, NOT_SUPPORTED),
        (12, None, INVALID),
        (99, None, INVALID),
        (-1, None, INVALID),
    ],
)
def test_generic_codes(graph, kind, params, expected):
    handle = ctypes.c_uint64(7)
    described = generic(kind, params)
    assert hip.code("hipGraphAddNode", ref(handle), graph, None, 0, ref(described)) == expected
    assert handle.value == 0
    assert hip.nodes(graph) == []


def test_missing_parameters(graph, out):
    node = fill_node(graph, out, 1)
    exec_ = hip.instantiate(graph)
    params = generic(hip.MEMSET, fill(out, 1))
    assert hip.code("hipGraphAddNode", bytes(8), graph, None, 0, None) == INVALID
    assert hip.code("hipGraphAddNode", None, graph, None, 0, ref(params)) == INVALID
    for wrong in (None, STALE):
        assert hip.code(SET, wrong, ref(params)) == INVALID
        assert hip.code(EXEC_SET, exec_, wrong, ref(params)) == INVALID
        assert hip.code(EXEC_SET, wrong, node, ref(params)) == INVALID
    assert hip.code(SET, node, None) == INVALID
    assert hip.code(EXEC_SET, exec_, node, None) == INVALID
    host = generic(hip.HOST, Calls().params(1))
    assert hip.code(SET, node, ref(host)) == INVALID, "another kind"
    assert hip.code(EXEC_SET, exec_, node, ref(host)) == INVALID
    for kind in (ALLOC, FREE):
        assert hip.code(EXEC_SET, exec_, node, ref(generic(kind))) == NOT_SUPPORTED
    later = fill_node(graph, out, 1)
    assert hip.code(EXEC_SET, exec_, later, ref(params)) == INVALID, "unknown to the exec"
    hip.ok("hipGraphExecDestroy", exec_)


def test_generic_edits_change_all_that_a_node_does(graph, stream, put, out, other):
    """Each kind in turn, on the graph and on an exec, by what a launch then does."""
    calls = Calls()
    first = Launch(put, out, 1).node(graph)
    second = fill_node(graph, out, 2, first)
    third = add("hipGraphAddMemcpyNode", graph, ref(copy(out, other, hip.D2D, 4)), after=(second,))
    last = add("hipGraphAddHostNode", graph, ref(calls.params(1)), after=(third,))
    untouched, exec_ = hip.instantiate(graph), hip.instantiate(graph)
    launch = Launch(put, other, 6)
    changes = (
        (first, generic(hip.KERNEL, launch.params)),
        (second, generic(hip.MEMSET, fill(out + 64, 7, width=16))),
        (third, generic(hip.MEMCPY, copy(out, other + 16, hip.D2D, 32))),
        (last, generic(hip.HOST, calls.params(8))),
    )
    for node, params in changes:
        hip.ok(EXEC_SET, exec_, node, ref(params))
    changed = [6] * 8 + [0] * 8 + [7] * 16 + [0] * 32
    hip.launch(exec_, stream)
    assert ints(out) == changed
    hip.ok("hipMemsetD32", other, 9, 64)
    hip.launch(untouched, stream)
    assert ints(out) == [9] + [2] * 63
    for node, params in changes:
        hip.ok(SET, node, ref(params))
    hip.ok("hipMemset", out, 0, 256)
    run(graph, stream)
    assert ints(out) == changed
    assert calls.seen == [8, 1, 8]
    for each in (exec_, untouched):
        hip.ok("hipGraphExecDestroy", each)


def test_a_host_nodes_function(graph, stream):
    calls, others = Calls(), Calls()
    node = add("hipGraphAddHostNode", graph, ref(calls.params(1)))
    found = hip.HostNodeParams()
    hip.ok("hipGraphHostNodeGetParams", node, ref(found))
    assert (found.fn, found.userData) == (calls.address, 1)
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphExecHostNodeSetParams", exec_, node, ref(others.params(2)))
    hip.ok("hipGraphHostNodeSetParams", node, ref(calls.params(3)))
    hip.ok("hipGraphHostNodeGetParams", node, ref(found))
    assert found.userData == 3
    hip.launch(exec_, stream)
    run(graph, stream)
    assert (calls.seen, others.seen) == ([3], [2])
    nobody = hip.HostNodeParams(None, 1)
    plain = hip.HostNodeParams(calls.address, None)
    for params, own, by_kind in ((nobody, INVALID, INVALID), (plain, 0, INVALID)):
        assert hip.code("hipGraphHostNodeSetParams", node, ref(params)) == own
        assert hip.code("hipGraphExecHostNodeSetParams", exec_, node, ref(params)) == own
        assert hip.code(SET, node, ref(generic(hip.HOST, params))) == by_kind
        assert hip.code(EXEC_SET, exec_, node, ref(generic(hip.HOST, params))) == by_kind
    for wrong in (None, STALE, empty(graph)):
        assert hip.code("hipGraphHostNodeGetParams", wrong, ref(found)) == INVALID
        assert hip.code("hipGraphHostNodeSetParams", wrong, ref(plain)) == INVALID
        assert hip.code("hipGraphExecHostNodeSetParams", exec_, wrong, ref(plain)) == INVALID
    assert hip.code("hipGraphHostNodeGetParams", node, None) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)


def test_a_pitched_copy_is_edited(graph, stream, out, other):
    node = add("hipGraphAddMemcpyNode", graph, ref(copy(out, other, hip.D2D)))
    exec_ = hip.instantiate(graph)
    graph_set, exec_set = "hipGraphMemcpyNodeSetParams", "hipGraphExecMemcpyNodeSetParams"
    hip.ok(exec_set, exec_, node, ref(copy(out, other, hip.D2D, 16)))
    hip.launch(exec_, stream)
    assert ints(out) == [9] * 4 + [0] * 60
    hip.ok(graph_set, node, ref(copy(out, other, hip.D2D, 32)))
    run(graph, stream)
    assert ints(out) == [9] * 8 + [0] * 56
    host = ctypes.create_string_buffer(256)
    to_host = copy(ctypes.addressof(host), other, hip.D2H)
    assert hip.code(exec_set, exec_, node, ref(to_host)) == INVALID, "another kind of copy"
    hip.ok(graph_set, node, ref(to_host))
    bad_pitch = copy(out, other, hip.D2D)
    bad_pitch.srcPtr.pitch = 8
    for params, expected in (
        (bad_pitch, PITCH),
        (copy(out, other, hip.D2D, 257), INVALID),
        (copy(out, other, 9), DIRECTION),
        (copy(0, other, hip.D2D), INVALID),
    ):
        assert hip.code(graph_set, node, ref(params)) == expected
        assert hip.code(exec_set, exec_, node, ref(params)) == expected
    for wrong in (None, STALE, empty(graph)):
        assert hip.code(graph_set, wrong, ref(to_host)) == INVALID
        assert hip.code(exec_set, exec_, wrong, ref(to_host)) == INVALID
    assert hip.code(graph_set, node, None) == INVALID
    assert hip.code(exec_set, exec_, node, None) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)


def test_pitched_parameters_of_a_plain_copy_have_no_effect(graph, stream, out, other):
    """HIP takes them and copies what it did before."""
    node = add("hipGraphAddMemcpyNode1D", graph, out, other, 16, hip.D2D)
    hip.ok("hipGraphMemcpyNodeSetParams", node, ref(copy(out, other, hip.D2D, 256)))
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphExecMemcpyNodeSetParams", exec_, node, ref(copy(out, other, hip.D2D, 256)))
    hip.launch(exec_, stream)
    assert ints(out) == [9] * 4 + [0] * 60
    hip.ok("hipGraphExecDestroy", exec_)


def test_disabled_nodes_are_skipped_and_still_order(graph, stream, module, out, other):
    add_kernel = hip.function(module, "add")
    first = fill_node(graph, out, 1)
    middle = Launch(add_kernel, out, 10).node(graph, first)
    copied = add("hipGraphAddMemcpyNode1D", graph, out, other, 8, hip.D2D, after=(middle,))
    Launch(add_kernel, out, 100).node(graph, copied)
    exec_, untouched = hip.instantiate(graph), hip.instantiate(graph)
    get, set_ = "hipGraphNodeGetEnabled", "hipGraphNodeSetEnabled"
    enabled = ctypes.c_uint(9)
    for off, expected in (
        ((), [109] * 2 + [111] * 62),
        ((middle,), [109] * 2 + [101] * 62),
        ((copied,), [111] * 64),
        ((middle, copied), [101] * 64),
        ((first, middle, copied), [201] * 64),
    ):
        for node in (first, middle, copied):
            hip.ok(set_, exec_, node, node not in off)
            hip.ok(get, exec_, node, ref(enabled))
            assert enabled.value == (node not in off)
        hip.launch(exec_, stream)
        assert ints(out) == expected
    hip.launch(untouched, stream)
    assert ints(out) == [109] * 2 + [111] * 62
    for each in (exec_, untouched):
        hip.ok("hipGraphExecDestroy", each)


def test_enabling_codes(graph, out):
    node, nothing = fill_node(graph, out, 1), empty(graph)
    exec_ = hip.instantiate(graph)
    later = fill_node(graph, out, 1)
    room = bytes(4)
    for args in ((None, node), (STALE, node), (exec_, None), (exec_, STALE), (exec_, nothing)):
        assert hip.code("hipGraphNodeSetEnabled", *args, 0) == INVALID
        assert hip.code("hipGraphNodeGetEnabled", *args, room) == INVALID
    assert hip.code("hipGraphNodeSetEnabled", exec_, later, 0) == INVALID
    assert hip.code("hipGraphNodeGetEnabled", exec_, node, None) == INVALID
    hip.ok("hipGraphDestroyNode", node)
    assert hip.code("hipGraphNodeSetEnabled", exec_, node, 0) == INVALID, "the node is gone"
    hip.ok("hipGraphExecDestroy", exec_)
