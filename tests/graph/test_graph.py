"""Graphs built by hand: nodes and edges as HIP lists them, and what a replay does."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from hipgraph_shmem.errors import GraphError, HipError
from hipgraph_shmem.graph import Graph, MemcpyNode, MemsetNode, NodeKind
from hipgraph_shmem.launch import LaunchConfig
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.splitk.kernels import kernel
from hipgraph_shmem.stream import Stream


def test_an_empty_graph_runs(stream: Stream) -> None:
    with Graph() as graph, graph.instantiate() as graph_exec:
        assert (graph.nodes, graph.edges) == ((), ())
        graph_exec.launch(stream)
        stream.synchronize()


def test_a_node_is_what_hip_says_it_is(stream: Stream) -> None:
    with Graph() as graph, Buffer(256) as buffer, Buffer(256) as copy:
        fill = graph.add_memset(buffer, 7, 64, width=4)
        copied = graph.add_memcpy(copy, buffer, dependencies=(fill,))
        empty = graph.add_empty(dependencies=(copied,))
        assert graph.nodes == (fill, copied, empty)
        assert graph.edges == ((fill, copied), (copied, empty))
        assert isinstance(fill, MemsetNode)
        assert isinstance(copied, MemcpyNode)
        assert (fill.nbytes, copied.nbytes, empty.kind) == (256, 256, NodeKind.EMPTY)


def test_order_follows_the_edges(stream: Stream) -> None:
    with Graph() as graph, Buffer(64) as buffer:
        late = graph.add_memset(buffer, 2, 64)
        early = graph.add_memset(buffer, 1, 64)
        graph.add_dependencies((early,), (late,))
        assert graph.edges == ((early, late),)
        with graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            assert set(buffer.to_numpy(stream)) == {2}


@pytest.mark.parametrize("width", [1, 2, 4])
def test_fill_of_each_width(stream: Stream, width: int) -> None:
    value = 0x04030201 & ((1 << 8 * width) - 1)
    with Graph() as graph, Buffer(64) as buffer:
        graph.add_memset(buffer, value, 64 // width, width=width)
        with graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            expected = np.full(64 // width, value, f"u{width}").view(np.uint8)
            assert np.array_equal(buffer.to_numpy(stream), expected)


def test_fill_of_rows_leaves_the_gaps(stream: Stream) -> None:
    with Graph() as graph, Buffer((4, 32)) as buffer:
        buffer.fill(0xEE, stream)
        graph.add_memset(buffer, 5, 20, rows=4, pitch=32)
        with graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            result = buffer.to_numpy(stream)
    expected = np.full((4, 32), 0xEE, np.uint8)
    expected[:, :20] = 5
    assert np.array_equal(result, expected)


def test_copies_between_host_and_device(stream: Stream) -> None:
    with (
        Graph() as graph,
        PinnedBuffer(100, np.float32) as source,
        Buffer(100, np.float32) as middle,
        PinnedBuffer(100, np.float32) as target,
    ):
        upload = graph.add_memcpy(middle, source)
        graph.add_memcpy(target, middle, dependencies=(upload,))
        with graph.instantiate() as graph_exec:
            for first in (0.0, 1000.0):
                source.array[:] = np.arange(100) + first
                graph_exec.launch(stream)
                stream.synchronize()
                assert np.array_equal(target.array, np.arange(100) + first)


def test_what_a_node_names_lives_as_long_as_the_graph(stream: Stream) -> None:
    graph = Graph()
    target = Buffer(64)
    fill = graph.add_memset(Buffer(64), 9, 64)
    source = next(kept for kept in graph.recording.kept if isinstance(kept, Buffer))
    graph.add_memcpy(target, source, dependencies=(fill,))
    del source
    gc.collect()
    with graph.instantiate() as graph_exec:
        graph.close()
        gc.collect()
        graph_exec.launch(stream)
        assert set(target.to_numpy(stream)) == {9}
    target.close()


def test_each_node_keeps_what_it_names(stream: Stream) -> None:
    with Graph() as graph:
        filled, source, target, argument = (Buffer(64) for _ in range(4))
        graph.add_memset(filled, 9, 64)
        graph.add_memcpy(target, source)
        reduce = kernel(0, "splitk_reduce_m32")
        graph.add_kernel(reduce, LaunchConfig((1, 1, 1)), argument, 0, 0, 1, 1, 1, 1, 0, 0)
        named = [weakref.ref(each) for each in (filled, source, target, argument)]
        del filled, source, target, argument
        gc.collect()
        assert all(each() is not None for each in named)
        assert reduce in graph.recording.kept
    gc.collect()
    assert not any(each() is not None for each in named)


def test_closed_memory_is_found_before_instantiating(stream: Stream) -> None:
    with Graph() as graph:
        buffer = Buffer(64)
        graph.add_memset(buffer, 1, 64)
        buffer.close()
        with pytest.raises(GraphError, match="closed"):
            graph.instantiate()


def test_a_closed_graph_is_refused() -> None:
    graph = Graph()
    graph.close()
    graph.close()
    with pytest.raises(ValueError, match="closed"):
        graph.add_empty()


@pytest.mark.parametrize("leave", [Graph.close, Graph.__exit__], ids=["close", "block"])
def test_a_closed_graph_holds_nothing(leave: Callable[[Graph], None]) -> None:
    graph = Graph()
    buffer = Buffer(64)
    alive = weakref.ref(buffer)
    graph.add_memset(buffer, 1, 64)
    del buffer
    leave(graph)
    gc.collect()
    assert alive() is None


def test_a_copy_that_does_not_fit_is_refused(stream: Stream) -> None:
    with Graph() as graph, Buffer(64) as large, Buffer(63) as small:
        with pytest.raises(ValueError, match=r"^source="):
            graph.add_memcpy(small, large)
        assert graph.nodes == ()


def test_a_node_of_another_graph_is_refused(stream: Stream) -> None:
    with Graph() as graph, Graph() as other, Buffer(64) as buffer:
        foreign = other.add_memset(buffer, 1, 64)
        with pytest.raises(HipError) as raised:
            graph.add_memset(buffer, 2, 64, dependencies=(foreign,))
        assert raised.value.code == 1


def test_a_cycle_is_refused(stream: Stream) -> None:
    with Graph() as graph:
        one = graph.add_empty()
        two = graph.add_empty(dependencies=(one,))
        graph.add_dependencies((two,), (one,))
        with pytest.raises(HipError) as raised:
            graph.instantiate()
        assert raised.value.code == 1


def test_pairs_of_different_length_are_refused() -> None:
    with Graph() as graph:
        node = graph.add_empty()
        with pytest.raises(ValueError, match="pairs"):
            graph.add_dependencies((node,), ())
