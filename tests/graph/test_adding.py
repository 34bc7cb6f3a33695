"""Nodes of every kind: what HIP lists is what was added, and a replay does it."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from helpers.checks import ONE

from hipgraph_shmem.array_view import ArrayView
from hipgraph_shmem.errors import GraphError, HipError
from hipgraph_shmem.graph import (
    AllocNode,
    ChildGraphNode,
    EventNode,
    FreeNode,
    Graph,
    HostNode,
    MemcpyNode,
    NodeKind,
    capture,
)
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.module import Module
from hipgraph_shmem.runtime import call, state
from hipgraph_shmem.stream import Event, Stream


def replay(graph: Graph, stream: Stream, times: int = 1) -> None:
    with graph.instantiate() as graph_exec:
        for _ in range(times):
            graph_exec.launch(stream)
        graph_exec.synchronize()


def test_every_kind_is_listed_as_it_was_added(device: Any) -> None:
    with Graph() as graph, Graph() as child, Buffer(64) as buffer, Event() as event:
        child.add_memset(buffer, 1, 64)
        nodes = [
            graph.add_host(lambda: None),
            graph.add_event_record(event),
            graph.add_event_wait(event),
            graph.add_child(child),
        ]
        alloc = graph.add_alloc(1 << 12)
        nodes += [alloc, graph.add_free(alloc, dependencies=(alloc,))]
        assert set(graph.nodes) == set(nodes)
        kinds = HostNode, EventNode, EventNode, ChildGraphNode, AllocNode, FreeNode
        assert tuple(map(type, nodes)) == kinds
        assert [node.kind for node in nodes] == [
            NodeKind.HOST,
            NodeKind.EVENT_RECORD,
            NodeKind.WAIT_EVENT,
            NodeKind.GRAPH,
            NodeKind.MEM_ALLOC,
            NodeKind.MEM_FREE,
        ]


def test_a_host_array_is_copied_now_or_read_at_each_replay(stream: Stream) -> None:
    data = np.arange(16, dtype=np.int32)
    with Graph() as graph, Buffer(16, np.int32) as fixed, Buffer(16, np.int32) as live:
        graph.add_memcpy(fixed, data)
        graph.add_memcpy(live, data, live=True)
        with graph.instantiate() as graph_exec:
            for step in (0, 100):
                data[:] = np.arange(16) + step
                graph_exec.launch(stream)
                assert np.array_equal(fixed.to_numpy(stream), np.arange(16))
                assert np.array_equal(live.to_numpy(stream), np.arange(16) + step)


def test_a_temporary_is_a_source(stream: Stream) -> None:
    with Graph() as graph, Buffer(8) as buffer:
        graph.add_memcpy(buffer, bytes(range(8)), live=True)
        gc.collect()
        replay(graph, stream)
        assert list(buffer.to_numpy(stream)) == list(range(8))


def test_a_host_array_is_a_destination(stream: Stream) -> None:
    target = np.zeros(8, np.uint8)
    with Graph() as graph, Buffer(8) as buffer:
        fill = graph.add_memset(buffer, 5, 8)
        graph.add_memcpy(target, buffer, dependencies=(fill,))
        replay(graph, stream)
    assert set(target) == {5}


def test_a_symbol_is_device_memory(stream: Stream, module: Module) -> None:
    symbol = module.symbol("state")
    with Graph() as graph, Buffer(symbol.nbytes) as back:
        node = graph.add_memcpy(symbol, bytes(range(symbol.nbytes)))
        out = graph.add_memcpy(back, symbol, dependencies=(node,))
        assert out.direction.name == "DEVICE_TO_DEVICE"
        replay(graph, stream)
        assert list(back.to_numpy(stream)) == list(range(symbol.nbytes))


@pytest.mark.parametrize(
    ("destination", "source", "problem"),
    [
        (np.zeros(4, np.uint8), np.zeros(8, np.uint8), "do not fit"),
        (np.zeros((4, 4))[:, 1], np.zeros(2), "destination is not C-contiguous"),
        (np.zeros(4), np.zeros((4, 4))[:, 1], "source is not C-contiguous"),
        (bytes(4), bytes(4), "read-only"),
        (np.zeros(4), np.zeros(0), "copies 0 bytes"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    device: Any, destination: Any, source: Any, problem: str
) -> None:
    with Graph() as graph:
        with pytest.raises(ValueError, match=problem):
            graph.add_memcpy(destination, source)
        assert graph.nodes == ()


def test_a_host_function_is_called_at_each_replay_in_order(stream: Stream) -> None:
    seen: list[int] = []
    with Graph() as graph, PinnedBuffer(1, np.int32) as word, Buffer(1, np.int32) as source:
        fill = graph.add_memset(source, 7, 1, width=4)
        copy = graph.add_memcpy(word, source, dependencies=(fill,))
        host = graph.add_host(lambda: seen.append(int(word.array[0])), dependencies=(copy,))
        graph.add_memset(source, 0, 1, width=4, dependencies=(host,))
        replay(graph, stream, times=5)
    assert seen == [7] * 5


def test_a_host_function_lives_as_long_as_graph_and_exec(stream: Stream) -> None:
    class Call:
        count = 0

        def __call__(self) -> None:
            Call.count += 1

    function = Call()
    alive = weakref.ref(function)
    graph = Graph()
    graph.add_host(function)
    graph_exec = graph.instantiate()
    del function
    graph.close()
    gc.collect()
    for _ in range(6):
        graph_exec.launch(stream)
    graph_exec.synchronize()
    assert Call.count == 6
    graph_exec.close()
    gc.collect()
    assert alive() is None


def test_what_a_host_function_raises_comes_at_the_next_wait(stream: Stream) -> None:
    with Graph() as graph, Buffer(4) as buffer:
        host = graph.add_host(lambda: 1 / 0)
        graph.add_memset(buffer, 3, 4, dependencies=(host,))
        with graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            with pytest.raises(ZeroDivisionError):
                graph_exec.synchronize()
            stream.synchronize()
            assert set(buffer.to_numpy(stream)) == {3}  # the replay went on


def test_events_of_a_graph_order_streams(stream: Stream) -> None:
    """A stream waits for the middle of a replay; the replay waits for another stream's event."""
    with (
        Stream() as other,
        Graph() as graph,
        Event() as middle,
        Event() as gate,
        Buffer(64) as first,
        Buffer(64) as second,
    ):
        fill = graph.add_memset(first, 1, 64)
        record = graph.add_event_record(middle, dependencies=(fill,))
        wait = graph.add_event_wait(gate, dependencies=(record,))
        graph.add_memcpy(second, first, dependencies=(wait,))
        with graph.instantiate() as graph_exec:
            second.fill(0, other)
            gate.record(other)
            graph_exec.launch(stream)
            other.wait(middle)
            assert set(first.to_numpy(other)) == {1}
            assert set(second.to_numpy(stream)) == {1}


