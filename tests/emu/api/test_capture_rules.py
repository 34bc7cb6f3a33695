"""What capture does to every kind of call: class x mode x thread x exchange mode."""

from __future__ import annotations

import ctypes
import itertools
import re
from pathlib import Path

import pytest
from helpers import hip_ctypes as hip
from helpers.capture_calls import (
    ALLOC_LIKE,
    BLOCKING,
    CAPTURABLE,
    ELSEWHERE,
    LEGAL_CODE,
    LOADING,
)

API = Path(__file__).resolve().parents[3] / "native" / "emu" / "api"
G, T, R = hip.GLOBAL, hip.THREAD_LOCAL, hip.RELAXED
UNSUPPORTED, INVALIDATED, IMPLICIT, CAPTURED_EVENT = 900, 901, 906, 907
MODES = {"global": G, "thread-local": T, "relaxed": R}


def exchange(mode: int) -> int:
    value = ctypes.c_int(mode)
    hip.ok("hipThreadExchangeStreamCaptureMode", ctypes.byref(value))
    return value.value


def in_mode(mode: int, call):
    """Run `call` in this thread with an exchange mode."""
    before = exchange(mode)
    try:
        return call()
    finally:
        exchange(before)


def run(same_thread: bool, mode: int, call):
    """Run `call` here or in another thread, with an exchange mode."""
    return in_mode(mode, call) if same_thread else hip.in_thread(lambda: in_mode(mode, call))


def refused(mode: int, same_thread: bool, exchanged: int) -> bool:
    """Whether the exchange mode forbids a call while one capture of `mode` is open."""
    if exchanged == R:
        return False
    own = same_thread and mode != R
    return own or (exchanged == G and mode == G)


MATRIX = list(itertools.product((G, T, R), (True, False), (G, T, R)))


def check(stream: int, mode: int, call, expected: int, legal: bool) -> None:
    assert call() == expected
    assert hip.status(stream) == (hip.ACTIVE if legal else hip.INVALIDATED)
    assert hip.end_code(stream) == (0 if legal else INVALIDATED)
    assert hip.status(stream) == hip.NONE
    hip.begin(stream, mode)
    assert hip.end_code(stream) == 0, "the stream captures again"


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
@pytest.mark.parametrize("name", ALLOC_LIKE)
def test_alloc_like_calls(stream, name, mode, same_thread, exchanged):
    hip.begin(stream, mode)
    forbidden = refused(mode, same_thread, exchanged)
    expected = UNSUPPORTED if forbidden else LEGAL_CODE.get(name, 0)
    check(
        stream,
        mode,
        lambda: run(same_thread, exchanged, lambda: hip.code(name, *ALLOC_LIKE[name])),
        expected,
        not forbidden,
    )


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
@pytest.mark.parametrize(
    "name", ["hipStreamSynchronize", "hipStreamQuery", "hipStreamSetAttribute"]
)
def test_synchronising_an_idle_stream(streams, name, mode, same_thread, exchanged):
    stream, idle = streams(), streams()
    hip.begin(stream, mode)
    forbidden = refused(mode, same_thread, exchanged)
    check(
        stream,
        mode,
        lambda: run(same_thread, exchanged, lambda: hip.code(name, idle, 3, bytes(64))),
        UNSUPPORTED if forbidden else 0,
        not forbidden,
    )


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
@pytest.mark.parametrize("name", ["hipEventQuery", "hipEventSynchronize"])
def test_synchronising_an_event_of_another_stream(streams, name, mode, same_thread, exchanged):
    """C008: a watchdog thread's query is refused unless it changed its exchange mode."""
    stream, idle, event = streams(), streams(), hip.event()
    hip.ok("hipEventRecord", event, idle)
    hip.ok("hipStreamSynchronize", idle)
    hip.begin(stream, mode)
    forbidden = refused(mode, same_thread, exchanged)
    check(
        stream,
        mode,
        lambda: run(same_thread, exchanged, lambda: hip.code(name, event)),
        UNSUPPORTED if forbidden else 0,
        not forbidden,
    )
    hip.ok("hipEventDestroy", event)


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
@pytest.mark.parametrize("name", ["hipEventQuery", "hipEventSynchronize"])
def test_synchronising_a_captured_event_is_never_legal(stream, name, mode, same_thread, exchanged):
    event = hip.event()
    hip.begin(stream, mode)
    hip.ok("hipEventRecord", event, stream)
    check(
        stream,
        mode,
        lambda: run(same_thread, exchanged, lambda: hip.code(name, event)),
        CAPTURED_EVENT,
        legal=False,
    )
    assert hip.code(name, event) == 0, "after the capture the event was never recorded"
    hip.ok("hipEventDestroy", event)


