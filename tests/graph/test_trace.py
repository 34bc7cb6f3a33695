"""The timeline is in the trace event format, and tells what was launched where."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from hipgraph_shmem.graph import Graph, GraphExec, capture, trace
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import state
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


def fill_exec(buffer: Buffer) -> GraphExec:
    with Graph() as graph:
        graph.add_memset(buffer, 7, buffer.nbytes)
        return graph.instantiate()


def test_a_slice_a_launch_on_the_track_of_its_stream(stream: Stream, tmp_path: Path) -> None:
    gemm = Gemm(16, 64, 256, split_k=2)
    a, b = Buffer((16, 256), "bfloat16"), Buffer((64, 256), "bfloat16")
    out = Buffer((16, 64), "float32")
    a.fill(0, stream)
    b.fill(0, stream)
    with capture(stream) as captured:
        gemm(stream, a, b, out)
    path = tmp_path / "out.json"
    with captured.graph as graph, graph.instantiate() as graph_exec, Stream() as other:
        graph_exec.launch(stream)
        with trace(path):
            for each in (stream, other, stream):
                graph_exec.launch(each)
        name = repr(graph_exec)
    events = events_of(path)
    slices = [event for event in events if event["ph"] == "X"]
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
    gemm = Gemm(16, 64, 256, split_k=2)
    a, b = Buffer((16, 256), "bfloat16"), Buffer((64, 256), "bfloat16")
    out = Buffer((16, 64), "float32")
    a.fill(0, stream)
    b.fill(0, stream)
    with capture(stream) as captured:
        gemm(stream, a, b, out)
    graph_exec = captured.graph.instantiate()
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
    (launch,) = (each for each in events_of(tmp_path / "out.json") if each["ph"] == "X")
    assert launch["args"]["nodes"] == ["the graph was closed before"]


def test_an_error_in_the_block_passes_and_the_trace_is_written(
    stream: Stream, tmp_path: Path
) -> None:
    graph_exec = fill_exec(Buffer(64))
    with pytest.raises(KeyError), trace(tmp_path / "out.json"):
        graph_exec.launch(stream)
        raise KeyError
    assert any(each["ph"] == "X" for each in events_of(tmp_path / "out.json"))
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
    (launch,) = (each for each in events_of(tmp_path / "out.json") if each["ph"] == "B")
    assert "not finished" in launch["args"]["problem"]
