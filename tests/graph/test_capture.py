"""Capture: each way a block can end, and what the stream can do afterwards."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

from hipgraph_shmem.captures import capture_info
from hipgraph_shmem.errors import CaptureError, GraphError, HipError
from hipgraph_shmem.graph import CaptureMode, capture
from hipgraph_shmem.hip_abi import CaptureStatus
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import call, state
from hipgraph_shmem.stream import Event, Stream


def assert_usable(stream: Stream) -> None:
    """Run a capture to its end on the stream, and replay it."""
    assert stream.capture_status is CaptureStatus.NONE
    assert not state.open_captures
    with Buffer(64) as buffer:
        buffer.fill(0, stream)
        with capture(stream) as captured:
            buffer.fill(0x5A, stream)
        with captured.graph as graph, graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            assert set(buffer.to_numpy(stream)) == {0x5A}


def test_nothing_runs_before_the_first_launch(stream: Stream) -> None:
    with Buffer(64) as buffer:
        buffer.fill(1, stream)
        with capture(stream) as captured:
            buffer.fill(2, stream)
        assert set(buffer.to_numpy(stream)) == {1}
        with captured.graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            assert set(buffer.to_numpy(stream)) == {2}


def test_the_graph_is_there_after_the_block_only(stream: Stream) -> None:
    with capture(stream) as captured, pytest.raises(GraphError, match="OPEN"):
        _ = captured.graph
    assert captured.graph.nodes == ()


def test_an_error_in_the_block_passes_on_and_drops_the_graph(stream: Stream) -> None:
    error = KeyError("mine")
    with pytest.raises(KeyError) as raised, capture(stream) as captured:
        raise error
    assert raised.value is error
    with pytest.raises(GraphError, match="ABANDONED"):
        _ = captured.graph
    assert_usable(stream)


@pytest.mark.usefixtures("emulated")
def test_an_abandoned_graph_is_destroyed_and_holds_nothing(stream: Stream) -> None:
    with Buffer(64) as buffer:
        with pytest.raises(KeyError), capture(stream) as captured:
            buffer.fill(1, stream)
            raw = capture_info(stream.handle).graph
            raise KeyError
        assert captured.recording.kept == ()
    with pytest.raises(HipError):
        call("hipGraphGetNodes", raw, None, ctypes.byref(ctypes.c_size_t()))


def test_a_keyboard_interrupt_ends_the_capture(stream: Stream) -> None:
    with pytest.raises(KeyboardInterrupt), capture(stream):
        raise KeyboardInterrupt
    assert_usable(stream)


def test_a_capture_that_hip_lost_is_explained(stream: Stream) -> None:
    with Buffer(64) as buffer:
        with pytest.raises(CaptureError) as raised, capture(stream) as captured:
            buffer.fill(1, stream)
            with pytest.raises(HipError):
                call("hipStreamSynchronize", stream.handle)
        assert captured.recording.kept == ()
    assert isinstance(raised.value.__cause__, HipError)
    assert raised.value.__cause__.code == 901
    assert_usable(stream)


def test_a_lost_capture_is_chained_to_the_error_of_the_block(stream: Stream) -> None:
    with pytest.raises(ZeroDivisionError) as raised, capture(stream):
        with pytest.raises(HipError):
            call("hipStreamSynchronize", stream.handle)
        raise ZeroDivisionError
    assert isinstance(raised.value.__context__, CaptureError)
    assert_usable(stream)


def test_an_unjoined_branch_is_explained(stream: Stream) -> None:
    with Stream() as branch, Event() as event, Buffer(64) as buffer:
        with pytest.raises(GraphError, match="wait") as raised, capture(stream):
            stream.record(event)
            branch.wait(event)
            buffer.fill(1, branch)
        assert isinstance(raised.value.__cause__, HipError)
        assert raised.value.__cause__.code == 904
        assert_usable(branch)
    assert_usable(stream)


def test_fork_and_join_are_edges(stream: Stream) -> None:
    with Stream() as branch, Event() as fork, Event() as join, Buffer(64) as buffer:
        with capture(stream) as captured:
            buffer.fill(1, stream)
            stream.record(fork)
            branch.wait(fork)
            buffer.fill(2, branch)
            branch.record(join)
            stream.wait(join)
            buffer.fill(3, stream)
        graph = captured.graph
        values = [(before.value, after.value) for before, after in graph.edges]
        assert sorted(values) == [(1, 2), (2, 3)] or sorted(values) == [(1, 2), (1, 3), (2, 3)]
        fork.close()
        join.close()
        with graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            assert set(buffer.to_numpy(stream)) == {3}


def test_the_null_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="stream=0"), capture(0):
        pass


def test_a_closed_stream_is_refused() -> None:
    stream = Stream()
    stream.close()
    with pytest.raises(ValueError, match="closed"), capture(stream):
        pass
    assert not state.open_captures


def test_a_wrong_mode_lists_the_right_ones(stream: Stream) -> None:
    with pytest.raises(TypeError, match=r"CaptureMode\.RELAXED"), capture(stream, "relaxed"):
        pass
    assert_usable(stream)


def test_a_second_capture_of_the_stream_is_refused(stream: Stream) -> None:
    with capture(stream) as outer, pytest.raises(CaptureError), capture(stream):
        pass
    assert outer.graph.nodes == ()


@pytest.mark.parametrize("mode", list(CaptureMode))
def test_two_streams_capture_at_once(stream: Stream, mode: CaptureMode) -> None:
    with Stream() as other, Buffer(64) as buffer:
        with capture(stream, mode) as one, capture(other, mode) as two:
            buffer.fill(1, stream)
            buffer.fill(2, other)
        assert [node.value for node in one.graph.nodes] == [1]
        assert [node.value for node in two.graph.nodes] == [2]


def test_a_host_array_is_kept_as_it_was(stream: Stream) -> None:
    with Buffer(1000, np.int32) as buffer:
        source = np.arange(1000, dtype=np.int32)
        with capture(stream) as captured:
            buffer.copy_from(source, stream)
        source[:] = -1
        del source
        gc.collect()
        with captured.graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            assert np.array_equal(buffer.to_numpy(stream), np.arange(1000))


def test_what_is_dropped_in_a_block_is_cleaned_up_after_it(stream: Stream) -> None:
    dropped = Buffer(1 << 20)
    with Buffer(64) as kept:
        with capture(stream, CaptureMode.GLOBAL) as captured:
            kept.fill(1, stream)
            del dropped
            gc.collect()
            assert stream.capture_status is CaptureStatus.ACTIVE
            kept.fill(2, stream)
        assert not state.postponed
        assert len(captured.graph.nodes) == 2


@pytest.mark.parametrize("error", [KeyError, CaptureError], ids=["by an error", "lost"])
def test_what_is_dropped_in_a_block_that_fails_is_cleaned_up_too(
    stream: Stream, error: type[Exception]
) -> None:
    dropped = Buffer(64)
    with pytest.raises(error), capture(stream):
        del dropped
        gc.collect()
        assert len(state.postponed) == 1
        with pytest.raises(HipError):
            call("hipStreamSynchronize", stream.handle)
        if error is KeyError:
            raise error
    assert not state.postponed
