"""Graph execs: launches in stream order, never two at once, nothing freed too early."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from hipgraph_shmem.errors import CaptureError, GraphError, HipError
from hipgraph_shmem.graph import Graph, GraphExec, capture
from hipgraph_shmem.graph.retired import drain_retired
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import call, pointer, state
from hipgraph_shmem.stream import Stream


def fill_exec(buffer: Buffer, value: int) -> GraphExec:
    with Graph() as graph:
        graph.add_memset(buffer, value, buffer.nbytes)
        return graph.instantiate()


def test_launches_are_in_stream_order(stream: Stream) -> None:
    with Buffer(64) as buffer, fill_exec(buffer, 7) as graph_exec:
        for before, after in ((1, None), (2, 3)):
            buffer.fill(before, stream)
            graph_exec.launch(stream)
            if after is not None:
                buffer.fill(after, stream)
            assert set(buffer.to_numpy(stream)) == {after or 7}


def test_a_raw_handle_is_a_stream(stream: Stream) -> None:
    with Buffer(64) as buffer, fill_exec(buffer, 7) as graph_exec:
        graph_exec.upload(stream.handle)
        graph_exec.launch(stream.handle)
        graph_exec.synchronize()
        assert set(buffer.to_numpy(stream)) == {7}


def test_launches_on_two_streams_are_ordered(stream: Stream) -> None:
    """Each replay reads what the one before wrote; an overlap would lose steps."""
    size = 1 << 20
    with (
        Stream() as other,
        Graph() as graph,
        Buffer(size) as one,
        Buffer(size) as two,
        Buffer(size) as seed,
    ):
        seed.fill(3, stream)
        one.fill(0, stream)
        stream.synchronize()
        first = graph.add_memcpy(two, one)
        graph.add_memcpy(one, seed, dependencies=(first,))
        with graph.instantiate() as graph_exec:
            for index in range(20):
                graph_exec.launch((stream, other)[index % 2])
            graph_exec.synchronize()
            assert set(two.to_numpy(stream)) == {3}


def test_a_launch_waits_for_the_one_before(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    """HIP does not order launches of one exec; the emulated device does, and would hide it."""
    waits: list[tuple[int, ...]] = []
    wait = pointer("hipStreamWaitEvent")

    def noting_wait(*args: int) -> int:
        waits.append(args)
        return wait(*args)

    monkeypatch.setitem(state.pointers, "hipStreamWaitEvent", noting_wait)
    with Stream() as other, Buffer(64) as buffer, fill_exec(buffer, 7) as graph_exec:
        graph_exec.launch(stream)
        graph_exec.launch(other)
        event = graph_exec._needs.event
        assert event is not None
        assert waits == [(other.handle, event.handle, 0)]
        graph_exec.synchronize()


def test_an_exec_outlives_graph_and_references(stream: Stream) -> None:
    result = Buffer(1000, np.int32)
    with capture(stream) as captured:
        result.copy_from(np.arange(1000, dtype=np.int32), stream)
    graph_exec = captured.graph.instantiate()
    captured.graph.close()
    del captured
    gc.collect()
    result.fill(0, stream)
    graph_exec.launch(stream)
    assert np.array_equal(result.to_numpy(stream), np.arange(1000))
    graph_exec.close()
    result.close()


def test_what_an_exec_holds_goes_when_it_is_closed_and_idle(stream: Stream) -> None:
    buffer = Buffer(64)
    alive = weakref.ref(buffer)
    graph_exec = fill_exec(buffer, 1)
    del buffer
    graph_exec.launch(stream)
    assert alive() is not None
    stream.synchronize()
    graph_exec.close()
    drain_retired()
    gc.collect()
    assert alive() is None


def test_an_exec_that_was_never_launched_holds_nothing_after_close() -> None:
    buffer = Buffer(64)
    alive = weakref.ref(buffer)
    graph_exec = fill_exec(buffer, 1)
    del buffer
    graph_exec.close()
    gc.collect()
    assert alive() is None


def test_dropping_an_exec_in_flight_is_safe(stream: Stream) -> None:
    size = 1 << 22
    target = Buffer(size)
    with Graph() as graph:
        fill = graph.add_memset(Buffer(size), 9, size)
        source = next(kept for kept in graph.recording.kept if isinstance(kept, Buffer))
        graph.add_memcpy(target, source, dependencies=(fill,))
        del source
        graph_exec = graph.instantiate()
    graph_exec.launch(stream)
    del graph_exec
    gc.collect()
    assert set(target.to_numpy(stream)) == {9}
    drain_retired()
    assert not state.retired
    target.close()


def test_closed_memory_is_found_at_the_next_launch(stream: Stream) -> None:
    buffer = Buffer(64)
    with fill_exec(buffer, 1) as graph_exec:
        graph_exec.launch(stream)
        stream.synchronize()
        buffer.close()
        with pytest.raises(GraphError, match="closed"):
            graph_exec.launch(stream)


def test_memory_closed_by_its_block_is_found_at_the_next_launch(stream: Stream) -> None:
    with Buffer(64) as buffer:
        graph_exec = fill_exec(buffer, 1)
        graph_exec.launch(stream)
        stream.synchronize()
    with graph_exec, pytest.raises(GraphError, match="closed"):
        graph_exec.launch(stream)


class Unwilling:
    """An attachment without memory for an exec."""

    graph_exec = 0

    def complete(self, graph: Graph) -> None:
        """Add nothing."""

    def lend(self, graph_exec: int) -> object:
        self.graph_exec = graph_exec
        raise MemoryError


@pytest.mark.usefixtures("emulated")
def test_an_exec_that_gets_no_memory_is_destroyed(stream: Stream) -> None:
    unwilling = Unwilling()
    with Graph() as graph:
        graph.recording.attachment("unwilling", lambda: unwilling)
        with pytest.raises(MemoryError):
            graph.instantiate()
    with pytest.raises(HipError):
        call("hipGraphUpload", unwilling.graph_exec, stream.handle)


def test_a_closed_exec_is_refused(stream: Stream) -> None:
    with Buffer(64) as buffer:
        graph_exec = fill_exec(buffer, 1)
        graph_exec.close()
        graph_exec.close()
        with pytest.raises(ValueError, match="closed"):
            graph_exec.launch(stream)


def test_a_launch_into_a_capture_is_refused(stream: Stream) -> None:
    with Buffer(64) as buffer, fill_exec(buffer, 1) as graph_exec:
        buffer.fill(0, stream)
        with capture(stream) as captured, pytest.raises(CaptureError) as raised:
            graph_exec.launch(stream)
        assert raised.value.call == "hipGraphLaunch"
        assert captured.graph.nodes == ()
        assert set(buffer.to_numpy(stream)) == {0}


def test_a_closed_stream_is_refused() -> None:
    with Buffer(64) as buffer, fill_exec(buffer, 1) as graph_exec:
        stream = Stream()
        stream.close()
        with pytest.raises(ValueError, match="closed"):
            graph_exec.launch(stream)
