"""Recording a stream's work as a graph."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Iterator
from typing import Any

from ..access import Access
from ..captures import capture_info
from ..errors import CaptureError, Error, GraphError, HipError
from ..hip_abi import LEGACY_STREAM, CaptureMode, CaptureStatus
from ..runtime import call, discard, drain_postponed, state
from ..stream import Stream, as_stream
from .graph import Graph
from .lost import lost_capture, partial_capture
from .recording import Recording
from .retired import drain_retired

__all__ = ["Captured", "capture"]


class CaptureState(enum.Enum):
    """OPEN -> CLOSED when the block ends, OPEN -> ABANDONED when it ends by an error."""

    OPEN = enum.auto()
    CLOSED = enum.auto()
    ABANDONED = enum.auto()


class Captured:
    """What a `capture` block gives: the recording while it is open, the graph afterwards.

    Attributes:
        stream: The captured stream's handle.
        mode: Which calls of other threads the capture forbids.
        thread: The thread that began it.
        recording: What the recorded nodes need alive.
    """

    def __init__(self, stream: int, mode: CaptureMode) -> None:
        """Begin the capture; `capture` is the usual way."""
        self.stream = stream
        self.mode = mode
        self.thread = threading.get_ident()
        self.recording = Recording()
        self._state = CaptureState.OPEN
        self._graph: Graph | None = None
        self._device = Stream.borrow(stream).device
        call("hipStreamBeginCapture", stream, mode)
        self._id = capture_info(stream).id
        state.open_captures[self._id] = self

    @property
    def graph(self) -> Graph:
        """The recorded graph.

        Raises:
            GraphError: The block is still open, or ended by an error.
        """
        if self._graph is None:
            cure = {
                CaptureState.OPEN: "take the graph after the `with` block",
                CaptureState.ABANDONED: "record it again: the partial graph is gone",
            }
            raise GraphError(f"the capture is {self._state.name}", cure[self._state])
        return self._graph

    def keep(self, *objects: object) -> None:
        """Hold objects as long as the graph and the execs made from it."""
        self.recording.keep(*objects)

    def declare(self, node: int, access: Access) -> None:
        """Say what a recorded node touches, for `Graph.check`."""
        self.recording.declare(node, access)

    def finish(self) -> None:
        """End the capture and take the graph."""
        self._state = CaptureState.ABANDONED
        try:
            raw = self._end()
        except Error:
            self._forget()
            raise
        graph = Graph.adopt(raw, self.recording, self._device)
        graph.complete()
        self._graph, self._state = graph, CaptureState.CLOSED
        drain_postponed()

    def abandon(self, error: BaseException) -> None:
        """End the capture and drop the partial graph; `error` is why."""
        self._state = CaptureState.ABANDONED
        try:
            discard("hipGraphDestroy", self._end())
        except Error as lost:
            if error.__context__ is None:
                error.__context__ = lost
        self._forget()

    def _end(self) -> int:
        """End the capture; raise if there is no graph, or if what it records is not whole."""
        try:
            raw: int = call("hipStreamEndCapture", self.stream)
        except HipError as error:
            raise lost_capture(self.stream, self.mode, error) from error
        finally:
            state.open_captures.pop(self._id, None)
        partial = partial_capture(self.stream, self.mode)
        if partial is not None:
            discard("hipGraphDestroy", raw)
            raise partial
        return raw

    def _forget(self) -> None:
        """Let go of what the graph would have needed, and do the clean-ups that waited."""
        self.recording.clear()
        drain_postponed()


@contextlib.contextmanager
def capture(stream: Any, mode: CaptureMode = CaptureMode.THREAD_LOCAL) -> Iterator[Captured]:
    """Record the work that the block gives to a stream, instead of running it.

    Streams that wait for an event of the captured stream take part until they are joined back
    by an event of theirs. An error in the block ends the capture, drops the partial graph and
    passes on; the stream is usable again.

    Args:
        stream: The stream to record; not the null stream.
        mode: GLOBAL forbids allocation in every thread while the block is open, THREAD_LOCAL
            in this thread only, RELAXED in none.

    Yields:
        The open capture; its `graph` is there after the block.

    Raises:
        CaptureError: The stream captures already; or, at the end, a call that was made past this
            package lost the capture: the first one, where the runtime names it.
        GraphError: HIP ended the capture without a graph for another reason.
    """
    raw = as_stream(stream)
    if raw <= LEGACY_STREAM:
        raise ValueError(f"stream={raw}: the null stream cannot be captured: make a Stream")
    if not isinstance(mode, CaptureMode):
        words = ", ".join(f"CaptureMode.{each.name}" for each in CaptureMode)
        raise TypeError(f"mode={mode!r}: give one of {words}")
    if capture_info(raw).status is not CaptureStatus.NONE:
        raise CaptureError("hipStreamBeginCapture", raw, "end the open capture first")
    drain_retired()
    captured = Captured(raw, mode)
    try:
        yield captured
    except BaseException as error:
        captured.abandon(error)
        raise
    captured.finish()
