"""Event nodes, by hand and recorded (api/graph_event_node.cpp, api/event.cpp, api/stream.cpp)."""

from __future__ import annotations

import ctypes
import time

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import add, empty, fill_node, ints, ref, run

INVALID, BAD_HANDLE, NOT_READY, UNSUPPORTED, INVALIDATED = 1, 400, 600, 900, 901
STALE = 0x7_0000_0000
WAIT_EVENT, EVENT_RECORD = 6, 7
EXTERNAL = 1
KINDS = ("Record", "Wait")


@pytest.fixture
def event():
    made = hip.event(0)
    yield made
    hip.code("hipEventDestroy", made)


@pytest.mark.parametrize("kind", KINDS)
def test_codes(graph, event, kind):
    add_call, get, set_ = (
        f"hipGraphAddEvent{kind}Node",
        f"hipGraphEvent{kind}NodeGetEvent",
        f"hipGraphEvent{kind}NodeSetEvent",
    )
    exec_set = f"hipGraphExecEvent{kind}NodeSetEvent"
    handle = ctypes.c_uint64(7)
    for wrong in (None, STALE):
        assert hip.code(add_call, ref(handle), graph, None, 0, wrong) == INVALID
        assert handle.value == 0
    assert hip.nodes(graph) == []
    node = add(add_call, graph, event)
    other_kind = add(f"hipGraphAddEvent{KINDS[kind == 'Record']}Node", graph, event)
    exec_ = hip.instantiate(graph)
    for wrong in (None, STALE):
        assert hip.code(set_, node, wrong) == INVALID
        assert hip.code(exec_set, exec_, node, wrong) == INVALID
    for wrong in (None, STALE, other_kind):
        assert hip.code(get, wrong, ref(handle)) == INVALID
        assert hip.code(set_, wrong, event) == INVALID
        assert hip.code(exec_set, exec_, wrong, event) == INVALID
    assert hip.code(get, node, None) == INVALID
    assert hip.code(exec_set, STALE, node, event) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)


@pytest.mark.parametrize("kind, number", [("Record", EVENT_RECORD), ("Wait", WAIT_EVENT)])
def test_a_nodes_event_is_read_and_changed(graph, event, kind, number):
    node = add(f"hipGraphAddEvent{kind}Node", graph, event)
    assert hip.node_type(node) == number
    get = f"hipGraphEvent{kind}NodeGetEvent"
    found = ctypes.c_uint64()
    hip.ok(get, node, ref(found))
    assert found.value == event
    other = hip.event()
    hip.ok(f"hipGraphEvent{kind}NodeSetEvent", node, other)
    hip.ok(get, node, ref(found))
    assert found.value == other
    hip.ok("hipEventDestroy", other)


def test_each_launch_records_anew(graph, event, stream, out):
    first = add("hipGraphAddEventRecordNode", graph, event)
    last_event = hip.event(0)
    middle = fill_node(graph, out, 1, first)
    add("hipGraphAddEventRecordNode", graph, last_event, after=(middle,))
    milliseconds = ctypes.c_float(-1)
    elapsed = "hipEventElapsedTime", ref(milliseconds), event, last_event
    assert hip.code(*elapsed) == BAD_HANDLE, "never recorded"
    exec_ = hip.instantiate(graph)
    for _ in range(2):
        hip.launch(exec_, stream)
        hip.ok(*elapsed)
        assert 0 <= milliseconds.value < 30_000
    hip.ok("hipEventDestroy", last_event)
    hip.ok("hipGraphExecDestroy", exec_)


def test_a_record_is_reached_with_the_nodes_before_it(graph, event, streams, gate):
    node = add("hipGraphAddHostNode", graph, ref(gate_params(gate)))
    add("hipGraphAddEventRecordNode", graph, event, after=(node,))
    exec_ = hip.instantiate(graph)
    launching, waiting = streams(), streams()
    hip.ok("hipGraphLaunch", exec_, launching)
    assert hip.code("hipEventQuery", event) == NOT_READY
    hip.ok("hipStreamWaitEvent", waiting, event, 0)
    assert hip.code("hipStreamQuery", waiting) == NOT_READY
    gate.open_gate()
    hip.ok("hipEventSynchronize", event)
    hip.ok("hipStreamSynchronize", waiting)
    hip.ok("hipStreamSynchronize", launching)
    hip.ok("hipGraphExecDestroy", exec_)


def gate_params(gate) -> hip.HostNodeParams:
    return hip.HostNodeParams(ctypes.cast(gate.function, ctypes.c_void_p).value, None)


def test_a_wait_node_waits_for_the_record_before_the_launch(graph, event, streams, gate, out):
    recording, launching = streams(), streams()
    node = add("hipGraphAddEventWaitNode", graph, event)
    fill_node(graph, out, 2, node)
    exec_ = hip.instantiate(graph)
    hip.launch(exec_, launching)  # never recorded: nothing to wait for
    assert ints(out) == [2] * 64
    hip.ok("hipMemset", out, 0, 256)
    gate.block(recording)
    hip.ok("hipMemsetD32Async", out, 1, 64, recording)
    hip.ok("hipEventRecord", event, recording)
    hip.ok("hipGraphLaunch", exec_, launching)
    time.sleep(0.02)
    assert hip.code("hipStreamQuery", launching) == NOT_READY
    gate.open_gate()
    hip.ok("hipStreamSynchronize", launching)
    assert ints(out) == [2] * 64
    hip.ok("hipGraphExecDestroy", exec_)


