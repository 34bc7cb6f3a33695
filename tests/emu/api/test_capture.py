"""Begin, end and query a capture; leaving one (api/capture.cpp, runtime/capture.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip

INVALID, ILLEGAL_STATE, DESTROYED = 1, 401, 709
UNSUPPORTED, INVALIDATED, UNMATCHED, UNJOINED, IMPLICIT, WRONG_THREAD = 900, 901, 903, 904, 906, 908
STALE = 0x7_0000_0000


def join(stream: int, other: int) -> None:
    """Bring `other` into the capture of `stream`."""
    event = hip.event()
    hip.ok("hipEventRecord", event, stream)
    hip.ok("hipStreamWaitEvent", other, event, 0)
    hip.ok("hipEventDestroy", event)


@pytest.mark.parametrize(
    "handle, mode, expected",
    [
        (None, 0, UNSUPPORTED),
        (hip.LEGACY, 0, UNSUPPORTED),
        (STALE, 0, DESTROYED),
        (None, 9, UNSUPPORTED),
        (STALE, 3, INVALID),
        (STALE, -1, INVALID),
    ],
)
def test_begin_codes(handle, mode, expected):
    assert hip.code("hipStreamBeginCapture", handle, mode) == expected


def test_a_stream_captures_once_at_a_time(streams):
    stream, other = streams(), streams()
    hip.begin(stream)
    assert hip.code("hipStreamBeginCapture", stream, 0) == ILLEGAL_STATE
    join(stream, other)
    assert hip.code("hipStreamBeginCapture", other, 0) == ILLEGAL_STATE
    assert hip.end_code(stream) == 0


def test_beginning_again_on_an_invalid_capture_starts_a_new_one(stream, out):
    hip.begin(stream)
    hip.ok("hipMemsetAsync", out, 0, 8, stream)
    assert hip.code("hipFree", None) == UNSUPPORTED
    hip.begin(stream)
    graph = hip.end(stream)
    assert hip.nodes(graph) == []
    hip.ok("hipGraphDestroy", graph)
    assert hip.code("hipFree", None) == 0


def test_two_streams_of_a_thread_capture_independently(streams, out):
    first, second = streams(), streams()
    hip.begin(first)
    hip.begin(second)
    hip.ok("hipMemsetAsync", out, 0, 8, first)
    one, two = hip.end(first), hip.end(second)
    assert (len(hip.nodes(one)), len(hip.nodes(two))) == (1, 0)
    for graph in (one, two):
        hip.ok("hipGraphDestroy", graph)


def test_the_per_thread_stream_captures(out):
    hip.begin(hip.PER_THREAD)
    hip.ok("hipMemsetAsync", out, 1, 8, hip.PER_THREAD)
    graph = hip.end(hip.PER_THREAD)
    assert len(hip.nodes(graph)) == 1
    hip.ok("hipGraphDestroy", graph)


@pytest.mark.parametrize(
    "handle, expected",
    [(None, ILLEGAL_STATE), (hip.LEGACY, ILLEGAL_STATE), (STALE, DESTROYED)],
)
def test_end_codes(handle, expected):
    assert hip.end_code(handle) == expected


def test_ending_what_was_not_begun(stream):
    assert hip.end_code(stream) == ILLEGAL_STATE


def test_ending_without_a_place_for_the_graph(stream):
    hip.begin(stream)
    hip.ok("hipStreamEndCapture", stream, None)
    assert hip.status(stream) == hip.NONE


def test_an_empty_capture_is_a_graph_that_does_nothing(stream):
    hip.begin(stream)
    graph = hip.end(stream)
    assert hip.nodes(graph) == []
    exec_ = hip.instantiate(graph)
    hip.launch(exec_, stream)
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", graph)


@pytest.mark.parametrize("mode", [hip.GLOBAL, hip.THREAD_LOCAL, hip.RELAXED])
def test_only_a_relaxed_capture_may_end_in_another_thread(stream, mode):
    hip.begin(stream, mode)
    expected = 0 if mode == hip.RELAXED else WRONG_THREAD
    assert hip.in_thread(lambda: hip.end_code(stream)) == expected
    if expected:
        assert hip.status(stream) == hip.ACTIVE, "the owner can still end it"
        assert hip.end_code(stream) == 0
    assert hip.status(stream) == hip.NONE


def test_a_participant_cannot_end(streams):
    stream, other = streams(), streams()
    hip.begin(stream)
    join(stream, other)
    assert hip.end_code(other) == UNMATCHED
    assert hip.status(stream) == hip.status(other) == hip.ACTIVE
    assert hip.end_code(stream) == 0
    assert hip.status(other) == hip.NONE


def test_unjoined_work_loses_the_graph_and_frees_the_streams(streams, out):
    stream, other = streams(), streams()
    hip.begin(stream)
    join(stream, other)
    hip.ok("hipMemsetAsync", out, 0, 8, other)
    assert hip.end_code(stream) == UNJOINED
    assert hip.status(stream) == hip.status(other) == hip.NONE
    assert hip.end_code(stream) == ILLEGAL_STATE, "a second end does no harm"
    hip.begin(stream)
    assert hip.end_code(stream) == 0


def test_work_after_the_join_is_unjoined_again(streams, out):
    stream, other = streams(), streams()
    hip.begin(stream)
    join(stream, other)
    hip.ok("hipMemsetAsync", out, 0, 8, other)
    join(other, stream)
    hip.ok("hipMemsetAsync", out, 0, 8, other)
    assert hip.end_code(stream) == UNJOINED


def test_a_joined_stream_without_work_needs_no_join(streams, out):
    stream, other = streams(), streams()
    hip.begin(stream)
    hip.ok("hipMemsetAsync", out, 0, 8, stream)
    join(stream, other)
    assert hip.end_code(stream) == 0


def test_a_manual_node_needs_no_join(stream):
    hip.begin(stream)
    graph = hip.capture_graph(stream)
    hip.out("hipGraphAddEmptyNode", graph, None, 0)
    hip.out("hipGraphAddEmptyNode", graph, None, 0)
    assert hip.end(stream) == graph, "the graph under construction is the one that comes back"
    assert len(hip.nodes(graph)) == 2
    hip.ok("hipGraphDestroy", graph)


def test_the_graph_under_construction_cannot_be_destroyed(stream):
    hip.begin(stream)
    graph = hip.capture_graph(stream)
    assert hip.code("hipGraphDestroy", graph) == INVALID
    hip.ok("hipGraphDestroy", hip.end(stream))


def test_destroying_the_origin_abandons_the_capture(streams, out):
    stream, other = hip.stream(), streams()
    hip.begin(stream)
    join(stream, other)
    hip.ok("hipMemsetAsync", out, 0, 8, other)
    graph = hip.capture_graph(stream)
    hip.ok("hipStreamDestroy", stream)
    assert hip.status(other) == hip.NONE
    assert hip.end_code(stream) == DESTROYED
    assert hip.code("hipGraphDestroy", graph) == INVALID, "nothing is left of it"
    assert hip.code("hipFree", None) == 0


def test_destroying_a_participant_takes_those_it_brought_in(streams):
    stream, middle, last = streams(), hip.stream(), streams()
    hip.begin(stream)
    join(stream, middle)
    join(middle, last)
    hip.ok("hipStreamDestroy", middle)
    assert (hip.status(stream), hip.status(last)) == (hip.ACTIVE, hip.NONE)
    assert hip.end_code(stream) == 0


def info(handle, version: int):
    """Code, status and number as the two versions of the query tell them."""
    status, number = ctypes.c_int(-1), ctypes.c_uint64(0)
    refs = ctypes.byref(status), ctypes.byref(number)
    if version == 1:
        return hip.code("hipStreamGetCaptureInfo", handle, *refs), status.value, number.value
    code = hip.code("hipStreamGetCaptureInfo_v2", handle, *refs, None, None, None)
    return code, status.value, number.value


@pytest.mark.parametrize("version", [1, 2])
def test_info(streams, version):
    stream, second = streams(), streams()
    assert info(stream, version) == (0, hip.NONE, 0)
    hip.begin(stream)
    hip.begin(second)
    code, status, number = info(stream, version)
    assert (code, status) == (0, hip.ACTIVE)
    assert number != info(second, version)[2]
    assert hip.code("hipStreamQuery", stream) == UNSUPPORTED
    assert info(stream, version) == (0, hip.INVALIDATED, 0), "the number is only told while active"
    assert hip.end_code(stream) == INVALIDATED
    assert hip.end_code(second) == 0


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipStreamIsCapturing", (None, None), INVALID),
        ("hipStreamGetCaptureInfo", (None, None, None), INVALID),
        ("hipStreamGetCaptureInfo_v2", (None, None, None, None, None, None), INVALID),
        ("hipStreamIsCapturing", (STALE, bytes(4)), DESTROYED),
        ("hipStreamGetCaptureInfo_v2", (STALE, bytes(4), None, None, None, None), DESTROYED),
        ("hipThreadExchangeStreamCaptureMode", (None,), INVALID),
        ("hipThreadExchangeStreamCaptureMode", (ctypes.byref(ctypes.c_int(3)),), INVALID),
        ("hipStreamUpdateCaptureDependencies", (STALE, None, 0, 0), DESTROYED),
    ],
)
def test_query_codes(call, args, expected):
    assert hip.code(call, *args) == expected


@pytest.mark.parametrize("handle", [None, hip.LEGACY], ids=["null", "legacy"])
def test_the_null_stream_cannot_be_asked_while_a_blocking_stream_captures(streams, handle):
    status = ctypes.c_int(-1)
    blocking, other = streams(0), streams()
    hip.begin(other)
    assert hip.code("hipStreamIsCapturing", handle, ctypes.byref(status)) == 0
    assert status.value == hip.NONE
    hip.begin(blocking)
    assert hip.code("hipStreamIsCapturing", handle, ctypes.byref(status)) == IMPLICIT
    assert info(handle, 1)[0] == info(handle, 2)[0] == IMPLICIT
    assert hip.end_code(blocking) == hip.end_code(other) == 0, "nothing became invalid"


def test_the_exchange_mode_is_swapped_and_the_threads_own():
    def swap(mode: int) -> int:
        value = ctypes.c_int(mode)
        hip.ok("hipThreadExchangeStreamCaptureMode", ctypes.byref(value))
        return value.value

    assert swap(hip.RELAXED) == hip.GLOBAL
    assert hip.in_thread(lambda: swap(hip.THREAD_LOCAL)) == hip.GLOBAL
    assert swap(hip.GLOBAL) == hip.RELAXED


def update(stream: int, nodes: list[int], flags: int, count: int | None = None) -> int:
    args = hip.array(nodes), len(nodes) if count is None else count, flags
    return hip.code("hipStreamUpdateCaptureDependencies", stream, *args)


def test_updating_the_frontier(stream, out):
    hip.begin(stream)
    hip.ok("hipMemsetAsync", out, 0, 8, stream)
    (first,) = hip.frontier(stream)
    manual = hip.out("hipGraphAddEmptyNode", hip.capture_graph(stream), None, 0)
    assert update(stream, [manual, first], hip.ADD) == 0
    assert hip.frontier(stream) == [first, manual]
    assert update(stream, [manual], hip.SET) == 0
    assert hip.frontier(stream) == [manual]
    hip.ok("hipMemsetAsync", out, 0, 8, stream)
    (last,) = hip.frontier(stream)
    graph = hip.end(stream)  # `first` is a leaf, but one that was taken out on purpose
    assert hip.edges(graph) == [(manual, last)]
    hip.ok("hipGraphDestroy", graph)


def test_clearing_the_frontier_makes_the_next_node_a_root(stream, out):
    hip.begin(stream)
    hip.ok("hipMemsetAsync", out, 0, 8, stream)
    assert update(stream, [], hip.SET) == 0
    hip.ok("hipMemsetAsync", out, 0, 8, stream)
    graph = hip.end(stream)
    assert hip.edges(graph) == []
    hip.ok("hipGraphDestroy", graph)


def test_update_codes(stream, out):
    assert update(stream, [], hip.ADD) == ILLEGAL_STATE
    hip.begin(stream)
    hip.ok("hipMemsetAsync", out, 0, 8, stream)
    (node,) = hip.frontier(stream)
    assert update(stream, [node], 2) == INVALID
    assert update(stream, [STALE], hip.ADD) == INVALID
    assert update(stream, [node, node], hip.ADD) == INVALID, "more than the graph has"
    assert hip.code("hipStreamUpdateCaptureDependencies", stream, None, 1, 0) == INVALID
    elsewhere = hip.out("hipGraphCreate", 0)
    foreign = hip.out("hipGraphAddEmptyNode", elsewhere, None, 0)
    assert update(stream, [foreign], hip.ADD) == INVALID
    assert hip.frontier(stream) == [node]
    assert hip.code("hipStreamQuery", stream) == UNSUPPORTED
    assert update(stream, [node], hip.ADD) == INVALIDATED
    assert hip.end_code(stream) == INVALIDATED
    hip.ok("hipGraphDestroy", elsewhere)
