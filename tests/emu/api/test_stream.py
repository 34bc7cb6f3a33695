"""Streams: handles, codes, the implicit rule of the null stream (api/stream.cpp)."""

from __future__ import annotations

import ctypes
import struct
import time

import pytest
from helpers import hip_ctypes as hip

NOT_READY = 600
STALE = 0x7_0000_0000


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipStreamCreate", (None,), 1),
        ("hipStreamCreateWithFlags", (bytes(8), 2), 1),
        ("hipStreamCreateWithPriority", (bytes(8), 4, 0), 1),
        ("hipStreamDestroy", (None,), 400),
        ("hipStreamDestroy", (hip.LEGACY,), 400),
        ("hipStreamDestroy", (hip.PER_THREAD,), 400),
        ("hipStreamDestroy", (STALE,), 709),
        ("hipStreamSynchronize", (STALE,), 709),
        ("hipStreamQuery", (STALE,), 709),
        ("hipStreamGetFlags", (None, bytes(4)), 1),
        ("hipStreamGetPriority", (None, None), 1),
        ("hipStreamGetDevice", (STALE, bytes(4)), 709),
        ("hipStreamWaitEvent", (None, None, 0), 400),
        ("hipModuleLaunchKernel", (1, 1, 1, 1, 1, 1, 1, 0, STALE, None, None), 709),
        ("hipGraphLaunch", (STALE, None), 1),
        ("hipStreamSynchronize", (None,), 0),
        ("hipStreamSynchronize", (hip.LEGACY,), 0),
        ("hipStreamSynchronize", (hip.PER_THREAD,), 0),
        ("hipStreamQuery", (None,), 0),
    ],
)
def test_codes(call, args, expected):
    assert hip.code(call, *args) == expected


def test_a_refused_create_writes_null():
    handle = ctypes.c_uint64(7)
    assert hip.code("hipStreamCreateWithFlags", ctypes.byref(handle), 9) == 1
    assert handle.value == 0


def test_a_destroyed_stream_is_unknown_and_its_handle_is_never_used_again(streams):
    gone = hip.stream()
    hip.ok("hipStreamDestroy", gone)
    assert gone not in [streams() for _ in range(8)]
    assert hip.code("hipStreamDestroy", gone) == 709


@pytest.mark.parametrize("asked, given", [(-5, -1), (-1, -1), (0, 0), (1, 1), (3, 1)])
def test_a_priority_is_clamped(asked, given):
    handle = hip.out("hipStreamCreateWithPriority", hip.NON_BLOCKING, asked)
    value, flags = ctypes.c_int(9), ctypes.c_uint(9)
    hip.ok("hipStreamGetPriority", handle, ctypes.byref(value))
    hip.ok("hipStreamGetFlags", handle, ctypes.byref(flags))
    assert (value.value, flags.value) == (given, hip.NON_BLOCKING)
    hip.ok("hipStreamDestroy", handle)


def test_the_per_thread_stream_is_another_one_in_every_thread(gate):
    gate.block(hip.PER_THREAD)
    assert hip.code("hipStreamQuery", hip.PER_THREAD) == NOT_READY
    assert hip.in_thread(lambda: hip.code("hipStreamQuery", hip.PER_THREAD)) == 0


@pytest.mark.parametrize(
    "busy_flags, waits", [(0, True), (hip.NON_BLOCKING, False)], ids=["blocking", "non-blocking"]
)
def test_null_stream_work_waits_for_blocking_streams(streams, out, gate, busy_flags, waits):
    gate.block(streams(busy_flags))
    hip.ok("hipMemsetD32Async", out, 5, 1, None)
    expected = NOT_READY if waits else 0
    deadline = 2000
    while hip.code("hipStreamQuery", hip.LEGACY) != expected and deadline:
        deadline -= 1
    assert hip.code("hipStreamQuery", hip.LEGACY) == expected


@pytest.mark.parametrize("flags, waits", [(0, True), (hip.NON_BLOCKING, False)])
def test_blocking_streams_wait_for_the_null_stream(streams, out, gate, flags, waits):
    gate.block(None)
    other = streams(flags)
    hip.ok("hipMemsetD32Async", out, 5, 1, other)
    if waits:
        time.sleep(0.05)
        assert hip.code("hipStreamQuery", other) == NOT_READY
        gate.open_gate()
    hip.ok("hipStreamSynchronize", other)
    gate.open_gate()
    assert struct.unpack("i", hip.from_device(out, 4)) == (5,)


def test_blocking_streams_do_not_wait_for_each_other(streams, out, gate):
    gate.block(streams(0))
    other = streams(0)
    hip.ok("hipMemsetD32Async", out, 5, 1, other)
    hip.ok("hipStreamSynchronize", other)


def test_null_includes_blocking_streams_and_legacy_is_the_null_queue_alone(streams, gate):
    gate.block(streams(0))
    assert hip.code("hipStreamQuery", None) == NOT_READY
    assert hip.code("hipStreamQuery", hip.LEGACY) == 0


def test_work_of_a_destroyed_stream_completes_and_the_device_waits_for_it(out, gate):
    handle = hip.stream()
    gate.block(handle)
    hip.ok("hipMemsetD32Async", out, 6, 1, handle)
    hip.ok("hipStreamDestroy", handle)
    gate.open_gate()
    hip.ok("hipDeviceSynchronize")
    assert struct.unpack("i", hip.from_device(out, 4)) == (6,)


def test_waiting_releases_the_interpreter(stream):
    """C013: a Python host function runs while the main thread synchronises."""
    seen = []
    function = hip.HOST_FUNCTION(seen.append)
    hip.ok("hipLaunchHostFunc", stream, function, 123)
    hip.ok("hipStreamSynchronize", stream)
    assert seen == [123]


def test_work_of_a_stream_waits_for_the_work_before_it(stream, out, gate):
    hip.ok("hipMemset", out, 0, 4)
    gate.block(stream)
    hip.ok("hipMemsetD32Async", out, 5, 1, stream)
    time.sleep(0.05)
    assert hip.from_device(out, 4) == bytes(4)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, 4) == bytes([5, 0, 0, 0])
