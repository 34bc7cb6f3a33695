import time

import numpy as np
import pytest
from helpers.process import run_python

from hipgraph_shmem.errors import HangError, HipError
from hipgraph_shmem.hip_abi import CaptureStatus
from hipgraph_shmem.memory import zeros
from hipgraph_shmem.runtime import call
from hipgraph_shmem.stream import Event, Stream, as_stream


def test_a_new_stream_is_idle(device, stream):
    assert stream.query() is True
    assert stream.device == 0
    assert stream.capture_status is CaptureStatus.NONE
    stream.synchronize()
    stream.synchronize(timeout=1)


def test_options_reach_hip(device):
    import ctypes

    from hipgraph_shmem.runtime import library

    for blocking, flags in ((True, 0), (False, 1)):
        with Stream(blocking=blocking, priority=-1) as stream:
            found, priority = ctypes.c_uint(), ctypes.c_int()
            raw = ctypes.c_void_p(stream.handle)
            assert library().pointers.hipStreamGetFlags(raw, ctypes.byref(found)) == 0
            assert found.value == flags
            assert library().pointers.hipStreamGetPriority(raw, ctypes.byref(priority)) == 0
            assert priority.value == -1


def test_query_and_timeout_see_work_that_waits(stream, gate):
    hold, flag = gate
    hold(stream)
    assert stream.query() is False
    start = time.monotonic()
    with pytest.raises(HangError) as caught:
        stream.synchronize(timeout=0.2)
    assert 0.2 <= time.monotonic() - start < 5
    assert caught.value.seconds == 0.2
    assert "Stream" in caught.value.waited_for
    event = stream.record()
    assert event.query() is False
    with pytest.raises(HangError):
        event.synchronize(timeout=0.05)
    flag.array[0] = 1
    event.synchronize()
    stream.synchronize(timeout=30)
    assert stream.query() is True
    assert event.query() is True
    event.close()


def test_an_event_orders_two_streams(stream, gate):
    hold, flag = gate
    with Stream() as other, zeros(1, np.int32, other) as target:
        hold(stream)
        with stream.record() as event:
            other.wait(event)
            target.fill(7, other, width=4)
            time.sleep(0.02)
            assert other.query() is False
            flag.array[0] = 1
            assert target.to_numpy(other) == [7]


def test_elapsed_time_counts_the_work_between(stream, gate):
    hold, flag = gate
    with Event() as start, Event() as end:
        start.record(stream)
        hold(stream)
        end.record(stream)
        time.sleep(0.05)
        flag.array[0] = 1
        end.synchronize()
        assert 40 < end.elapsed_ms(since=start) < 30_000


def test_elapsed_time_needs_recorded_events_with_timing(stream):
    with Event(timing=False) as first, Event() as second:
        first.record(stream)
        second.record(stream)
        stream.synchronize()
        with pytest.raises(HipError) as caught:
            second.elapsed_ms(since=first)
        assert caught.value.name == "hipErrorInvalidHandle"


def test_an_event_never_recorded_has_happened(device):
    with Event() as event:
        assert event.query() is True
        event.synchronize()


def test_record_reuses_an_event(stream):
    with Event() as event:
        assert stream.record(event) is event


class OtherStream:
    def __init__(self, raw):
        self.raw = raw

    def __cuda_stream__(self):
        return 0, self.raw


class OlderStream(OtherStream):
    __cuda_stream__ = property(lambda self: (0, self.raw))


def test_streams_are_accepted_in_every_form(stream):
    assert as_stream(stream) == stream.handle
    assert as_stream(stream.handle) == stream.handle
    assert as_stream(OtherStream(stream.handle)) == stream.handle
    assert as_stream(OlderStream(stream.handle)) == stream.handle
    assert as_stream(0) == 0
    assert stream.__cuda_stream__() == (0, stream.handle)


@pytest.mark.parametrize("value", [None, "stream", 1.0, True, object()])
def test_what_is_no_stream_is_refused_by_name(value):
    with pytest.raises(TypeError, match="where="):
        as_stream(value, "where")


def test_a_negative_or_closed_stream_is_refused(device):
    with pytest.raises(ValueError, match="-1"):
        as_stream(-1)
    stream = Stream()
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        as_stream(stream)
    with pytest.raises(ValueError, match="closed"):
        stream.synchronize()


def test_the_null_stream_can_be_borrowed(device):
    null = Stream.borrow(0)
    assert null.device == call("hipGetDevice")
    null.synchronize()
    assert null.query() is True


DEADLOCK = """
from helpers.kernels import compile_hip
from hipgraph_shmem.errors import HangError, HipError
from hipgraph_shmem.devices import device_info
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import zeros
from hipgraph_shmem.module import Module
from hipgraph_shmem.stream import Stream
import numpy

SPIN = 'extern "C" __global__ void spin_forever(volatile int* flag) { while (flag[0] == 0); }'
module = Module(compile_hip(SPIN, device_info().target.split(":")[0]))
stream = Stream()
flag = zeros(1, numpy.int32, stream)
launch(stream, module.kernel("spin_forever"), LaunchConfig((1, 1, 1)), flag)
try:
    stream.synchronize(timeout={timeout})
except (HangError, HipError) as error:
    print(type(error).__name__, error.report)
"""


@pytest.mark.parametrize("timeout, kind", [(60.0, "HangError"), (None, "HipError")])
def test_a_deadlock_is_reported_with_its_waves(emulated, timeout, kind):
    done = run_python(DEADLOCK.replace("{timeout}", str(timeout)), timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{kind} emulated device: deadlock")
    assert "spin_forever" in done.stdout
