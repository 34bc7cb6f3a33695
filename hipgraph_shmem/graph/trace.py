"""A timeline of graph launches that Perfetto and chrome://tracing read."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..emulated import take_counters, take_timeline
from ..errors import Error
from ..runtime import state
from ..stream import Event, Stream
from .dot import describe
from .node_slices import Tracks, node_slices

if TYPE_CHECKING:
    from .graph_exec import GraphExec

__all__ = ["trace"]

_NOTE = (
    "HIP times whole launches only: a slice on a stream's track is a launch, with its nodes in the"
    " arguments; the emulated device times nodes too, on tracks of their own"
)
_BASE_SECONDS = 10.0
_BASE_TRIES = 5


@contextlib.contextmanager
def trace(path: str | os.PathLike[str], *, timeout: float = 60.0) -> Iterator[None]:
    """Write the graph launches of the block to a file in the trace event format.

    There is one process a device and one track a stream; each launch of an exec is a slice, timed
    by events. HIP does not time single nodes: they are listed in the slice's arguments. The
    emulated device does: below the launches of a stream it has a slice for each node, a kernel by
    its name, and a further track for each branch that runs beside another. Its counter tracks show
    what it executed, as of each launch and of the end; its counters start anew with the block.

    Args:
        path: The file, for example "out.json"; it is written when the block ends.
        timeout: Seconds to wait for the launches at the end of the block; what did not end in
            time is written without an end.
    """
    tracer = _Tracer()
    state.tracers.append(tracer)
    try:
        yield
    finally:
        state.tracers.remove(tracer)
        events = tracer.finish(timeout)
        document = {
            "traceEvents": events,
            "displayTimeUnit": "ms",
            "otherData": {"note": _NOTE},
        }
        Path(path).write_text(json.dumps(document, indent=1))


@dataclass(slots=True)
class _Launch:
    """One launch: where it was timed, and what the slice tells."""

    name: str
    device: int
    stream: int
    nodes: tuple[str, ...]
    launched: float
    begin: Event
    end: Event


class _Base:
    """The same moment on a device and on the host, which saw the event happen in the least time."""

    def __init__(self, device: int, start: float) -> None:
        least = float("inf")
        with Stream(device) as stream:
            for _ in range(_BASE_TRIES):
                before, event = _since(start), stream.record(Event(device))
                event.synchronize(_BASE_SECONDS)
                after = _since(start)
                if after - before < least:
                    least = after - before
                    self.event, self._microseconds = event, (before + after) / 2

    def microseconds(self, event: Event) -> float:
        """Return when an event happened, in the trace's time."""
        return max(0.0, self._microseconds + 1000 * event.elapsed_ms(self.event))


class _Tracer:
    """Sees every launch of a graph exec while its block is open."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._bases: dict[int, _Base] = {}
        self._launches: list[_Launch] = []
        self._nodes: dict[int, tuple[GraphExec, tuple[str, ...]]] = {}
        self._samples: list[dict[str, Any]] = []
        self._totals: dict[str, int] = {}
        take_counters()
        take_timeline(keep=True)

    def begin(self, graph_exec: GraphExec, stream: int) -> _Launch:
        """Note the start of a launch, in stream order."""
        device = graph_exec.device
        if device not in self._bases:
            self._bases[device] = _Base(device, self._start)
        self._sample()
        nodes = self._nodes_of(graph_exec)
        name, now = repr(graph_exec), _since(self._start)
        launch = _Launch(name, device, stream, nodes, now, Event(device), Event(device))
        launch.begin.record(stream)
        return launch

    def end(self, launch: _Launch) -> None:
        """Note the end of a launch, in stream order."""
        launch.end.record(launch.stream)
        self._launches.append(launch)

    def finish(self, timeout: float) -> list[dict[str, Any]]:
        """Wait for the launches; return everything as trace events."""
        limit = time.monotonic() + timeout
        tracks = Tracks()
        events: list[dict[str, Any]] = []
        for launch in self._launches:
            track = tracks.of(launch.device, f"stream {launch.stream:#x}")
            events.append(self._slice(launch, track, limit))
        self._sample()
        spans = take_timeline(keep=bool(state.tracers))
        events += node_slices(spans, tracks, self._start)
        names = [_metadata("process_name", device, 0, f"device {device}") for device in self._bases]
        names += [
            _metadata("thread_name", device, track, name) for device, track, name in tracks.names
        ]
        return [*names, *events, *self._samples]

    def _slice(self, launch: _Launch, track: int, limit: float) -> dict[str, Any]:
        base = self._bases[launch.device]
        event = {
            "name": launch.name,
            "cat": "graph",
            "pid": launch.device,
            "tid": track,
            "args": {"nodes": list(launch.nodes)},
        }
        try:
            launch.end.synchronize(max(0.0, limit - time.monotonic()))
            start, end = base.microseconds(launch.begin), base.microseconds(launch.end)
        except Error as error:
            # An open slice: it began, and its end is not known.
            return event | {"ph": "B", "ts": launch.launched, "args": {"problem": str(error)}}
        return event | {"ph": "X", "ts": start, "dur": max(0.0, end - start)}

    def _nodes_of(self, graph_exec: GraphExec) -> tuple[str, ...]:
        # The exec is kept, so that no other gets its place.
        if id(graph_exec) not in self._nodes:
            graph = graph_exec.graph
            nodes: tuple[str, ...] = ("the graph was closed before",)
            if graph is not None:
                nodes = tuple(", ".join(describe(node)) for node in graph.nodes)
            self._nodes[id(graph_exec)] = graph_exec, nodes
        return self._nodes[id(graph_exec)][1]

    def _sample(self) -> None:
        """Add to the counter tracks what the emulated device executed since the last sample."""
        taken = take_counters()
        by_class = taken.pop("by_class", {})
        for name, value in {**taken, **by_class}.items():
            self._totals[name] = self._totals.get(name, 0) + value
        now = _since(self._start)
        for name, total in self._totals.items():
            event = {"name": name, "ph": "C", "pid": 0, "tid": 0, "ts": now}
            self._samples.append({**event, "args": {name: total}})


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1e6


def _metadata(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
