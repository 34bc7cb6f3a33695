"""A failure of the device reaches the host once, at the next synchronising call."""

from __future__ import annotations

import ctypes
import struct

import pytest
from helpers import hip_ctypes as hip

ILLEGAL_ADDRESS = 700


@pytest.fixture
def fail(put):
    """Give a function that launches a kernel which stores through a null pointer."""
    params, kept = hip.parameters(ctypes.c_uint64(0), ctypes.c_int(1))

    def launch(stream) -> None:
        assert hip.launch_kernel(put, stream, params) == 0
        assert kept

    yield launch
    hip.code("hipDeviceSynchronize")
    hip.last_error()


def works(stream: int, out: int) -> bool:
    hip.ok("hipMemsetD32Async", out, 7, 64, stream)
    hip.ok("hipStreamSynchronize", stream)
    return struct.unpack("64i", hip.from_device(out, 256)) == (7,) * 64


def test_the_stream_tells_once_and_works_again(stream, out, fail):
    hip.last_error()
    fail(stream)
    assert hip.last_error() == 0, "not before a synchronising call"
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    assert hip.last_error() == ILLEGAL_ADDRESS
    assert hip.code("hipStreamSynchronize", stream) == 0
    assert works(stream, out)
    assert b"memory fault" in hip.library().hipgraphEmuLastReport()


def test_later_work_of_the_stream_does_not_run(stream, out, fail):
    fail(stream)
    hip.ok("hipMemsetD32Async", out, 5, 64, stream)
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    assert struct.unpack("i", hip.from_device(out, 4)) == (0,)
    assert works(stream, out)


def test_work_queued_after_the_failure_happened_does_not_run_either(stream, out, fail):
    fail(stream)
    while hip.library().hipStreamQuery(ctypes.c_uint64(stream)) == 600:
        pass
    fail(stream)
    hip.ok("hipMemsetD32Async", out, 5, 64, stream)
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    assert struct.unpack("i", hip.from_device(out, 4)) == (0,)


def test_other_streams_know_nothing_of_it(streams, out, fail):
    first, second = streams(), streams()
    fail(first)
    assert works(second, out)
    assert hip.code("hipStreamSynchronize", first) == ILLEGAL_ADDRESS


def test_two_failures_are_told_by_their_streams(streams, out, fail):
    first, second = streams(), streams()
    fail(first)
    fail(second)
    assert hip.code("hipStreamSynchronize", second) == ILLEGAL_ADDRESS
    assert hip.code("hipStreamSynchronize", first) == ILLEGAL_ADDRESS
    assert works(first, out)


def test_a_failure_that_spread_is_told_once(streams, out, fail):
    """A stream that waited for the failed one shares its failure, not a second one."""
    first, second, event = streams(), streams(), hip.event()
    fail(first)
    hip.ok("hipEventRecord", event, first)
    hip.ok("hipStreamWaitEvent", second, event, 0)
    hip.ok("hipMemsetD32Async", out, 5, 64, second)
    assert hip.code("hipStreamSynchronize", second) == ILLEGAL_ADDRESS
    assert struct.unpack("i", hip.from_device(out, 4)) == (0,)
    assert hip.code("hipStreamSynchronize", first) == 0
    assert hip.code("hipEventSynchronize", event) == 0
    assert hip.code("hipDeviceSynchronize") == 0
    assert works(second, out)
    assert works(first, out)
    hip.ok("hipEventDestroy", event)


@pytest.mark.parametrize("call", ["event", "device", "memcpy", "null stream"])
def test_every_synchronising_call_tells(streams, out, fail, call):
    stream, event = streams(0), hip.event()
    fail(stream)
    hip.ok("hipEventRecord", event, stream)
    hip.code("hipStreamQuery", hip.LEGACY)
    room = ctypes.create_string_buffer(256)
    calls = {
        "event": lambda: hip.code("hipEventSynchronize", event),
        "device": lambda: hip.code("hipDeviceSynchronize"),
        "memcpy": lambda: hip.code("hipMemcpy", room, out, 256, hip.D2H),
        "null stream": lambda: hip.code("hipStreamSynchronize", None),
    }
    assert calls[call]() == ILLEGAL_ADDRESS
    assert hip.code("hipDeviceSynchronize") == 0
    assert works(stream, out)
    assert hip.code("hipEventQuery", event) == 0
    hip.ok("hipEventDestroy", event)


def poll(stream: int) -> int:
    """What hipStreamQuery says once it no longer says NotReady."""
    while (result := hip.code("hipStreamQuery", stream)) == 600:
        pass
    return result


def test_asking_does_not_swallow_a_failure(streams, fail):
    stream, event = streams(0), hip.event()
    fail(stream)
    hip.ok("hipEventRecord", event, stream)
    assert poll(stream) == ILLEGAL_ADDRESS
    assert hip.code("hipEventQuery", event) == ILLEGAL_ADDRESS
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    assert hip.code("hipStreamQuery", stream) == 0
    assert hip.code("hipEventQuery", event) == 0
    hip.ok("hipEventDestroy", event)


def test_a_graphs_failure_is_told_by_the_stream_it_was_launched_in(stream, put, out):
    hip.begin(stream)
    params, _kept = hip.parameters(ctypes.c_uint64(0), ctypes.c_int(1))
    assert hip.launch_kernel(put, stream, params) == 0
    hip.ok("hipMemsetD32Async", out, 5, 64, stream)
    graph = hip.end(stream)
    exec_ = hip.instantiate(graph)
    for _ in range(2):
        hip.ok("hipGraphLaunch", exec_, stream)
        assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    assert struct.unpack("i", hip.from_device(out, 4)) == (0,)
    assert works(stream, out)
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", graph)


def test_freeing_does_not_swallow_a_failure(stream, fail):
    pointer = hip.malloc(64)
    fail(stream)
    hip.ok("hipFree", pointer)
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
