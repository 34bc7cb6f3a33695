"""DOT text says what each node does, and marks the zero-fill of counters."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from hipgraph_shmem.graph import Graph, KernelNode, capture
from hipgraph_shmem.graph.dot import _escape, describe
from hipgraph_shmem.launch import LaunchConfig
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.module import Module
from hipgraph_shmem.splitk import Gemm
from hipgraph_shmem.stream import Event, Stream


def test_nodes_edges_bytes_and_addresses() -> None:
    with Buffer(64) as buffer, PinnedBuffer(64, np.uint8) as host, Graph() as graph:
        fill = graph.add_memset(buffer, 7, 64)
        copy = graph.add_memcpy(host, buffer, dependencies=(fill,))
        graph.add_empty(dependencies=(fill, copy))
        text = graph.to_dot()
        labels = dict(re.findall(r'^  (n\d) \[label="([^"]*)"', text, re.M))
        edges = re.findall(r"^  (n\d) -> (n\d)$", text, re.M)
        names = {label.split(" ")[0]: name for name, label in labels.items()}
        assert labels[names["memset"]] == f"memset 64 bytes to 0x7\\nat {buffer.address:#x}"
        assert labels[names["memcpy"]] == (
            f"memcpy 64 bytes device_to_host\\n{buffer.address:#x} to {host.address:#x}"
        )
        chain = (names["memset"], names["memcpy"], names["empty"])
        assert sorted(edges) == sorted([chain[:2], chain[1:], chain[::2]])
        assert text.startswith("digraph {\n") and text.endswith("}\n")


def test_the_zero_fill_of_counters_is_marked_and_no_other(stream: Stream) -> None:
    gemm = Gemm(64, 256, 512, split_k=2)
    a, b = Buffer((64, 512), "bfloat16"), Buffer((256, 512), "bfloat16")
    out = Buffer((64, 256), "float32")
    with capture(stream) as captured:
        out.fill(0, stream)
        gemm(stream, a, b, out)
    with captured.graph as graph:
        lines = graph.to_dot().splitlines()
    (marked,) = (line for line in lines if "zero-fill of counters" in line)
    (kernel,) = (line for line in lines if "kernel splitk_gemm_bf16_m64" in line)
    assert sum("memset" in line for line in lines) == 2
    assert 'fillcolor="orange"' in marked
    assert "grid 4x1x2 block 256x1x1" in kernel
    first, second = (line.split()[0] for line in (marked, kernel))
    assert f"  {first} -> {second}" in lines


def test_every_kind_of_node_says_what_it_does(device: Any) -> None:
    with Graph() as graph, Graph() as child, Event() as event, Buffer(64) as buffer:
        fill = child.add_memset(buffer, 1, 64)
        child.add_empty(dependencies=(fill,))
        memory = graph.add_alloc(4096)
        nodes = [
            graph.add_event_record(event),
            graph.add_event_wait(event),
            graph.add_host(lambda: None),
            memory,
            graph.add_free(memory, dependencies=(memory,)),
            graph.add_child(child),
        ]
        text = graph.to_dot()
        labels = dict(re.findall(r'^ +(n\w+) \[label="([^"]*)"', text, re.M))
        at = {node.handle: f"n{index}" for index, node in enumerate(graph.nodes)}
        assert [labels[at[node.handle]].split("\\n")[0] for node in nodes] == [
            f"event record {event.handle:#x}",
            f"wait event {event.handle:#x}",
            f"host function {nodes[2].function:#x}",
            "allocate 4096 bytes",
            "free",
            "graph",
        ]
        inner = at[nodes[-1].handle]
        assert f"subgraph cluster_{inner} {{" in text
        assert labels[f"{inner}_0"].startswith("memset 64 bytes to 0x1")
        assert f"    {inner}_0 -> {inner}_1\n" in text


def test_kernels_are_drawn_apart_with_their_lds_and_whatever_their_name(
    module: Module, buffers: tuple[Buffer, ...]
) -> None:
    with Graph() as graph:
        graph.add_memset(buffers[0], 0, 4)
        config = LaunchConfig((2, 1, 1), (64, 1, 1), lds_bytes=512)
        graph.add_kernel(module.kernel("copy"), config, buffers[0], buffers[1])
        (_, kernel) = graph.nodes
        text = graph.to_dot()
    assert isinstance(kernel, KernelNode)
    assert "kernel copy\\ngrid 2x1x1 block 64x1x1\\ndynamic LDS 512 bytes" in text
    colors = re.findall(r'fillcolor="(\w+)"', text)
    assert colors == ["white", "lightblue"]
    unknown = replace(kernel, name="", function=0xABC)
    assert describe(unknown)[0] == "kernel function 0xabc"
    assert _escape('operator"" \\_x') == r"operator\"\" \\_x"