def test_a_child_graph_is_a_copy_of_when_it_was_added(stream: Stream) -> None:
    with Graph() as graph, Graph() as child, Buffer(64) as buffer:
        fill = child.add_memset(buffer, 1, 64)
        node = graph.add_child(child)
        child.set_memset(fill, buffer, 2, 64)
        assert node.graph != child.handle
        replay(graph, stream)
        assert set(buffer.to_numpy(stream)) == {1}
        child.close()
        replay(graph, stream)


def test_a_child_keeps_what_its_nodes_name(stream: Stream) -> None:
    target = Buffer(64)
    graph = Graph()
    with Graph() as child:
        source = Buffer(64)
        fill = child.add_memset(source, 9, 64)
        child.add_memcpy(target, source, dependencies=(fill,))
        graph.add_child(child)
        alive = weakref.ref(source)
        del source
    gc.collect()
    assert alive() is not None
    replay(graph, stream)
    assert set(target.to_numpy(stream)) == {9}
    graph.close()
    gc.collect()
    assert alive() is None
    target.close()


def test_memory_of_a_graph(stream: Stream, module: Module) -> None:
    """Allocated, filled, added to a result and freed in each replay."""
    with Graph() as graph, Buffer(64, np.int32) as result:
        memory = graph.add_alloc(256)
        view = ArrayView(memory.address, (64,), np.dtype(np.int32), None, 0, None)
        fill = graph.add_memset(memory.address, 6, 64, width=4, dependencies=(memory,))
        copy = graph.add_memcpy(result, view, dependencies=(fill,))
        graph.add_free(memory, dependencies=(copy,))
        with graph.instantiate() as graph_exec:
            for _ in range(3):
                result.fill(0, stream)
                graph_exec.launch(stream)
                assert set(result.to_numpy(stream)) == {6}
            with pytest.raises(GraphError, match="instantiated before"):
                graph.instantiate()
        with pytest.raises(GraphError, match="clones no such graph"):
            graph.clone()
        with pytest.raises(GraphError, match="removes no MEM_ALLOC"):
            graph.remove(memory)


