"""Objects that graphs and execs keep alive (api/user_object.cpp, runtime/user_object.cpp)."""

from __future__ import annotations

import ctypes
import time

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import Calls, Launch, add, empty, ref

INVALID, ILLEGAL_ADDRESS = 1, 700
STALE = 0x7_0000_0000
NO_SYNC, MOVE = 1, 1
TOO_MANY = 1 << 31


@pytest.fixture
def calls():
    return Calls()


def create(calls: Calls, data: int = 7, references: int = 1) -> int:
    return hip.out("hipUserObjectCreate", data, calls.function, references, NO_SYNC)


def test_codes(graph, calls):
    handle = ctypes.c_uint64(7)
    for args in (
        (None, 1, NO_SYNC),
        (calls.function, 0, NO_SYNC),
        (calls.function, TOO_MANY, NO_SYNC),
        (calls.function, 1, 0),
        (calls.function, 1, 2),
        (calls.function, 1, 3),
    ):
        assert hip.code("hipUserObjectCreate", ref(handle), 7, *args) == INVALID
        assert handle.value == 0
    assert hip.code("hipUserObjectCreate", None, 7, calls.function, 1, NO_SYNC) == INVALID
    object_ = create(calls)
    for call in ("hipUserObjectRetain", "hipUserObjectRelease"):
        for args in ((None, 1), (object_, 0), (object_, TOO_MANY)):
            assert hip.code(call, *args) == INVALID
    for args in ((None, object_, 1), (graph, None, 1), (graph, object_, 0), (graph, object_, -1)):
        assert hip.code("hipGraphRetainUserObject", *args, 0) == INVALID
        assert hip.code("hipGraphReleaseUserObject", *args) == INVALID
    assert hip.code("hipGraphRetainUserObject", STALE, object_, 1, 0) == INVALID
    assert hip.code("hipGraphRetainUserObject", graph, object_, 1, 2) == INVALID
    assert calls.seen == []
    hip.ok("hipUserObjectRelease", object_, 1)
    assert calls.seen == [7]


def test_the_last_reference_destroys(calls):
    object_ = create(calls, references=2)
    hip.ok("hipUserObjectRetain", object_, 3)
    hip.ok("hipUserObjectRelease", object_, 6)  # more than there are: ignored
    hip.ok("hipUserObjectRelease", object_, 4)
    assert calls.seen == []
    hip.ok("hipUserObjectRelease", object_, 1)
    assert calls.seen == [7]
    for call in ("hipUserObjectRetain", "hipUserObjectRelease"):
        hip.ok(call, object_, 1)  # gone: ignored
    assert calls.seen == [7]


@pytest.mark.parametrize("flags", [0, MOVE])
def test_a_graph_keeps_it_alive(calls, flags):
    graph = hip.out("hipGraphCreate", 0)
    object_ = create(calls)
    hip.ok("hipGraphRetainUserObject", graph, object_, 1, flags)
    if flags != MOVE:
        hip.ok("hipUserObjectRelease", object_, 1)
    assert calls.seen == []
    hip.ok("hipGraphDestroy", graph)
    assert calls.seen == [7]


def test_a_graph_gives_up_what_it_has(graph, calls):
    object_ = create(calls)
    hip.ok("hipGraphRetainUserObject", graph, object_, 2, 0)
    hip.ok("hipUserObjectRelease", object_, 1)
    hip.ok("hipGraphReleaseUserObject", graph, object_, 3)  # more than it has: ignored
    hip.ok("hipGraphReleaseUserObject", graph, object_, 1)
    assert calls.seen == []
    hip.ok("hipGraphReleaseUserObject", graph, object_, 1)
    assert calls.seen == [7]
    hip.ok("hipGraphReleaseUserObject", graph, object_, 1)
    hip.ok("hipGraphRetainUserObject", graph, object_, 1, 0)
    assert calls.seen == [7]


def test_clones_children_and_execs_hold_one_each(calls, stream):
    graph, parent = hip.out("hipGraphCreate", 0), hip.out("hipGraphCreate", 0)
    hip.ok("hipGraphRetainUserObject", graph, create(calls), 1, MOVE)
    clone = hip.out("hipGraphClone", graph)
    node = add("hipGraphAddChildGraphNode", parent, clone)
    exec_, exec_of_parent = hip.instantiate(graph), hip.instantiate(parent)
    last = hip.instantiate(parent)
    for call, handle in (
        ("hipGraphDestroy", graph),
        ("hipGraphExecDestroy", exec_),
        ("hipGraphDestroy", clone),
        ("hipGraphExecDestroy", exec_of_parent),
        ("hipGraphDestroyNode", node),
        ("hipGraphDestroy", parent),
    ):
        hip.ok(call, handle)
        assert calls.seen == [], call
    hip.ok("hipGraphExecDestroy", last)
    assert calls.seen == [7]


def test_an_exec_in_flight_keeps_its_objects(graph, calls, stream, gate):
    hip.ok("hipGraphRetainUserObject", graph, create(calls), 1, MOVE)
    blocked = ctypes.cast(gate.function, ctypes.c_void_p).value
    add("hipGraphAddHostNode", graph, ref(hip.HostNodeParams(blocked, None)))
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphLaunch", exec_, stream)
    hip.ok("hipGraphDestroy", graph)
    hip.ok("hipGraphExecDestroy", exec_)
    time.sleep(0.02)
    assert calls.seen == []
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert soon(calls) == [7]


def soon(calls: Calls) -> list[int]:
    """What was called in the end."""
    for _ in range(1000):
        if calls.seen:
            break
        time.sleep(0.01)
    return calls.seen


def test_an_exec_whose_last_launch_fails_gives_up_its_objects(graph, calls, stream, gate, put):
    hip.ok("hipGraphRetainUserObject", graph, create(calls), 1, MOVE)
    null = Launch(put, 0, 1)
    empty(graph, null.node(graph))
    exec_ = hip.instantiate(graph)
    gate.block(stream)
    hip.ok("hipGraphLaunch", exec_, stream)
    hip.ok("hipGraphDestroy", graph)
    hip.ok("hipGraphExecDestroy", exec_)
    assert calls.seen == []
    gate.open_gate()
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    assert soon(calls) == [7]
    hip.last_error()


def test_a_destructor_may_call_hip():
    """It runs when the library's own lock is let go."""
    codes = []
    destroy = hip.HOST_FUNCTION(lambda _: codes.append(hip.code("hipDeviceSynchronize")))
    object_ = hip.out("hipUserObjectCreate", None, destroy, 1, NO_SYNC)
    hip.ok("hipUserObjectRelease", object_, 1)
    assert codes == [0]


def test_an_abandoned_capture_gives_up_its_objects(calls):
    stream = hip.stream()
    hip.begin(stream)
    hip.ok("hipGraphRetainUserObject", hip.capture_graph(stream), create(calls), 1, MOVE)
    assert calls.seen == []
    hip.ok("hipStreamDestroy", stream)
    assert calls.seen == [7]
