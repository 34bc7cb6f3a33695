"""Events outside captures (api/event.cpp)."""

from __future__ import annotations

import ctypes
import time

import pytest
from helpers import hip_ctypes as hip

INVALID, HANDLE, NOT_READY, DESTROYED = 1, 400, 600, 709
TIMED, UNTIMED = 0, 2


@pytest.mark.parametrize(
    "flags, expected",
    [
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 0),
        (6, 0),
        (4, INVALID),
        (8, INVALID),
        (0x20000000, 0),
        (0x40000000, 0),
        (0x80000000, 0),
        (0xC0000000, INVALID),
    ],
)
def test_flags(flags, expected):
    handle = ctypes.c_uint64(7)
    assert hip.code("hipEventCreateWithFlags", ctypes.byref(handle), flags) == expected
    assert (handle.value != 0) == (expected == 0)
    if handle.value:
        hip.ok("hipEventDestroy", handle.value)


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipEventCreate", (None,), INVALID),
        ("hipEventDestroy", (None,), HANDLE),
        ("hipEventDestroy", (77,), DESTROYED),
        ("hipEventRecord", (None, None), HANDLE),
        ("hipEventQuery", (None,), HANDLE),
        ("hipEventSynchronize", (None,), HANDLE),
        ("hipEventElapsedTime", (None, None, None), INVALID),
        ("hipEventElapsedTime", (bytes(4), None, None), HANDLE),
        ("hipStreamWaitEvent", (None, None, 0), HANDLE),
    ],
)
def test_codes(call, args, expected):
    assert hip.code(call, *args) == expected


def test_an_event_that_was_never_recorded_is_complete(stream):
    event = hip.event()
    assert hip.code("hipEventQuery", event) == 0
    assert hip.code("hipEventSynchronize", event) == 0
    assert hip.code("hipStreamWaitEvent", stream, event, 0) == 0
    assert hip.code("hipStreamWaitEvent", stream, event, 2) == INVALID
    assert hip.code("hipStreamWaitEvent", stream, event, 1) == HANDLE, "external needs a capture"
    hip.ok("hipEventDestroy", event)


def test_a_record_is_complete_when_the_work_before_it_is(stream, gate):
    event = hip.event()
    gate.block(stream)
    hip.ok("hipEventRecord", event, stream)
    assert hip.code("hipEventQuery", event) == NOT_READY
    gate.open_gate()
    hip.ok("hipEventSynchronize", event)
    assert hip.code("hipEventQuery", event) == 0
    hip.ok("hipEventDestroy", event)


def test_waiting_orders_another_stream(streams, gate):
    first, second = streams(), streams()
    event = hip.event()
    gate.block(first)
    hip.ok("hipEventRecord", event, first)
    hip.ok("hipStreamWaitEvent", second, event, 0)
    hip.ok("hipEventDestroy", event)
    assert hip.code("hipStreamQuery", second) == NOT_READY
    gate.open_gate()
    hip.ok("hipStreamSynchronize", second)


def test_recording_again_replaces_the_record(streams, gate):
    event = hip.event()
    gate.block(streams())
    hip.ok("hipEventRecord", event, streams())
    hip.ok("hipEventSynchronize", event)
    hip.ok("hipEventDestroy", event)


def elapsed(start: int, stop: int) -> tuple[int, float]:
    value = ctypes.c_float(-1)
    return hip.code("hipEventElapsedTime", ctypes.byref(value), start, stop), value.value


def test_elapsed_time_is_milliseconds(stream):
    start, stop = hip.event(TIMED), hip.event(TIMED)
    sleep = hip.HOST_FUNCTION(lambda _: time.sleep(0.05))
    hip.ok("hipEventRecord", start, stream)
    hip.ok("hipLaunchHostFunc", stream, sleep, None)
    hip.ok("hipEventRecord", stop, stream)
    assert elapsed(start, stop)[0] in (0, NOT_READY)
    hip.ok("hipEventSynchronize", stop)
    code, milliseconds = elapsed(start, stop)
    assert code == 0
    assert 50 <= milliseconds < 5000
    assert elapsed(stop, stop) == (0, 0.0)
    for event in (start, stop):
        hip.ok("hipEventDestroy", event)


def test_elapsed_time_needs_two_timed_records(stream):
    timed, untimed, fresh = hip.event(TIMED), hip.event(UNTIMED), hip.event(TIMED)
    for event in (timed, untimed):
        hip.ok("hipEventRecord", event, stream)
    hip.ok("hipStreamSynchronize", stream)
    assert elapsed(timed, untimed)[0] == HANDLE
    assert elapsed(timed, fresh)[0] == HANDLE
    assert elapsed(fresh, timed)[0] == HANDLE
    for event in (timed, untimed, fresh):
        hip.ok("hipEventDestroy", event)


def test_an_unfinished_record_has_no_time_yet(stream, gate):
    start, stop = hip.event(TIMED), hip.event(TIMED)
    hip.ok("hipEventRecord", start, stream)
    gate.block(stream)
    hip.ok("hipEventRecord", stop, stream)
    assert elapsed(start, stop)[0] == NOT_READY
    gate.open_gate()
    hip.ok("hipEventSynchronize", stop)
    for event in (start, stop):
        hip.ok("hipEventDestroy", event)
