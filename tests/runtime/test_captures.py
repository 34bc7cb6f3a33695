"""What an open capture forbids is refused before HIP could lose it, and what it needs is kept."""

import gc
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.captures import recording
from helpers.kernels import compile_hip

from hipgraph_shmem.captures import capture_info, recorder_of, refuse_while_capturing
from hipgraph_shmem.errors import CaptureError
from hipgraph_shmem.hip_abi import CaptureMode, CaptureStatus
from hipgraph_shmem.memory import Buffer, PinnedBuffer, zeros
from hipgraph_shmem.module import Module
from hipgraph_shmem.runtime import call, discard, relaxed, state
from hipgraph_shmem.stream import Event, Stream

EMPTY = 'extern "C" __global__ void empty() {}'


@pytest.fixture
def buffer(stream):
    with zeros(16, np.uint8, stream) as made:
        stream.synchronize()
        yield made


def in_thread(function):
    """Run a function in a thread; return what it raised."""
    raised = []

    def body():
        try:
            function()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return raised


MODES = [
    (CaptureMode.GLOBAL, True, True),
    (CaptureMode.THREAD_LOCAL, True, False),
    (CaptureMode.RELAXED, False, False),
]


@pytest.mark.parametrize("mode, same, other", MODES, ids=[row[0].name for row in MODES])
def test_allocation_is_refused_as_hip_would(stream, mode, same, other):
    with recording(stream.handle, mode) as recorder:
        if same:
            with pytest.raises(CaptureError) as caught:
                Buffer(16)
            assert caught.value.stream == stream.handle
            assert "before the capture" in caught.value.cure
        else:
            Buffer(16).close()
        assert bool(in_thread(lambda: Buffer(16).close())) is other
    assert recorder.n_nodes == 0


def test_a_relaxed_thread_may_allocate(stream):
    with recording(stream.handle, CaptureMode.GLOBAL):
        with relaxed():
            buffer = Buffer(16)
            refuse_while_capturing("hipMalloc", "")
        with pytest.raises(CaptureError):
            refuse_while_capturing("hipMalloc", "")
    buffer.close()


WAITS = {
    "stream": lambda use: use.stream.synchronize(),
    "stream with timeout": lambda use: use.stream.synchronize(timeout=1),
    "stream query": lambda use: use.stream.query(),
    "captured event": lambda use: use.event.synchronize(),
    "captured event query": lambda use: use.event.query(),
    "read back": lambda use: use.buffer.to_numpy(use.stream),
    "close the stream": lambda use: use.stream.close(),
    "free": lambda use: use.buffer.close(),
    "export": lambda use: use.buffer.__dlpack__(stream=None),
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())
@pytest.mark.parametrize("mode", [CaptureMode.GLOBAL, CaptureMode.THREAD_LOCAL])
def test_waiting_is_refused_and_the_capture_lives(stream, buffer, wait, mode):
    with Event() as event:
        with recording(stream.handle, mode) as recorder:
            buffer.fill(1, stream)
            event.record(stream)
            with pytest.raises(CaptureError) as caught:
                wait(SimpleNamespace(stream=stream, buffer=buffer, event=event))
            assert caught.value.cure
            buffer.fill(2, stream)
            assert stream.capture_status is CaptureStatus.ACTIVE
        assert recorder.n_nodes == 2
    assert not stream.closed
    assert not buffer.closed


def test_waiting_for_another_stream_is_refused_too(stream):
    with Stream() as other, recording(stream.handle), pytest.raises(CaptureError):
        other.synchronize()


def test_capture_info_sees_the_frontier(stream, buffer):
    assert capture_info(stream.handle).status is CaptureStatus.NONE
    assert capture_info(0).status is CaptureStatus.NONE
    with recording(stream.handle) as recorder:
        assert capture_info(stream.handle).frontier == ()
        buffer.fill(1, stream)
        info = capture_info(stream.handle)
        assert info.status is CaptureStatus.ACTIVE
        assert info.graph != 0
        assert len(info.frontier) == 1
        assert recorder_of(stream.handle) is recorder
    assert recorder_of(stream.handle) is None


