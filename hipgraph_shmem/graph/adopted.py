"""Recording into a capture that someone else began."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from ..access import Access
from ..captures import capture_info
from ..devices import on_device
from ..errors import GraphError
from ..hip_abi import CaptureMode, CaptureStatus
from ..runtime import state
from ..stream import Stream, as_stream
from .graph import Graph
from .recording import Recording

__all__ = ["AdoptedCapture", "adopt_capture"]


class AdoptedCapture:
    """A capture of others, while this package records into it.

    Attributes:
        stream: The handle of the stream that takes part.
        mode: GLOBAL, the strictest: HIP does not tell which one it was begun in.
        thread: The thread that records.
        recording: What the recorded nodes need alive.
    """

    mode = CaptureMode.GLOBAL

    def __init__(self, stream: int, recording: Recording) -> None:
        """Remember the place; `adopt_capture` is the way to make one."""
        self.stream = stream
        self.thread = threading.get_ident()
        self.recording = recording

    def keep(self, *objects: object) -> None:
        """Hold objects as long as the recording."""
        self.recording.keep(*objects)

    def declare(self, node: int, access: Access) -> None:
        """Say what a recorded node touches, for `Graph.check`."""
        self.recording.declare(node, access)


@contextlib.contextmanager
def adopt_capture(stream: Any) -> Iterator[Graph]:
    """Let the block record into a capture that someone else began and will end.

    When the block ends, the zero-fills of counters are nodes of the captured graph. The graph that
    the block gets belongs to whoever began the capture; keep the object as long as execs are made
    of it. Give each exec that is instantiated elsewhere memory of its own by
    `graph.recording.lend(raw_exec)`, and keep what that returns until the exec is idle and
    destroyed. `graph.instantiate()`, after the capture, does all of this.

    Args:
        stream: The stream that captures, or one that joined the capture.

    Yields:
        The graph that the capture fills, borrowed.

    Raises:
        GraphError: The stream does not capture, or its capture is recorded by this package.
    """
    raw = as_stream(stream)
    info = capture_info(raw)
    if info.status is not CaptureStatus.ACTIVE:
        problem = f"stream {raw:#x} has no capture that can be recorded into: {info.status.name}"
        raise GraphError(problem, "begin the capture before, and end it after the block")
    if info.id in state.open_captures:
        problem = f"the capture of stream {raw:#x} is recorded by this package already"
        raise GraphError(problem, "record into it as it is")
    with on_device(Stream.borrow(raw).device):
        graph = Graph.borrow(info.graph)
    state.open_captures[info.id] = AdoptedCapture(raw, graph.recording)
    try:
        yield graph
        graph.complete()
    finally:
        # The capture goes on, so clean-ups that waited in the block wait for a later one.
        del state.open_captures[info.id]
