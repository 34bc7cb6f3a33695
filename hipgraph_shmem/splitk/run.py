"""One way for every split-K operation to be run, recorded or added to a graph."""

from __future__ import annotations

from collections.abc import Sequence

from ..captures import capture_info, recorder_of
from ..errors import GraphError
from ..graph.adopted import AdoptedCapture
from ..graph.capture import Captured
from ..graph.graph import Graph
from ..graph.nodes import Node
from ..graph.recording import Recording
from ..launch import launch_packed
from ..runtime import call
from ..stream import Stream
from .counters import Scratch, pool_of
from .operands import check_device
from .recorded import RecordedLaunches
from .work import Fill, Work

__all__ = ["add", "run"]


def run(stream: int, work: Work) -> None:
    """Run the work in stream order, or record it where the stream is captured."""
    check_device("stream", Stream.borrow(stream).device, work.device)
    recorder = recorder_of(stream)
    if recorder is None:
        _run_now(stream, work)
    elif isinstance(recorder, Captured | AdoptedCapture):
        _record(stream, recorder.recording, work)
    else:
        raise GraphError(
            f"stream {stream:#x} is recorded by {recorder!r}",
            "record with hipgraph_shmem.graph.capture",
        )


def add(graph: Graph, work: Work, dependencies: Sequence[Node]) -> Node:
    """Add the work to a graph behind `dependencies`; return its last node."""
    if graph.closed:
        raise GraphError(f"graph={graph!r} is closed", "add to an open graph")
    check_device("graph", graph.device, work.device)
    launches = RecordedLaunches.of(graph.recording, work.device)
    place = launches.place(work.counter_words, work.workspace_bytes, object())
    scratch = launches.scratch(place)
    before = tuple(dependencies)
    if work.fill is not None:
        before = (_add_fill(graph, work.fill, before),)
    for step in work.steps:
        blob = step.arguments(scratch.counters, scratch.workspace)
        node = graph.add_packed_kernel(
            step.kernel, step.config, blob, *work.keep, dependencies=before
        )
        launches.note(graph.recording, node.handle, step, place)
        before = (node,)
    return before[0]


def _run_now(stream: int, work: Work) -> None:
    if not work.counter_words and not work.workspace_bytes:
        _launch(stream, work, Scratch(0, 0))
        return
    pool = pool_of(work.device)
    with pool.eager(stream, work.counter_words, work.workspace_bytes) as scratch:
        _launch(stream, work, scratch)


def _launch(stream: int, work: Work, scratch: Scratch) -> None:
    if work.fill is not None:
        _fill(stream, work.fill)
    for step in work.steps:
        blob = step.arguments(scratch.counters, scratch.workspace)
        launch_packed(stream, step.kernel, step.config, blob, *work.keep)


def _record(stream: int, recording: Recording, work: Work) -> None:
    launches = RecordedLaunches.of(recording, work.device)
    place = launches.place(work.counter_words, work.workspace_bytes, stream)
    scratch = launches.scratch(place)
    if work.fill is not None:
        _fill(stream, work.fill)
    for step in work.steps:
        blob = step.arguments(scratch.counters, scratch.workspace)
        launch_packed(stream, step.kernel, step.config, blob, *work.keep)
        # After a recorded launch the stream's frontier is that one node.
        (node,) = capture_info(stream).frontier
        launches.note(recording, node, step, place)


def _fill(stream: int, fill: Fill) -> None:
    if fill.rows == 1 or fill.pitch == fill.row_bytes:
        call("hipMemsetD8Async", fill.address, 0, fill.rows * fill.row_bytes, stream)
    else:
        call("hipMemset2DAsync", fill.address, fill.pitch, 0, fill.row_bytes, fill.rows, stream)


def _add_fill(graph: Graph, fill: Fill, dependencies: Sequence[Node]) -> Node:
    count, rows = fill.row_bytes, fill.rows
    if fill.pitch == fill.row_bytes:
        count, rows = count * rows, 1
    return graph.add_memset(
        fill.address, 0, count, rows=rows, pitch=fill.pitch, dependencies=dependencies
    )