def test_memory_that_nobody_frees(stream: Stream) -> None:
    for auto_free in (False, True):
        with Graph() as graph:
            graph.add_alloc(256)
            with graph.instantiate(auto_free=auto_free) as graph_exec:
                graph_exec.launch(stream)
                if auto_free:
                    graph_exec.launch(stream)
                else:
                    with pytest.raises(HipError):
                        graph_exec.launch(stream)
                stream.synchronize()


def test_removed_nodes_and_edges_order_nothing(stream: Stream, buffers: Any) -> None:
    with Graph() as graph:
        first, second, third = (graph.add_memset(each, 1, 256) for each in buffers)
        graph.add_dependencies([first, second], [second, third])
        graph.remove_dependencies([first], [second])
        assert graph.edges == ((second, third),)
        kept = weakref.ref(buffers[1])
        assert kept() in graph.recording.kept
        graph.remove(second)
        assert graph.edges == ()
        assert set(graph.nodes) == {first, third}
        assert kept() not in graph.recording.kept


def test_a_failed_add_keeps_nothing(device: Any) -> None:
    with Graph() as graph, Graph() as other, Buffer(64) as buffer:
        foreign = other.add_empty()
        for add in (
            lambda: graph.add_memset(buffer, 0, 64, dependencies=(foreign,)),
            lambda: graph.add_memcpy(buffer, bytes(64), dependencies=(foreign,)),
            lambda: graph.add_host(print, dependencies=(foreign,)),
            lambda: graph.add_child(other, dependencies=(foreign,)),
        ):
            with pytest.raises(HipError):
                add()
        assert graph.recording.kept == ()
        assert graph.nodes == ()


def test_a_captured_host_function(stream: Stream) -> None:
    seen: list[str] = []
    with capture(stream) as captured:
        stream.launch_host(lambda: seen.append(threading.current_thread().name))
    assert seen == []
    replay(captured.graph, stream, times=5)
    assert len(seen) == 5
    assert threading.main_thread().name not in seen


def test_an_eager_host_function_is_called_once_and_forgotten(stream: Stream) -> None:
    class Call:
        count = 0

        def __call__(self) -> None:
            Call.count += 1

    function = Call()
    alive = weakref.ref(function)
    stream.launch_host(function)
    del function
    stream.synchronize()
    gc.collect()
    assert (Call.count, alive()) == (1, None)
    with pytest.raises(TypeError, match="function=3"):
        stream.launch_host(3)


def test_kernel_of_one(stream: Stream, module: Module, buffers: Any) -> None:
    with Graph() as graph:
        fill = graph.add_memset(buffers[0], 4, 256)
        kernel = module.kernel("copy")
        graph.add_kernel(kernel, ONE, buffers[0], buffers[1], dependencies=(fill,))
        replay(graph, stream)
        assert set(buffers[1].to_numpy(stream)[:4]) == {4}  # one float


def test_copies_are_read_back(device: Any) -> None:
    with Graph() as graph, Buffer(64) as one, PinnedBuffer(64) as two:
        node = graph.add_memcpy(two, one)
        assert isinstance(node, MemcpyNode)
        assert graph.nodes == (node,)
        assert call("hipGraphNodeGetType", node.handle) == NodeKind.MEMCPY
    assert not state.open_captures


def test_closed_memory_of_a_child_is_refused(stream: Stream) -> None:
    with Graph() as graph, Graph() as child:
        buffer = Buffer(64)
        child.add_memset(buffer, 1, 64)
        graph.add_child(child)
        with graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            stream.synchronize()
            buffer.close()
            with pytest.raises(GraphError, match="closed"):
                graph_exec.launch(stream)
            with pytest.raises(GraphError, match="closed"):
                graph.instantiate()
