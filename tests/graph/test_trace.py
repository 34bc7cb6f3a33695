"""The timeline is in the trace event format, and tells what was launched where."""

from __future__ import annotations

import ctypes
import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest

from hipgraph_shmem.emulated import take_timeline
from hipgraph_shmem.graph import Graph, GraphExec, KernelNode, Node, NodeKind, capture, trace
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import library, state
from hipgraph_shmem.splitk import Gemm
from hipgraph_shmem.stream import Stream

#: What the trace event format asks of each phase that is written.
REQUIRED = {
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "B": {"name", "cat", "ts", "pid", "tid", "args"},
    "C": {"name", "ts", "pid", "tid", "args"},
    "M": {"name", "pid", "tid", "args"},
}


def events_of(path: Path) -> list[dict[str, Any]]:
    """Read a trace, each event checked against the format."""
    document = json.loads(path.read_text())
    assert document["displayTimeUnit"] in ("ms", "ns")
    for event in document["traceEvents"]:
        assert set(event) - {"ph"} == REQUIRED[event["ph"]]
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0
        if event["ph"] == "C":
            assert all(isinstance(value, int) for value in event["args"].values())
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
    events: list[dict[str, Any]] = document["traceEvents"]
    return events


def recorded_gemm(stream: Stream) -> Graph:
    gemm = Gemm(16, 64, 256, split_k=2)
    a, b = Buffer((16, 256), "bfloat16"), Buffer((64, 256), "bfloat16")
    out = Buffer((16, 64), "float32")
    a.fill(0, stream)
    b.fill(0, stream)
    with capture(stream) as captured:
        gemm(stream, a, b, out)
    return captured.graph


def launches_of(path: Path, phase: str) -> list[dict[str, Any]]:
    return [each for each in events_of(path) if each["ph"] == phase and each["cat"] == "graph"]


def fill_exec(buffer: Buffer) -> GraphExec:
    with Graph() as graph:
        graph.add_memset(buffer, 7, buffer.nbytes)
        return graph.instantiate()


def test_a_slice_a_launch_on_the_track_of_its_stream(stream: Stream, tmp_path: Path) -> None:
    graph = recorded_gemm(stream)
    path = tmp_path / "out.json"
    with graph, graph.instantiate() as graph_exec, Stream() as other:
        graph_exec.launch(stream)
        with trace(path):
            for each in (stream, other, stream):
                graph_exec.launch(each)
        name = repr(graph_exec)
    events = events_of(path)
    slices = [event for event in events if event["ph"] == "X" and event["cat"] == "graph"]
    assert [event["name"] for event in slices] == [name] * 3
    assert len({event["tid"] for event in slices}) == 2
    assert slices[0]["tid"] == slices[2]["tid"]
    assert any("splitk_gemm_bf16" in node for node in slices[0]["args"]["nodes"])
    # Launches of one exec never overlap.
    for before, after in itertools.pairwise(slices):
        assert before["ts"] + before["dur"] <= after["ts"] + 1
    tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert f"stream {stream.handle:#x}" in tracks
    assert not state.tracers


@pytest.mark.usefixtures("emulated")
def test_counter_tracks_add_up(stream: Stream, tmp_path: Path) -> None:
    graph = recorded_gemm(stream)
    graph_exec = graph.instantiate()
    with trace(tmp_path / "out.json"):
        for _ in range(3):
            graph_exec.launch(stream)
            stream.synchronize()
    events = events_of(tmp_path / "out.json")
    launches = [each["args"]["launches"] for each in events if each["name"] == "launches"]
    assert launches == sorted(launches)
    assert launches[-1] == 3
    assert max(each["args"]["matrix"] for each in events if each["name"] == "matrix") > 0


def test_a_closed_graph_is_said_to_be(stream: Stream, tmp_path: Path) -> None:
    with Buffer(64) as buffer, fill_exec(buffer) as graph_exec, trace(tmp_path / "out.json"):
        graph_exec.launch(stream)
    (launch,) = launches_of(tmp_path / "out.json", "X")
    assert launch["args"]["nodes"] == ["the graph was closed before"]


def test_an_error_in_the_block_passes_and_the_trace_is_written(
    stream: Stream, tmp_path: Path
) -> None:
    graph_exec = fill_exec(Buffer(64))
    with pytest.raises(KeyError), trace(tmp_path / "out.json"):
        graph_exec.launch(stream)
        raise KeyError
    assert len(launches_of(tmp_path / "out.json", "X")) == 1
    assert not state.tracers


