"""Events carry a capture to other streams and back (C010, hip-semantics 2.5)."""

from __future__ import annotations

import ctypes
import struct

import pytest
from helpers import hip_ctypes as hip

INVALID, HANDLE, UNJOINED, MERGE, ISOLATION = 1, 400, 904, 902, 905


@pytest.fixture
def events():
    made = [hip.event() for _ in range(4)]
    yield made
    for event in made:
        hip.ok("hipEventDestroy", event)


def add_to(add: int, stream: int, out: int, value: int) -> int:
    """Record one kernel; its node."""
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(value))
    assert hip.launch_kernel(add, stream, params) == 0
    (node,) = hip.frontier(stream)
    return node


def record(event: int, stream: int) -> None:
    hip.ok("hipEventRecord", event, stream)


def wait(stream: int, event: int) -> None:
    hip.ok("hipStreamWaitEvent", stream, event, 0)


def test_forked_work_is_recorded_and_ordered(streams, events, add, out):
    first, second = streams(), streams()
    hip.begin(first)
    k1 = add_to(add, first, out, 1)
    record(events[0], first)
    wait(second, events[0])
    assert hip.frontier(second) == [k1]
    k2 = add_to(add, second, out, 2)
    record(events[1], second)
    wait(first, events[1])
    assert hip.frontier(first) == [k1, k2]
    k3 = add_to(add, first, out, 4)
    graph = hip.end(first)
    assert set(hip.nodes(graph)) == {k1, k2, k3}
    assert set(hip.edges(graph)) == {(k1, k2), (k1, k3), (k2, k3)}
    assert struct.unpack("i", hip.from_device(out, 4)) == (0,), "nothing ran while recording"
    exec_ = hip.instantiate(graph)
    hip.launch(exec_, second)
    assert struct.unpack("i", hip.from_device(out, 4)) == (7,)
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", graph)


def test_without_the_join_the_graph_is_lost(streams, events, add, out):
    first, second = streams(), streams()
    hip.begin(first)
    add_to(add, first, out, 1)
    record(events[0], first)
    wait(second, events[0])
    add_to(add, second, out, 2)
    assert hip.end_code(first) == UNJOINED
    assert struct.unpack("i", hip.from_device(out, 4)) == (0,)


def test_a_fork_before_any_node_starts_with_roots(streams, events, add, out):
    first, second = streams(), streams()
    hip.begin(first)
    record(events[0], first)
    wait(second, events[0])
    k1 = add_to(add, second, out, 1)
    record(events[1], second)
    k2 = add_to(add, first, out, 2)
    wait(first, events[1])
    k3 = add_to(add, first, out, 4)
    graph = hip.end(first)
    assert set(hip.edges(graph)) == {(k1, k3), (k2, k3)}
    hip.ok("hipGraphDestroy", graph)


def test_the_snapshot_is_that_of_the_record_not_of_the_wait(streams, events, add, out):
    first, second = streams(), streams()
    hip.begin(first)
    k1 = add_to(add, first, out, 1)
    record(events[0], first)
    k2 = add_to(add, first, out, 2)
    wait(second, events[0])
    k3 = add_to(add, second, out, 4)
    record(events[1], second)
    wait(first, events[1])
    k4 = add_to(add, first, out, 8)
    graph = hip.end(first)
    assert set(hip.edges(graph)) == {(k1, k2), (k1, k3), (k2, k4), (k3, k4)}
    hip.ok("hipGraphDestroy", graph)


def test_waiting_twice_adds_no_second_edge(streams, events, add, out):
    first, second = streams(), streams()
    hip.begin(first)
    k1 = add_to(add, first, out, 1)
    record(events[0], first)
    wait(second, events[0])
    wait(second, events[0])
    wait(first, events[0])
    assert hip.frontier(first) == hip.frontier(second) == [k1]
    assert hip.end_code(first) == 0


