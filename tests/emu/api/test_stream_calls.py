"""Stream callbacks, attributes, captures into a given graph, per-thread forms."""

from __future__ import annotations

import ctypes
import threading

import pytest
from helpers import hip_ctypes as hip

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
UNSUPPORTED, INVALIDATED, IMPLICIT = 900, 901, 906
SYNCHRONIZATION_POLICY, PRIORITY = 3, 8


def test_a_callback_runs_after_earlier_work_and_before_later_work(stream, out, gate):
    seen = []
    called = CALLBACK(lambda *arguments: seen.append(arguments))
    gate.block(stream)
    hip.ok("hipStreamAddCallback", stream, called, 77, 0)
    assert seen == []
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert seen == [(stream, 0, 77)]


def test_callback_codes(stream):
    called = CALLBACK(lambda *_: None)
    assert hip.code("hipStreamAddCallback", stream, None, None, 0) == 1
    assert hip.code("hipStreamAddCallback", stream, called, None, 1) == 1
    assert hip.code("hipStreamAddCallback", 0x1234560, called, None, 0) == 709


def test_a_callback_is_never_recorded(stream):
    called = CALLBACK(lambda *_: None)
    hip.begin(stream, hip.RELAXED)
    assert hip.code("hipStreamAddCallback", stream, called, None, 0) == UNSUPPORTED
    assert hip.status(stream) == hip.INVALIDATED
    assert hip.end_code(stream) == INVALIDATED


@pytest.mark.parametrize("flags", [0, hip.NON_BLOCKING], ids=["blocking", "non-blocking"])
def test_a_callback_on_the_null_stream_concerns_blocking_captures(streams, flags):
    called = CALLBACK(lambda *_: None)
    stream, other = streams(flags), streams()
    hip.begin(stream, hip.RELAXED)
    hip.begin(other, hip.RELAXED)
    blocking = flags == 0
    expected = IMPLICIT if blocking else 0
    assert hip.code("hipStreamAddCallback", None, called, None, 0) == expected
    ended = INVALIDATED if blocking else 0
    assert [hip.end_code(each) for each in (stream, other)] == [ended, ended]
    hip.ok("hipDeviceSynchronize")


def test_attributes(streams):
    one, two = streams(), streams()
    value = ctypes.create_string_buffer(bytes([2]) + bytes(63), 64)
    read = ctypes.create_string_buffer(64)
    hip.ok("hipStreamSetAttribute", one, SYNCHRONIZATION_POLICY, value)
    hip.ok("hipStreamCopyAttributes", two, one)
    hip.ok("hipStreamGetAttribute", two, SYNCHRONIZATION_POLICY, read)
    assert read.raw == value.raw
    hip.ok("hipStreamGetAttribute", two, PRIORITY, read)
    assert read.raw == bytes(64)
    assert hip.code("hipStreamSetAttribute", one, 2, value) == 1
    assert hip.code("hipStreamSetAttribute", one, PRIORITY, None) == 1
    assert hip.code("hipStreamGetAttribute", one, PRIORITY, None) == 1
    assert hip.code("hipStreamCopyAttributes", one, 0x1234560) == 709


def test_stream_numbers_differ(streams):
    handles = [streams(), streams(), None, hip.PER_THREAD]
    numbers = [ctypes.c_ulonglong() for _ in handles]
    for handle, number in zip(handles, numbers, strict=True):
        hip.ok("hipStreamGetId", handle, ctypes.byref(number))
    assert len({number.value for number in numbers}) == len(handles)
    assert hip.code("hipStreamGetId", handles[0], None) == 1


def test_a_capture_into_a_graph_goes_on_behind_its_nodes(stream, out):
    graph = hip.out("hipGraphCreate", 0)
    first = hip.out("hipGraphAddEmptyNode", graph, None, 0)
    loose = hip.out("hipGraphAddEmptyNode", graph, None, 0)
    begin = ("hipStreamBeginCaptureToGraph", stream, graph, hip.array([first]), None, 1, hip.GLOBAL)
    hip.ok(*begin)
    assert hip.code(*begin) == 401 or hip.status(stream) == hip.ACTIVE
    assert hip.capture_graph(stream) == graph
    hip.ok("hipMemsetAsync", out, 3, 4, stream)
    assert hip.end(stream) == graph, "a loose node added by hand is no unjoined work"
    added = next(node for node in hip.nodes(graph) if node not in (first, loose))
    assert hip.edges(graph) == [(first, added)]
    hip.launch(hip.instantiate(graph), stream)
    assert hip.from_device(out, 4) == bytes([3] * 4)


def test_codes_of_a_capture_into_a_graph(stream):
    graph, other = hip.out("hipGraphCreate", 0), hip.out("hipGraphCreate", 0)
    name, node = "hipStreamBeginCaptureToGraph", hip.out("hipGraphAddEmptyNode", other, None, 0)
    data = ctypes.create_string_buffer(8)
    assert hip.code(name, stream, graph, None, data, 0, 0) == 801
    assert hip.code(name, stream, None, None, None, 0, 0) == 1
    assert hip.code(name, stream, graph, None, None, 1, 0) == 1
    assert hip.code(name, stream, graph, hip.array([node]), None, 0, 0) == 1
    assert hip.code(name, None, graph, None, None, 0, 0) == UNSUPPORTED
    assert hip.code(name, stream, graph, None, None, 0, 3) == 1
    assert hip.status(stream) == hip.NONE
    assert hip.code(name, stream, graph, hip.array([node]), None, 1, 0) == 1
    assert hip.status(stream) == hip.ACTIVE, "the capture has begun"
    assert hip.code("hipStreamQuery", stream) == UNSUPPORTED
    assert hip.end_code(stream) == INVALIDATED
    hip.ok("hipGraphDestroy", graph)


def test_per_thread_forms_take_the_null_handle_for_the_threads_own_stream(out):
    hip.ok("hipStreamBeginCapture_spt", None, hip.GLOBAL)
    assert hip.status(hip.PER_THREAD) == hip.ACTIVE
    hip.ok("hipMemsetAsync", out, 1, 4, hip.PER_THREAD)
    graph = ctypes.c_uint64()
    hip.ok("hipStreamEndCapture_spt", None, ctypes.byref(graph))
    assert len(hip.nodes(graph.value)) == 1
    called = threading.Event()
    function = hip.HOST_FUNCTION(lambda _: called.set())
    hip.ok("hipLaunchHostFunc_spt", None, function, None)
    hip.ok("hipStreamSynchronize_spt", None)
    assert called.is_set()


def test_recording_with_flags(stream):
    event = hip.event()
    hip.ok("hipEventRecordWithFlags", event, stream, 0)
    hip.ok("hipEventSynchronize", event)
    assert hip.code("hipEventRecordWithFlags", event, stream, 2) == 1
    hip.ok("hipEventDestroy", event)
