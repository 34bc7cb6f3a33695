"""GraphExec: a frozen graph that can be launched again and again."""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import CaptureError, HangError
from ..handle import Handle
from ..hip_abi import NULL_STREAM, CaptureStatus
from ..runtime import call, failure, pointer, state
from ..stream import Event, as_stream
from .hang import counter_reader, explain
from .ranges import Range
from .recording import refuse_closed
from .retired import Holding, drain_retired

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["GraphExec", "live_execs"]

_REGISTRY = "graph execs by handle"


class GraphExec(Handle):
    """A graph made ready for launching; it holds what its nodes name until closed and idle.

    Launches of one exec never overlap: on another stream, a launch waits for the one before.
    """

    destroy: ClassVar[str] = "hipGraphExecDestroy"
    __slots__ = (
        "_closes",
        "_counter_memory",
        "_counters",
        "_device",
        "_graph",
        "_holding",
        "_lock",
    )

    def __init__(self, graph: Graph) -> None:
        """Instantiate a graph; `Graph.instantiate` is the usual way.

        Args:
            graph: What to instantiate; it may be closed afterwards.

        Raises:
            GraphError: Memory that its nodes name is closed.
        """
        drain_retired()
        raw = call("hipGraphInstantiateWithFlags", graph.handle, 0)
        try:
            lent = graph.recording.lend(raw)
        except BaseException:
            call("hipGraphExecDestroy", raw)
            raise
        self._holding = Holding(*graph.recording.kept, *lent)
        self._counters = tuple(slot for loan in lent for slot in loan.counters)
        self._counter_memory = graph.recording.counter_memory(lent)
        self._device = graph.device
        self._graph = weakref.ref(graph)
        self._lock = threading.Lock()
        self._closes = -1
        super().__init__(raw, self._holding)
        _registry()[raw] = self
        if self._counters:
            counter_reader(self._device)  # made now: behind a hang, making it could wait too

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The counters' memory that its kernels use, as far as they were declared."""
        return self._counter_memory

    @property
    def device(self) -> int:
        """The device that the graph runs on."""
        return self._device

    @property
    def graph(self) -> Graph | None:
        """The graph that it was made of; None when that is closed."""
        graph = self._graph()
        return None if graph is None or graph.closed else graph

    def launch(self, stream: Any) -> None:
        """Launch the graph once, in stream order.

        Args:
            stream: A Stream, a raw handle or an object with `__cuda_stream__`.

        Raises:
            CaptureError: The stream captures; HIP would run the graph at once, unrecorded.
            GraphError: Memory that the graph's nodes name is closed.
        """
        raw, stream_raw = self.handle, as_stream(stream)
        if self._closes != state.closes:
            self._refuse_closed()
        self._refuse_capturing(stream_raw)
        with self._lock:
            event = self._holding.event
            if event is None:
                event = Event(self._device)
            else:
                _check("hipStreamWaitEvent", stream_raw, event.handle, 0)
            traced = [(tracer, tracer.begin(self, stream_raw)) for tracer in state.tracers]
            _check("hipGraphLaunch", raw, stream_raw)
            for tracer, launch in traced:
                tracer.end(launch)
            _check("hipEventRecord", event.handle, stream_raw)
            self._holding.event = event

    def upload(self, stream: Any) -> None:
        """Let the runtime prepare the device for the first launch."""
        call("hipGraphUpload", self.handle, as_stream(stream))

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait on the host until the last launch has ended.

        Args:
            timeout: Seconds to wait; None: as long as it takes.

        Raises:
            HangError: With a timeout, the launch did not end in time or can never end; it holds
                the value of every counter of the exec.
            CaptureError: Waiting would lose an open capture; with a timeout it never does.
        """
        event = self._holding.event
        if not self.handle or event is None:
            return
        if timeout is None:
            event.synchronize()
            return
        reader = counter_reader(self._device)
        try:
            event.synchronize(timeout)
        except HangError as hang:
            raise explain(hang, self, self._counters, reader) from hang

    #: What standard Python calls it (threading, subprocess).
    wait = synchronize

    def close(self) -> None:
        """Destroy the exec; what it holds is given back when its last launch has ended."""
        super().close()
        self._let_go()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._let_go()

    def _let_go(self) -> None:
        if self.closed:
            self._holding = Holding()
            drain_retired()

    def _refuse_closed(self) -> None:
        closes = state.closes
        refuse_closed(self._holding.objects, self)
        self._closes = closes

    def _refuse_capturing(self, stream: int) -> None:
        if stream == NULL_STREAM:
            return
        status = ctypes.c_int()
        _check("hipStreamIsCapturing", stream, ctypes.addressof(status))
        if status.value != CaptureStatus.NONE:
            cure = "a launch is not recorded: launch after the capture, or record the same work"
            raise CaptureError("hipGraphLaunch", stream, cure)


def live_execs() -> tuple[GraphExec, ...]:
    """Return the execs that are not closed."""
    return tuple(each for each in _registry().values() if not each.closed)


def _registry() -> weakref.WeakValueDictionary[int, GraphExec]:
    # By handle, because HIP gives the handle of a destroyed exec to a new one.
    registry: weakref.WeakValueDictionary[int, GraphExec] = state.shared.setdefault(
        _REGISTRY, weakref.WeakValueDictionary()
    )
    return registry


def _check(name: str, *args: int) -> None:
    """Call the bare C function: a launch is the hot path."""
    code = pointer(name)(*args)
    if code:
        raise failure(name, code)