def test_a_launch_that_does_not_end_is_an_open_slice(
    stream: Stream, gate: Any, tmp_path: Path
) -> None:
    hold, flag = gate
    with Buffer(64) as buffer:
        graph_exec = fill_exec(buffer)
        with trace(tmp_path / "out.json", timeout=0.1):
            hold(stream)
            graph_exec.launch(stream)
        flag.array[0] = 1
        graph_exec.wait(timeout=30)
        graph_exec.close()
    (launch,) = launches_of(tmp_path / "out.json", "B")
    assert "not finished" in launch["args"]["problem"]


def nodes_by_track(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The slices of nodes, in order of time, by the name of their track."""
    events = events_of(path)
    names = {
        (each["pid"], each["tid"]): each["args"]["name"]
        for each in events
        if each["name"] == "thread_name"
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for each in sorted(events, key=lambda each: each.get("ts", 0)):
        if each.get("cat") == "node":
            found.setdefault(names[each["pid"], each["tid"]], []).append(each)
    return found


@pytest.mark.usefixtures("emulated")
def test_a_slice_a_node_with_kernels_by_name(stream: Stream, tmp_path: Path) -> None:
    graph = recorded_gemm(stream)
    (kernel,) = (node.name for node in graph.nodes if isinstance(node, KernelNode))
    with graph, graph.instantiate() as graph_exec, Stream() as other:
        graph_exec.launch(stream)
        with trace(tmp_path / "out.json"):
            for each in (stream, stream, other):
                graph_exec.launch(each)
        graph_exec.launch(stream)
        graph_exec.wait()
        assert take_timeline(keep=False) == [], "nothing is kept outside of a trace"
        tracks = nodes_by_track(tmp_path / "out.json")
        expected = {stream.handle: 2, other.handle: 1}
    assert set(tracks) == {f"stream {handle:#x} nodes" for handle in expected}
    for handle, launches in expected.items():
        slices = tracks[f"stream {handle:#x} nodes"]
        assert [each["name"] for each in slices] == ["memset", kernel] * launches
        for before, after in itertools.pairwise(slices):
            assert before["ts"] + before["dur"] <= after["ts"] + 1e-3


@pytest.mark.usefixtures("emulated")
def test_nodes_are_timed_by_the_hosts_clock(stream: Stream) -> None:
    with Buffer(1 << 20) as buffer, fill_exec(buffer) as graph_exec:
        take_timeline(keep=True)
        before = time.monotonic_ns()
        graph_exec.launch(stream)
        graph_exec.wait()
        after = time.monotonic_ns()
    (node,) = take_timeline(keep=False)
    assert (node["kind"], node["stream"]) == (NodeKind.MEMSET, stream.handle)
    assert before <= node["begin"] <= node["end"] <= after


@pytest.mark.usefixtures("emulated")
def test_branches_and_child_graphs_on_the_device(stream: Stream, tmp_path: Path) -> None:
    """A node ends before those behind it begin; of a child graph, node and content are shown."""
    with Buffer(64) as one, Buffer(64) as two, Graph() as inner, Graph() as graph:
        inner.add_memset(one, 1, 64)
        root = graph.add_empty()
        child = ctypes.c_void_p()
        after = (ctypes.c_void_p * 1)(root.handle)
        add = library().pointers.hipGraphAddChildGraphNode
        raw = (
            ctypes.c_void_p(graph.handle),
            after,
            ctypes.c_size_t(1),
            ctypes.c_void_p(inner.handle),
        )
        assert add(ctypes.byref(child), *raw) == 0
        left = graph.add_memset(two, 2, 64, dependencies=(root,))
        graph.add_empty(dependencies=(left, Node(child.value or 0, NodeKind.GRAPH)))
        with graph.instantiate() as graph_exec, trace(tmp_path / "out.json"):
            graph_exec.launch(stream)
    slices = [each for track in nodes_by_track(tmp_path / "out.json").values() for each in track]
    assert sorted(each["name"] for each in slices) == [
        "empty",
        "empty",
        "graph",
        "memset",
        "memset",
    ]
    first, last = sorted(
        (each for each in slices if each["name"] == "empty"), key=lambda e: e["ts"]
    )
    for each in slices:
        if each["name"] != "empty":
            assert first["ts"] + first["dur"] <= each["ts"] + 1e-3
            assert each["ts"] + each["dur"] <= last["ts"] + 1e-3


@pytest.mark.usefixtures("emulated")
def test_a_node_that_does_not_end_is_an_open_slice(
    stream: Stream, gate: Any, tmp_path: Path
) -> None:
    hold, flag = gate
    with capture(stream) as captured:
        hold(stream)
    with captured.graph.instantiate() as graph_exec:
        with trace(tmp_path / "out.json", timeout=2):
            graph_exec.launch(stream)
        flag.array[0] = 1
        graph_exec.wait(timeout=30)
    ((node,),) = nodes_by_track(tmp_path / "out.json").values()
    assert (node["name"], node["ph"]) == ("wait_for", "B")