@pytest.mark.parametrize("name", ["hipEventQuery", "hipEventSynchronize"])
def test_events_of_the_null_stream_and_unrecorded_ones_are_legal(stream, name):
    fresh, on_null = hip.event(), hip.event()
    hip.ok("hipEventRecord", on_null, None)
    hip.ok("hipDeviceSynchronize")
    hip.begin(stream)
    assert hip.code(name, fresh) == 0
    assert hip.code(name, on_null) == 0
    assert hip.end_code(stream) == 0
    for event in (fresh, on_null):
        hip.ok("hipEventDestroy", event)


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
@pytest.mark.parametrize("name", BLOCKING)
def test_blocking_copies_and_fills_are_never_legal(stream, name, mode, same_thread, exchanged):
    hip.begin(stream, mode)
    check(
        stream,
        mode,
        lambda: run(same_thread, exchanged, lambda: hip.code(name, *BLOCKING[name])),
        IMPLICIT,
        legal=False,
    )


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
def test_synchronising_the_device_is_never_legal(stream, mode, same_thread, exchanged):
    hip.begin(stream, mode)
    check(
        stream,
        mode,
        lambda: run(same_thread, exchanged, lambda: hip.code("hipDeviceSynchronize")),
        UNSUPPORTED,
        legal=False,
    )


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("name", ["hipStreamSynchronize", "hipStreamQuery"])
def test_synchronising_the_capturing_stream(stream, name, mode):
    hip.begin(stream, mode)
    check(
        stream, mode, lambda: in_mode(R, lambda: hip.code(name, stream)), UNSUPPORTED, legal=False
    )


@pytest.mark.parametrize("handle", [None, hip.LEGACY], ids=["null", "legacy"])
def test_synchronising_the_null_stream_is_legal(stream, handle):
    hip.begin(stream)
    assert hip.code("hipStreamSynchronize", handle) == 0
    assert hip.code("hipStreamQuery", handle) == 0
    assert hip.end_code(stream) == 0


