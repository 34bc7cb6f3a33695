"""A call past this package loses a capture: the end of the block names the first such call."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from helpers import hip_ctypes as hip
from helpers.capture_calls import ALLOC_LIKE, BLOCKING

from hipgraph_shmem import Buffer, Event, Stream
from hipgraph_shmem.emulated import capture_refusal
from hipgraph_shmem.errors import CaptureError, GraphError, HipError
from hipgraph_shmem.graph import CaptureMode, capture
from hipgraph_shmem.graph.lost import UNNAMED, lost_capture
from hipgraph_shmem.hip_abi import CaptureStatus, ErrorCode
from hipgraph_shmem.runtime import call, library, state

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(lambda *_: None)
GLOBAL, THREAD_LOCAL, RELAXED = CaptureMode.GLOBAL, CaptureMode.THREAD_LOCAL, CaptureMode.RELAXED
ON_STREAM = ("hipStreamSynchronize", "hipStreamQuery", "hipStreamSetAttribute")
ON_EVENT = ("hipEventSynchronize", "hipEventQuery")
WHERE = list(itertools.product(CaptureMode, (True, False)))
pytestmark = pytest.mark.usefixtures("emulated")


@pytest.fixture
def idle(device: Any) -> Iterator[Stream]:
    with Stream() as made:
        yield made


@pytest.fixture
def event(device: Any) -> Iterator[Event]:
    with Event() as made:
        yield made


@pytest.fixture
def buffer(device: Any) -> Iterator[Buffer]:
    with Buffer(64) as made:
        yield made


@contextlib.contextmanager
def loses(stream: Stream, mode: CaptureMode, name: str, code: int) -> Iterator[None]:
    """Capture the block, whose end must name the call; the stream then captures again."""
    with pytest.raises(CaptureError) as raised, capture(stream, mode):
        yield
    assert (raised.value.call, raised.value.stream) == (name, stream.handle)
    assert str(code) in raised.value.cure
    assert isinstance(raised.value.__cause__, HipError)
    assert raised.value.__cause__.code == ErrorCode.STREAM_CAPTURE_INVALIDATED
    assert_captures_again(stream)


def assert_captures_again(stream: Stream) -> None:
    assert stream.capture_status is CaptureStatus.NONE
    with capture(stream) as captured:
        pass
    assert captured.graph.nodes == ()
    assert capture_refusal() is None


@contextlib.contextmanager
def keeps(stream: Stream, mode: CaptureMode, buffer: Buffer) -> Iterator[None]:
    """Capture the block, which must lose nothing."""
    with capture(stream, mode) as captured:
        buffer.fill(1, stream)
        yield
        buffer.fill(2, stream)
    assert len(captured.graph.nodes) == 2


def made_in(same_thread: bool, raw: Callable[[], int]) -> int:
    return raw() if same_thread else hip.in_thread(raw)


@pytest.mark.parametrize("mode, same", WHERE)
@pytest.mark.parametrize("name", [*ALLOC_LIKE, *ON_STREAM, *ON_EVENT])
def test_what_only_some_modes_forbid(
    stream: Stream,
    idle: Stream,
    event: Event,
    buffer: Buffer,
    name: str,
    mode: CaptureMode,
    same: bool,
) -> None:
    idle.record(event)
    idle.synchronize()
    arguments = ALLOC_LIKE.get(name, (event.handle,) if name in ON_EVENT else (idle.handle, 3, b""))
    if mode is GLOBAL or (mode is THREAD_LOCAL and same):
        with loses(stream, mode, name, 900):
            assert made_in(same, lambda: hip.code(name, *arguments)) == 900
    else:
        with keeps(stream, mode, buffer):
            assert made_in(same, lambda: hip.code(name, *arguments)) != 900


@pytest.mark.parametrize("mode, same", WHERE)
@pytest.mark.parametrize("name", [*BLOCKING, "hipDeviceSynchronize"])
def test_what_every_mode_forbids(stream: Stream, name: str, mode: CaptureMode, same: bool) -> None:
    code = 906 if name in BLOCKING else 900
    with loses(stream, mode, name, code):
        assert made_in(same, lambda: hip.code(name, *BLOCKING.get(name, ()))) == code


@pytest.mark.parametrize("mode, same", WHERE)
@pytest.mark.parametrize("name", [*ON_STREAM, *ON_EVENT])
def test_waiting_for_what_is_captured(
    stream: Stream, event: Event, name: str, mode: CaptureMode, same: bool
) -> None:
    code = 907 if name in ON_EVENT else 900
    with loses(stream, mode, name, code):
        stream.record(event)
        arguments = (event.handle,) if name in ON_EVENT else (stream.handle, 3, b"")
        assert made_in(same, lambda: hip.code(name, *arguments)) == code


@pytest.mark.parametrize("mode", CaptureMode)
@pytest.mark.parametrize("on_null", [True, False], ids=["null stream", "capturing stream"])
def test_a_callback(device: Any, mode: CaptureMode, on_null: bool) -> None:
    with Stream(blocking=True) as stream:
        code = 906 if on_null else 900
        with loses(stream, mode, "hipStreamAddCallback", code):
            target = None if on_null else stream.handle
            assert hip.code("hipStreamAddCallback", target, CALLBACK, None, 0) == code


def test_the_first_call_is_named_and_what_follows_from_it_is_not(stream: Stream) -> None:
    with loses(stream, THREAD_LOCAL, "hipFree", 900):
        hip.code("hipFree", None)
        hip.code("hipMemset", None, 0, 0)
        hip.code("hipMemsetAsync", None, 0, 4, stream.handle)
        hip.code("hipDeviceSynchronize")


def test_another_thread_is_told_of(stream: Stream) -> None:
    with pytest.raises(CaptureError, match="another thread called it"), capture(stream, GLOBAL):
        hip.in_thread(lambda: hip.code("hipFree", None))
    with pytest.raises(CaptureError, match="move it before or after"), capture(stream, GLOBAL):
        hip.code("hipFree", None)


def test_each_capture_names_its_own_call(stream: Stream, idle: Stream) -> None:
    with loses(stream, THREAD_LOCAL, "hipFree", 900):
        hip.code("hipFree", None)
        with loses(idle, RELAXED, "hipMemset", 906):
            hip.code("hipMemset", None, 0, 0)
            with pytest.raises(CaptureError):
                idle.query()


def test_two_captures_cannot_be_joined(stream: Stream, idle: Stream, event: Event) -> None:
    with (
        loses(stream, THREAD_LOCAL, "hipStreamWaitEvent", 902),
        loses(idle, THREAD_LOCAL, "hipStreamWaitEvent", 902),
    ):
        stream.record(event)
        assert hip.code("hipStreamWaitEvent", idle.handle, event.handle, 0) == 902


def test_a_merge_has_a_cure_of_its_own(stream: Stream, idle: Stream, event: Event) -> None:
    with (
        pytest.raises(CaptureError, match="cannot be joined"),
        capture(stream),
        pytest.raises(CaptureError, match="cannot be joined"),
        capture(idle),
    ):
        stream.record(event)
        hip.code("hipStreamWaitEvent", idle.handle, event.handle, 0)


def test_a_runtime_that_keeps_the_invalid_capture_is_told(stream: Stream) -> None:
    """As HIP 7.2 does: here the capture is asked about before it is ended."""
    hip.begin(stream.handle)
    hip.code("hipFree", None)
    error = lost_capture(stream.handle, THREAD_LOCAL, HipError("hipStreamEndCapture", 901, "", ""))
    assert isinstance(error, CaptureError)
    assert error.cure.endswith("close it and use another")
    assert hip.end_code(stream.handle) == 901


def test_a_graph_that_lacks_what_a_joined_stream_did_is_not_given(
    stream: Stream, idle: Stream, event: Event, buffer: Buffer
) -> None:
    """HIP ends this capture well, without the fill."""
    with pytest.raises(CaptureError) as raised, capture(stream) as captured:
        stream.record(event)
        idle.wait(event)
        assert hip.code("hipStreamQuery", idle.handle) == 900
        assert hip.code("hipMemsetAsync", buffer.address, 0, 64, idle.handle) == 901
        graph = hip.capture_graph(stream.handle)
    assert (raised.value.call, raised.value.stream) == ("hipStreamQuery", stream.handle)
    with pytest.raises(GraphError, match="ABANDONED"):
        _ = captured.graph
    assert hip.code("hipGraphDestroy", graph) != 0, "it is destroyed already"
    assert_captures_again(stream)


def test_recording_into_a_lost_capture_says_that_it_is_lost(stream: Stream, buffer: Buffer) -> None:
    with pytest.raises(CaptureError, match="capture is lost") as raised, capture(stream):
        hip.code("hipFree", None)
        buffer.copy_from(bytes(64), stream)
    named = raised.value.__context__
    assert isinstance(named, CaptureError)
    assert named.call == "hipFree"
    assert_captures_again(stream)


def test_destroying_the_stream_is_named(device: Any) -> None:
    stream = hip.stream()
    with pytest.raises(CaptureError) as raised, capture(stream):
        hip.ok("hipStreamDestroy", stream)
    assert (raised.value.call, raised.value.stream) == ("hipStreamDestroy", stream)


def test_a_capture_that_the_block_ended_is_told(stream: Stream) -> None:
    with pytest.raises(GraphError, match="leave hipStreamEndCapture"), capture(stream):
        hip.ok("hipGraphDestroy", hip.end(stream.handle))
    assert_captures_again(stream)


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL])
def test_a_block_that_ends_in_another_thread(device: Any, mode: CaptureMode) -> None:
    def end() -> str:
        with pytest.raises(GraphError) as raised:
            block.__exit__(None, None, None)
        return raised.value.cure

    with Stream() as stream:
        block = capture(stream, mode)
        block.__enter__()
        cure = hip.in_thread(end)
        assert "in the thread that began it" in cure
        assert "close it" in cure
        assert stream.capture_status is CaptureStatus.ACTIVE
        stream.close()


def test_through_hip_python(stream: Stream) -> None:
    """The way that users call past this package."""
    binding = state.binding
    with loses(stream, THREAD_LOCAL, "hipMalloc", 900):
        status, *_ = binding.hipMalloc(64)
        assert int(status) == 900
    with loses(stream, RELAXED, "hipDeviceSynchronize", 900):
        (status,) = binding.hipDeviceSynchronize()
        assert int(status) == 900


@pytest.mark.parametrize("mode", CaptureMode)
def test_where_nothing_is_told_the_suspects_are_listed(stream: Stream, mode: CaptureMode) -> None:
    """On AMD's library nothing names the call; here the thread has ended no lost capture."""
    with capture(stream):
        pass
    invalid = HipError("hipStreamEndCapture", 901, "", "")
    error = lost_capture(stream.handle, mode, invalid)
    assert isinstance(error, CaptureError)
    assert error.call == UNNAMED
    assert "hipDeviceSynchronize" in error.cure
    where = {GLOBAL: "in any thread", THREAD_LOCAL: "in this thread", RELAXED: None}[mode]
    assert ("allocating" in error.cure) is (where is not None)
    assert where is None or error.cure.endswith(where)


def test_what_is_told_lives_on(stream: Stream) -> None:
    """Another capture's end changes no text that a caller still reads."""
    tell = library().pointers.hipgraphEmuCaptureRefusal
    tell.restype = ctypes.c_void_p
    with loses(stream, THREAD_LOCAL, "hipFree", 900):
        hip.code("hipFree", None)
    with pytest.raises(CaptureError), capture(stream):
        hip.code("hipFree", None)
    told = tell()
    text = ctypes.string_at(told)
    with pytest.raises(CaptureError), capture(stream):
        hip.code("hipDeviceSynchronize")
    assert ctypes.string_at(told) == text
    with pytest.raises(CaptureError), capture(stream):
        hip.code("hipFree", None)
    assert tell() == told


def test_nothing_is_told_in_a_thread_that_ended_no_capture(stream: Stream) -> None:
    with pytest.raises(CaptureError), capture(stream):
        call_failing()
    assert capture_refusal() == {"call": "hipFree", "code": 900, "other_thread": False}
    assert hip.in_thread(lambda: [capture_refusal()]) == [None]


def call_failing() -> None:
    with contextlib.suppress(HipError):
        call("hipFree", 0)