def test_a_wait_behind_a_record_of_the_same_launch(graph, event, stream, out):
    filled = fill_node(graph, out, 1)
    add("hipGraphAddEventRecordNode", graph, event, after=(filled,))
    waited = add("hipGraphAddEventWaitNode", graph, event, after=(empty(graph),))
    fill_node(graph, out, 2, waited)
    exec_ = hip.instantiate(graph)
    for _ in range(3):
        hip.launch(exec_, stream)
        assert ints(out) == [2] * 64
    hip.ok("hipGraphExecDestroy", exec_)


def test_an_execs_event_is_its_own(graph, event, stream):
    other = hip.event(0)
    node = add("hipGraphAddEventRecordNode", graph, event)
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphExecEventRecordNodeSetEvent", exec_, node, other)
    hip.launch(exec_, stream)
    milliseconds = ctypes.c_float()
    assert hip.code("hipEventElapsedTime", ref(milliseconds), event, event) == BAD_HANDLE
    hip.ok("hipEventElapsedTime", ref(milliseconds), other, other)
    assert milliseconds.value == 0
    found = ctypes.c_uint64()
    hip.ok("hipGraphEventRecordNodeGetEvent", node, ref(found))
    assert found.value == event, "the graph's node is as it was"
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipEventDestroy", other)


def test_a_destroyed_events_nodes_still_run(graph, stream, out):
    event = hip.event()
    node = add("hipGraphAddEventRecordNode", graph, event)
    fill_node(graph, out, 3, node)
    exec_ = hip.instantiate(graph)
    hip.ok("hipEventDestroy", event)
    hip.launch(exec_, stream)
    assert ints(out) == [3] * 64
    hip.ok("hipGraphExecDestroy", exec_)


def test_external_records_and_waits_are_recorded_as_nodes(stream, event, out):
    hip.begin(stream)
    hip.ok("hipMemsetD32Async", out, 1, 64, stream)
    hip.ok("hipEventRecordWithFlags", event, stream, EXTERNAL)
    (recorded,) = hip.frontier(stream)
    hip.ok("hipStreamWaitEvent", stream, event, EXTERNAL)
    (waited,) = hip.frontier(stream)
    hip.ok("hipMemsetD32Async", out, 2, 64, stream)
    graph = hip.end(stream)
    assert (hip.node_type(recorded), hip.node_type(waited)) == (EVENT_RECORD, WAIT_EVENT)
    assert [hip.node_type(node) for node in hip.nodes(graph)] == [
        hip.MEMSET,
        EVENT_RECORD,
        WAIT_EVENT,
        hip.MEMSET,
    ]
    for node, kind in ((recorded, "Record"), (waited, "Wait")):
        found = ctypes.c_uint64()
        hip.ok(f"hipGraphEvent{kind}NodeGetEvent", node, ref(found))
        assert found.value == event
    run(graph, stream)
    assert ints(out) == [2] * 64
    hip.ok("hipEventElapsedTime", ref(ctypes.c_float()), event, event)
    hip.ok("hipGraphDestroy", graph)


def test_external_records_outside_a_capture_are_records(stream, event):
    hip.ok("hipEventRecordWithFlags", event, stream, EXTERNAL)
    hip.ok("hipEventSynchronize", event)
    hip.ok("hipEventElapsedTime", ref(ctypes.c_float()), event, event)


def test_a_plain_record_with_flags_forks(streams, event, out):
    origin, joined = streams(), streams()
    hip.begin(origin)
    hip.ok("hipMemsetD32Async", out, 1, 64, origin)
    hip.ok("hipEventRecordWithFlags", event, origin, 0)
    hip.ok("hipStreamWaitEvent", joined, event, 0)
    assert hip.status(joined) == hip.ACTIVE
    assert len(hip.nodes(hip.capture_graph(origin))) == 1
    assert hip.end_code(origin) == 0


def test_flag_codes(stream, event):
    record = "hipEventRecordWithFlags"
    assert hip.code(record, event, stream, 2) == INVALID
    assert hip.code(record, None, stream, 0) == BAD_HANDLE
    assert hip.code("hipStreamWaitEvent", stream, event, 2) == INVALID
    assert hip.code("hipStreamWaitEvent", stream, event, EXTERNAL) == BAD_HANDLE, "not capturing"


def test_external_calls_on_an_invalid_capture(stream, event):
    hip.begin(stream)
    assert hip.code("hipDeviceSynchronize") == UNSUPPORTED
    assert hip.code("hipEventRecordWithFlags", event, stream, EXTERNAL) == INVALIDATED
    assert hip.end_code(stream) == INVALIDATED
