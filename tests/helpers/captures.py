"""A capture begun with bare HIP calls, registered as one of ours or left foreign."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator

from hipgraph_shmem.captures import capture_info
from hipgraph_shmem.hip_abi import CaptureMode
from hipgraph_shmem.runtime import call, drain_postponed, state


class Recording:
    """The smallest recorder that the lower layers accept."""

    def __init__(self, stream: int, mode: CaptureMode) -> None:
        self.stream, self.mode, self.thread = stream, mode, threading.get_ident()
        self.kept: list[object] = []
        self.n_nodes = -1

    def keep(self, *objects: object) -> None:
        self.kept.extend(objects)


@contextlib.contextmanager
def recording(
    stream: int, mode: CaptureMode = CaptureMode.THREAD_LOCAL, *, ours: bool = True
) -> Iterator[Recording]:
    """Capture a stream; afterwards `n_nodes` is the size of the graph, which is destroyed."""
    made = Recording(stream, mode)
    call("hipStreamBeginCapture", stream, mode)
    identity = capture_info(stream).id
    if ours:
        state.open_captures[identity] = made
    try:
        yield made
    finally:
        state.open_captures.pop(identity, None)
        graph = call("hipStreamEndCapture", stream)
        drain_postponed()
    count = ctypes.c_size_t()
    call("hipGraphGetNodes", graph, None, ctypes.byref(count))
    made.n_nodes = count.value
    call("hipGraphDestroy", graph)


@contextlib.contextmanager
def replayed(stream: int) -> Iterator[Recording]:
    """Capture a stream and launch the graph once; keeps what was recorded until it has run."""
    made = Recording(stream, CaptureMode.THREAD_LOCAL)
    call("hipStreamBeginCapture", stream, made.mode)
    identity = capture_info(stream).id
    state.open_captures[identity] = made
    try:
        yield made
    finally:
        state.open_captures.pop(identity, None)
        graph = call("hipStreamEndCapture", stream)
    graph_exec = call("hipGraphInstantiateWithFlags", graph, 0)
    call("hipGraphLaunch", graph_exec, stream)
    call("hipStreamSynchronize", stream)
    call("hipGraphExecDestroy", graph_exec)
    call("hipGraphDestroy", graph)
    drain_postponed()
