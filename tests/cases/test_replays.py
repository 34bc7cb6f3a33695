"""What a replay reads, and what a failed capture leaves, as users met it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.kernels import compile_hip

from hipgraph_shmem.errors import CaptureError
from hipgraph_shmem.graph import CaptureMode, capture
from hipgraph_shmem.hip_abi import CaptureStatus
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.module import Module
from hipgraph_shmem.runtime import pointer
from hipgraph_shmem.stream import Stream

ONE = LaunchConfig((1, 1, 1))
SOURCE = """
extern "C" __global__ void store(int value, int* out) { *out = value; }
extern "C" __global__ void copy(int* position, int* out) { *out = *position; }
"""


@pytest.fixture
def module(device: Any) -> Any:
    with Module(compile_hip(SOURCE, device.target.split(":")[0])) as made:
        yield made


def test_c005_a_temporary_source_is_safe(stream: Stream) -> None:
    """The expression's array is gone before the first replay; its bytes are not."""
    with Buffer(1000, np.int32) as buffer:
        with capture(stream) as captured:
            buffer.copy_from(np.arange(1000, dtype=np.int32) * 3, stream)
        with captured.graph as graph, graph.instantiate() as graph_exec:
            for _ in range(2):
                np.arange(1000, dtype=np.int32)  # takes the freed memory, if it was freed
                buffer.fill(0, stream)
                graph_exec.launch(stream)
                assert np.array_equal(buffer.to_numpy(stream), np.arange(1000) * 3)


def test_c009_a_lost_capture_leaves_the_stream_usable(stream: Stream) -> None:
    with Buffer(64) as buffer:
        with pytest.raises(ZeroDivisionError), capture(stream, CaptureMode.RELAXED):
            buffer.fill(1, stream)
            raise ZeroDivisionError
        assert stream.capture_status is CaptureStatus.NONE
        with pytest.raises(CaptureError), capture(stream):
            assert pointer("hipStreamSynchronize")(stream.handle) != 0
        assert stream.capture_status is CaptureStatus.NONE
        with capture(stream) as captured:
            buffer.fill(7, stream)
        with captured.graph as graph, graph.instantiate() as graph_exec:
            graph_exec.launch(stream)
            assert set(buffer.to_numpy(stream)) == {7}


def test_c017_each_node_keeps_its_own_arguments(stream: Stream, module: Module) -> None:
    store = module.kernel("store")
    with Buffer(1, np.int32) as first, Buffer(1, np.int32) as second, Stream() as other:
        with capture(stream) as captured:
            launch(stream, store, ONE, 123, first)
            launch(stream, store, ONE, 321, second)
        with capture(stream) as reverse:
            launch(stream, store, ONE, 5, second)
        with captured.graph.instantiate() as both, reverse.graph.instantiate() as one:
            both.launch(stream)
            assert (first.to_numpy(stream)[0], second.to_numpy(stream)[0]) == (123, 321)
            one.launch(other)
            assert (first.to_numpy(other)[0], second.to_numpy(other)[0]) == (123, 5)
            both.launch(stream)
            assert (first.to_numpy(stream)[0], second.to_numpy(stream)[0]) == (123, 321)
        captured.graph.close()
        reverse.graph.close()


def test_c018_contents_are_live_and_scalars_are_frozen(stream: Stream, module: Module) -> None:
    """256 nodes read a position that is rewritten before each replay; one has it by value."""
    n_nodes = 256
    copy, store = module.kernel("copy"), module.kernel("store")
    with Buffer(1, np.int32) as position, Buffer(n_nodes + 1, np.int32) as slots:
        with capture(stream) as captured:
            for node in range(n_nodes):
                launch(stream, copy, ONE, position, slots.address + 4 * node)
            launch(stream, store, ONE, -1, slots.address + 4 * n_nodes)
        with captured.graph as graph, graph.instantiate() as graph_exec:
            for turn in range(5):
                position.copy_from(np.array([turn], np.int32), stream)
                graph_exec.launch(stream)
                seen = slots.to_numpy(stream)
                assert set(seen[:n_nodes]) == {turn}
                assert seen[n_nodes] == -1
