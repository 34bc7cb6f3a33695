"""Nodes as HIP tells them, against what was asked for."""

from __future__ import annotations

import numpy as np

from hipgraph_shmem.graph import (
    Graph,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    Node,
    NodeKind,
    capture,
)
from hipgraph_shmem.hip_abi import MemcpyKind
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.runtime import call
from hipgraph_shmem.splitk.kernels import kernel
from hipgraph_shmem.stream import Stream


def test_a_recorded_kernel(stream: Stream) -> None:
    reduce = kernel(0, "splitk_reduce_m32")
    with capture(stream) as captured:
        config = LaunchConfig(grid=(3, 4, 2), block=(256, 1, 1))
        launch(stream, reduce, config, 0, 0, 0, 1, 1, 1, 1, 0, 0)
    (node,) = captured.graph.nodes
    assert isinstance(node, KernelNode)
    assert (node.name, node.function) == ("splitk_reduce_m32", reduce.handle)
    assert (node.grid, node.block, node.lds_bytes) == ((3, 4, 2), (256, 1, 1), 0)


def test_a_recorded_fill_of_rows(stream: Stream) -> None:
    with Buffer((8, 64)) as buffer:
        with capture(stream) as captured:
            call("hipMemset2DAsync", buffer.address, 64, 7, 40, 8, stream.handle)
        (node,) = captured.graph.nodes
        assert isinstance(node, MemsetNode)
        assert (node.address, node.value, node.element_size) == (buffer.address, 7, 1)
        assert (node.width, node.height, node.pitch, node.nbytes) == (40, 8, 64, 320)


def test_recorded_copies_tell_their_direction(stream: Stream) -> None:
    with Buffer(64) as one, Buffer(64) as two, PinnedBuffer(64) as host:
        with capture(stream) as captured:
            one.copy_from(host, stream)
            two.copy_from(one, stream)
            two.copy_to(host, stream)
        nodes = captured.graph.nodes
        assert all(isinstance(node, MemcpyNode) for node in nodes)
        facts = [(node.destination, node.source, node.nbytes) for node in nodes]
        assert facts == [
            (one.address, host.address, 64),
            (two.address, one.address, 64),
            (host.address, two.address, 64),
        ]
        assert [node.direction for node in nodes] == [
            MemcpyKind.HOST_TO_DEVICE,
            MemcpyKind.DEVICE_TO_DEVICE,
            MemcpyKind.DEVICE_TO_HOST,
        ]


def test_a_host_array_is_read_from_memory_of_the_graph(stream: Stream) -> None:
    with Buffer(64) as buffer:
        source = np.zeros(64, np.uint8)
        with capture(stream) as captured:
            buffer.copy_from(source, stream)
        (node,) = captured.graph.nodes
        assert isinstance(node, MemcpyNode)
        assert node.source != source.ctypes.data


def test_nodes_are_the_same_in_every_listing(stream: Stream) -> None:
    with Buffer(64) as buffer:
        with capture(stream) as captured:
            buffer.fill(1, stream)
            buffer.fill(2, stream)
        graph = captured.graph
        assert graph.nodes == graph.nodes
        assert graph.edges == ((graph.nodes[0], graph.nodes[1]),)
        assert len({hash(node) for node in graph.nodes}) == 2


def test_a_node_of_another_kind_is_listed_by_its_kind(stream: Stream) -> None:
    with Graph() as graph:
        graph.add_empty()
        (node,) = graph.nodes
        assert type(node) is Node
        assert node.kind is NodeKind.EMPTY