# The worked matrix of AMD's measurements: every calling thread keeps its exchange mode.
WORKED = {
    G: ((900, 900), 906, (900, 900)),
    T: ((900, 0), 906, (900, 0)),
    R: ((0, 0), 906, (0, 0)),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("same_thread", [True, False], ids=["same", "other"])
def test_worked_matrix(streams, mode, same_thread):
    column = 0 if same_thread else 1
    malloc, memcpy, synchronize = WORKED[mode]
    stream, idle = streams(), streams()
    pointer = ctypes.c_uint64()
    for expected, call in (
        (malloc[column], ("hipMalloc", ctypes.byref(pointer), 64)),
        (memcpy, ("hipMemcpy", None, None, 0, 0)),
        (synchronize[column], ("hipStreamSynchronize", idle)),
    ):
        hip.begin(stream, mode)
        assert run(same_thread, G, lambda call=call: hip.code(*call)) == expected
        assert hip.end_code(stream) == (INVALIDATED if expected else 0)
        hip.ok("hipFree", pointer.value)
        pointer.value = 0


def test_blocking_copies_invalidate_every_capture_of_the_process(streams):
    mine, relaxed, theirs = streams(), streams(), streams()
    hip.begin(mine, G)
    hip.begin(relaxed, R)
    hip.in_thread(lambda: hip.begin(theirs, R))
    assert hip.code("hipMemset", None, 0, 0) == IMPLICIT
    assert [hip.status(s) for s in (mine, relaxed, theirs)] == [hip.INVALIDATED] * 3
    assert [hip.end_code(s) for s in (mine, relaxed, theirs)] == [INVALIDATED] * 3
    assert hip.code("hipMemset", None, 0, 0) == 0, "nothing stale is left"


def test_own_captures_become_invalid_before_global_ones(streams):
    mine, theirs = streams(), streams()
    hip.begin(mine, T)
    hip.in_thread(lambda: hip.begin(theirs, G))
    assert hip.code("hipFree", None) == UNSUPPORTED
    assert (hip.status(mine), hip.status(theirs)) == (hip.INVALIDATED, hip.ACTIVE)
    assert hip.end_code(mine) == INVALIDATED
    hip.ok("hipStreamDestroy", theirs)


def test_an_invalid_capture_forbids_until_it_is_ended(stream):
    hip.begin(stream)
    assert hip.code("hipFree", None) == UNSUPPORTED
    assert hip.code("hipFree", None) == UNSUPPORTED
    assert hip.code("hipMemset", None, 0, 0) == IMPLICIT
    assert hip.end_code(stream) == INVALIDATED
    assert hip.code("hipFree", None) == 0


@pytest.mark.parametrize("name", CAPTURABLE)
def test_capturable_calls_become_one_node_and_are_refused_when_invalid(stream, out, name):
    args = CAPTURABLE[name](out, stream)
    hip.begin(stream)
    hip.ok(name, *args)
    assert hip.code("hipStreamQuery", stream) == UNSUPPORTED
    assert hip.code(name, *args) == INVALIDATED
    assert hip.end_code(stream) == INVALIDATED
    hip.begin(stream)
    hip.ok(name, *args)
    graph = hip.end(stream)
    assert len(hip.nodes(graph)) == 1
    hip.ok("hipGraphDestroy", graph)


def test_event_calls_and_launches_are_refused_when_invalid(stream, nothing):
    event = hip.event()
    hip.begin(stream)
    assert hip.code("hipStreamQuery", stream) == UNSUPPORTED
    assert hip.code("hipEventRecord", event, stream) == INVALIDATED
    assert hip.code("hipStreamWaitEvent", stream, event, 0) == INVALIDATED
    assert hip.launch_kernel(nothing, stream, None) == INVALIDATED
    assert hip.end_code(stream) == INVALIDATED
    hip.ok("hipEventDestroy", event)


@pytest.mark.parametrize("flags", [0, hip.NON_BLOCKING], ids=["blocking", "non-blocking"])
def test_null_stream_work_runs_while_another_stream_captures(streams, out, put, flags):
    stream = streams(flags)
    hip.begin(stream)
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(9))
    assert hip.launch_kernel(put, None, params) == 0
    hip.ok("hipMemsetD32Async", out + 4, 3, 1, None)
    hip.ok("hipStreamSynchronize", None)
    assert hip.end_code(stream) == 0
    assert hip.from_device(out, 12) == bytes((9, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0))


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
def test_loading_code_is_legal(stream, mode, same_thread, exchanged):
    hip.begin(stream, mode)
    for name in LOADING:
        call = (name, None, None, 0, None, None)
        assert run(same_thread, exchanged, lambda call=call: hip.code(*call)) == 1
    assert hip.end_code(stream) == 0


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
def test_a_graph_launch_runs_at_once(stream, mode, same_thread, exchanged):
    exec_ = hip.instantiate(hip.out("hipGraphCreate", 0))
    hip.begin(stream, mode)
    launch = ("hipGraphLaunch", exec_, stream)
    assert run(same_thread, exchanged, lambda: hip.code(*launch)) == 0
    graph = hip.end(stream)
    assert hip.nodes(graph) == []
    hip.ok("hipGraphDestroy", graph)


def test_every_row_of_the_table_is_tried():
    table = API.parent.joinpath("runtime", "capture_rules.cpp").read_text()
    rows = re.findall(r'Rule\{"(\w+)", (\w+)\}', table)
    tried = {
        "AllocLike": set(ALLOC_LIKE),
        "BlockingCopy": set(BLOCKING),
        "DeviceSync": {"hipDeviceSynchronize"},
        "StreamSync": {"hipStreamSynchronize", "hipStreamQuery", "hipStreamSetAttribute"},
        "EventSync": {"hipEventQuery", "hipEventSynchronize"},
        "Capturable": set(CAPTURABLE),
        "Loading": set(LOADING),
        "Eager": {"hipGraphLaunch"},
    }
    for name, kind in rows:
        assert name in tried.get(kind, set()) | ELSEWHERE.get(kind, set()), (name, kind)


def test_unaffected_calls(stream, module, out):
    hip.begin(stream)
    hip.function(module, "put")
    hip.ok("hipEventDestroy", hip.event())
    hip.ok("hipStreamDestroy", hip.stream())
    hip.ok("hipMemGetInfo", None, None)
    found = hip.PointerAttributes()
    hip.ok("hipPointerGetAttributes", ctypes.byref(found), out)
    hip.ok("hipGraphDestroy", hip.out("hipGraphCreate", 0))
    assert hip.end_code(stream) == 0


@pytest.mark.parametrize("mode, same_thread, exchanged", MATRIX)
def test_a_copy_that_waits_for_its_stream_is_a_synchronisation(
    streams, mode, same_thread, exchanged
):
    stream, idle = streams(), streams()
    hip.begin(stream, mode)
    forbidden = refused(mode, same_thread, exchanged)
    call = ("hipMemcpyWithStream", None, None, 0, 0, idle)
    check(
        stream,
        mode,
        lambda: run(same_thread, exchanged, lambda: hip.code(*call)),
        UNSUPPORTED if forbidden else 0,
        not forbidden,
    )