def test_a_joined_stream_has_the_captures_number(streams, events):
    first, second = streams(), streams()
    hip.begin(first)
    record(events[0], first)
    wait(second, events[0])
    numbers = []
    for stream in (first, second):
        status, number = ctypes.c_int(), ctypes.c_uint64()
        refs = ctypes.byref(status), ctypes.byref(number)
        hip.ok("hipStreamGetCaptureInfo", stream, *refs)
        numbers.append((status.value, number.value))
    assert numbers[0] == numbers[1]
    assert hip.end_code(first) == 0


def test_an_event_recorded_before_the_capture_on_its_stream_is_isolated(streams, events):
    first, second = streams(), streams()
    record(events[0], first)
    hip.begin(first)
    assert hip.code("hipStreamWaitEvent", second, events[0], 0) == ISOLATION
    assert hip.code("hipStreamWaitEvent", first, events[0], 0) == ISOLATION
    assert hip.status(first) == hip.ACTIVE
    assert hip.end_code(first) == 0


def test_waiting_for_an_uncaptured_event_records_nothing(streams, events, out):
    """HIP loses the edge; CUDA refuses."""
    first, second = streams(), streams()
    record(events[0], second)
    hip.begin(first)
    wait(first, events[0])
    assert hip.frontier(first) == []
    assert hip.end_code(first) == 0


def test_the_null_stream_cannot_join(stream, events):
    hip.begin(stream)
    record(events[0], stream)
    assert hip.code("hipStreamWaitEvent", None, events[0], 0) == HANDLE
    assert hip.end_code(stream) == 0


def test_an_event_whose_stream_is_gone_is_no_dependency(streams, events, add, out):
    first, gone, third = streams(), hip.stream(), streams()
    hip.begin(first)
    record(events[0], first)
    wait(gone, events[0])
    record(events[1], gone)
    hip.ok("hipStreamDestroy", gone)
    wait(third, events[1])
    assert hip.status(third) == hip.NONE
    assert hip.end_code(first) == 0


def test_two_captures_cannot_merge(streams, events):
    first, second = streams(), streams()
    hip.begin(first)
    hip.begin(second)
    record(events[0], first)
    assert hip.code("hipStreamWaitEvent", second, events[0], 0) == MERGE
    assert hip.end_code(first) == hip.end_code(second) == 901


def test_an_idle_stream_cannot_join_an_invalid_capture(streams, events):
    first, second = streams(), streams()
    hip.begin(first)
    record(events[0], first)
    assert hip.code("hipStreamQuery", first) == 900
    assert hip.code("hipStreamWaitEvent", second, events[0], 0) == INVALID
    assert hip.end_code(first) == 901


def test_querying_a_joined_stream_makes_that_one_invalid(streams, events):
    """HIP 7.15: the origin goes on."""
    first, second = streams(), streams()
    hip.begin(first)
    record(events[0], first)
    wait(second, events[0])
    assert hip.code("hipStreamQuery", second) == 900
    assert (hip.status(first), hip.status(second)) == (hip.ACTIVE, hip.INVALIDATED)
    assert hip.end_code(first) == 0
    assert hip.status(second) == hip.NONE


def test_an_event_may_be_destroyed_after_it_was_waited_for(streams, add, out):
    first, second, event = streams(), streams(), hip.event()
    hip.begin(first)
    k1 = add_to(add, first, out, 1)
    record(event, first)
    wait(second, event)
    hip.ok("hipEventDestroy", event)
    assert hip.frontier(second) == [k1]
    assert hip.end_code(first) == 0


def test_a_captured_event_counts_as_never_recorded_afterwards(stream, events):
    start, stop = hip.event(0), hip.event(0)
    hip.begin(stream)
    record(start, stream)
    record(stop, stream)
    assert hip.end_code(stream) == 0
    assert hip.code("hipEventQuery", start) == 0
    assert hip.code("hipEventElapsedTime", ctypes.byref(ctypes.c_float()), start, stop) == HANDLE
    for event in (start, stop):
        hip.ok("hipEventDestroy", event)
