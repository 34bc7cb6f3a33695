"""hipGraphDebugDotPrint (api/graph_dot.cpp, runtime/graph_dot.cpp)."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import Calls, Launch, add, copy, empty, fill_node, ref

INVALID, CANNOT_OPEN = 1, 304
STALE = 0x7_0000_0000
VERBOSE, KERNEL, HANDLES = 1, 4, 1 << 10

NODE = re.compile(r'^"(graph_\d+_node_\d+)" \[style="solid" shape="rectangle" label="(.*)"\];$')
EDGE = re.compile(r'^"(graph_\d+_node_\d+)" -> "(graph_\d+_node_\d+)";$')


def draw(graph: int, path: Path, flags: int = 0) -> list[str]:
    hip.ok("hipGraphDebugDotPrint", graph, str(path).encode(), flags)
    return path.read_text().splitlines()


def parse(lines: list[str]) -> tuple[dict[str, str], set[tuple[str, str]], int]:
    """Nodes with labels, edges, clusters; a line of another form is an error."""
    nodes: dict[str, str] = {}
    edges: set[tuple[str, str]] = set()
    clusters = 0
    assert (lines[0], lines[-1]) == ("digraph dot {", "}")
    for line in lines[1:-1]:
        if node := NODE.match(line):
            assert node[1] not in nodes
            nodes[node[1]] = node[2]
        elif edge := EDGE.match(line):
            edges.add((edge[1], edge[2]))
        elif line.startswith("subgraph cluster_"):
            clusters += 1
        else:
            assert re.fullmatch(r'label="graph_\d+";|}', line), line
    assert {end for edge in edges for end in edge} <= set(nodes)
    return nodes, edges, clusters


@pytest.fixture
def drawn(graph, put, out):
    """Give a graph with a node of every kind, in a row, and a graph inside."""
    event, child = hip.event(), hip.out("hipGraphCreate", 0)
    fill_node(child, out, 1, empty(child))
    node = Launch(put, out, 1).node(graph)
    node = fill_node(graph, out, 1, node)
    node = add("hipGraphAddMemcpyNode", graph, ref(copy(out, out + 64, hip.D2D, 8)), after=(node,))
    calls = Calls()
    node = add("hipGraphAddHostNode", graph, ref(calls.params(1)), after=(node,))
    node = add("hipGraphAddEventRecordNode", graph, event, after=(node,))
    node = add("hipGraphAddEventWaitNode", graph, event, after=(node,))
    add("hipGraphAddChildGraphNode", graph, child, after=(empty(graph, node),))
    hip.ok("hipGraphDestroy", child)
    yield graph
    hip.ok("hipEventDestroy", event)


def test_every_node_and_edge_is_drawn(drawn, tmp_path):
    nodes, edges, clusters = parse(draw(drawn, tmp_path / "graph.dot"))
    kinds = [label.split("\\n")[1] for label in nodes.values()]
    assert kinds == [
        "put", "MEMSET", "MEMCPY", "HOST", "EVENT_RECORD", "EVENT_WAIT", "EMPTY", "GRAPH",
        "EMPTY", "MEMSET",
    ]  # fmt: skip
    names = list(nodes)
    assert edges == {*itertools.pairwise(names[:8]), (names[8], names[9])}
    assert clusters == 2


@pytest.mark.parametrize("flags", [0, KERNEL, VERBOSE, HANDLES, 0xFFFF])
def test_flags_tell_more(drawn, tmp_path, flags):
    lines = draw(drawn, tmp_path / "graph.dot", flags)
    nodes, _, _ = parse(lines)
    (kernel,) = [label for label in nodes.values() if "put" in label]
    assert ("grid (1,1,1) block (64,1,1)" in kernel) == bool(flags & (VERBOSE | KERNEL))
    assert any("extent 8x1x1" in line for line in lines) == bool(flags & VERBOSE)
    handle = f"{hip.nodes(drawn)[0]:#x}"
    assert (handle in kernel) == bool(flags & (VERBOSE | HANDLES))


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not here")
def test_graphviz_reads_it(drawn, tmp_path):
    draw(drawn, tmp_path / "graph.dot", VERBOSE)
    subprocess.run(["dot", "-Tsvg", "-o", "graph.svg", "graph.dot"], cwd=tmp_path, check=True)


def test_codes(graph, tmp_path):
    path = str(tmp_path / "graph.dot").encode()
    assert hip.code("hipGraphDebugDotPrint", graph, None, 0) == INVALID
    for wrong in (None, STALE):
        assert hip.code("hipGraphDebugDotPrint", wrong, path, 0) == INVALID
    missing = str(tmp_path / "no" / "graph.dot").encode()
    assert hip.code("hipGraphDebugDotPrint", graph, missing, 0) == CANNOT_OPEN
    assert parse(draw(graph, tmp_path / "graph.dot")) == ({}, set(), 1)