def test_a_joined_stream_belongs_to_the_same_recorder(stream):
    with Stream() as other, Event() as fork, Event() as join:
        with recording(stream.handle) as recorder:
            stream.record(fork)
            other.wait(fork)
            assert recorder_of(other.handle) is recorder
            stream.wait(other.record(join))
        assert fork in recorder.kept
        assert join in recorder.kept


def test_recording_into_a_capture_of_others_is_refused_by_name(stream, buffer):
    with recording(stream.handle, ours=False):
        with pytest.raises(CaptureError) as caught:
            recorder_of(stream.handle)
        assert "graph.capture" in caught.value.cure
        with pytest.raises(CaptureError):
            buffer.copy_from(bytes(16), stream)


UNKNOWN = {
    **{name: wait for name, wait in WAITS.items() if name.startswith("stream")},
    "event": lambda use: use.event.synchronize(),
    "event with timeout": lambda use: use.event.synchronize(timeout=9),
    "event query": lambda use: use.event.query(),
    "read back": lambda use: use.buffer.to_numpy(use.stream),
    "copy in": lambda use: use.buffer.copy_from(bytes(16), use.stream),
    "free": lambda use: use.buffer.close(),
}


@pytest.mark.parametrize("wait", UNKNOWN.values(), ids=UNKNOWN.keys())
@pytest.mark.parametrize("same", [True, False], ids=["same thread", "other thread"])
@pytest.mark.parametrize("mode", [CaptureMode.GLOBAL, CaptureMode.THREAD_LOCAL])
def test_c008_waiting_loses_no_capture_that_is_not_known_here(stream, wait, mode, same):
    """A capture of others, or one begun after the look and before the call."""
    with Stream() as idle, Event() as event, Buffer(16) as buffer:
        idle.record(event)
        use = SimpleNamespace(stream=idle, event=event, buffer=buffer)
        with recording(stream.handle, mode, ours=False) as recorder:
            if same:
                wait(use)
            else:
                assert in_thread(lambda: wait(use)) == []
        assert recorder.n_nodes == 0


def make_module(device):
    return Module(compile_hip(EMPTY, device.target.split(":")[0]))


@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("cyclic", [True, False])
@pytest.mark.parametrize("ours", [True, False])
def test_dropping_handles_leaves_a_capture_alone(device, stream, buffer, collecting, cyclic, ours):
    """A finaliser that unloads or frees inside a capture would lose it."""
    dropped = [make_module(device), Buffer(16), PinnedBuffer(16), Event()]
    gone = [weakref.ref(handle) for handle in dropped]
    if cyclic:
        dropped.append(dropped)
    (gc.enable if collecting else gc.disable)()
    try:
        with recording(stream.handle, CaptureMode.GLOBAL, ours=ours) as recorder:
            buffer.fill(1, stream)
            del dropped
            if cyclic:
                gc.collect()
            assert [ref() for ref in gone] == [None] * 4
            assert len(state.postponed) == (4 if ours else 0)
            buffer.fill(2, stream)
        assert recorder.n_nodes == 2
        assert gc.isenabled() is collecting
    finally:
        gc.enable()
    assert not state.postponed


def test_what_a_dropped_handle_needs_waits_with_it(stream):
    class Needed:
        pass

    needed = Needed()
    alive = weakref.ref(needed)
    raw = call("hipEventCreateWithFlags", 0)
    with recording(stream.handle):
        discard("hipEventDestroy", raw, needs=(needed,))
        del needed
        gc.collect()
        assert alive() is not None
    assert alive() is None


def test_leaving_a_with_block_inside_a_capture_waits_too(stream, buffer):
    inner = Buffer(16)
    with recording(stream.handle) as recorder:
        with inner:
            buffer.fill(1, stream)
        assert inner.closed
    assert recorder.n_nodes == 1


def test_an_explicit_close_is_refused_and_the_handle_stays_usable(device, stream):
    module = make_module(device)
    with recording(stream.handle):
        with pytest.raises(CaptureError) as caught:
            module.close()
        assert "Module" in caught.value.cure
        assert module.kernel("empty").handle
    module.close()
    assert module.closed
