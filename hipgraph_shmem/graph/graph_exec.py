"""GraphExec: a frozen graph that can be launched again and again."""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..access import Access
from ..devices import on_device
from ..errors import CaptureError, GraphError, HangError
from ..handle import Handle
from ..hip_abi import NULL_STREAM, CaptureStatus, ErrorCode, NodeKind
from ..runtime import call, failure, pointer, state
from ..stream import Event, as_stream
from .editing import NodeEditing
from .embedded import point_child
from .exec_needs import ExecNeeds
from .hang import counter_reader, explain
from .listing import node_handles
from .nodes import Node
from .ranges import Range
from .recording import Loan, Recording, refuse_closed
from .refusal import explained
from .retired import drain_retired
from .setter import Setter
from .update import UPDATES_IN_PLACE, Update, update_in_place

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["GraphExec", "live_execs"]

_REGISTRY = "graph execs"
_AUTO_FREE_ON_LAUNCH = 1


class GraphExec(Handle, NodeEditing):
    """A graph made ready for launching; it holds what its nodes name until closed and idle.

    Launches of one exec never overlap: on another stream, a launch waits for the one before.
    Changing an exec waits on the host for its last launch, because HIP changes it in place.

    Args:
        graph: What to instantiate; it may be closed afterwards. `Graph.instantiate` is the
            usual way.
        auto_free: As for `Graph.instantiate`.
    """

    destroy: ClassVar[str] = "hipGraphExecDestroy"
    __slots__ = (
        "_closes",
        "_device",
        "_disabled",
        "_flags",
        "_graph",
        "_lock",
        "_needs",
        "_order",
        "_problem",
        "_updates",
    )

    def __init__(self, graph: Graph, *, auto_free: bool = False) -> None:
        drain_retired()
        self._prepare(graph.device)
        self._flags = _AUTO_FREE_ON_LAUNCH if auto_free else 0
        _require_alive(graph)
        super().__init__(self._instantiate(graph), self._needs)
        _registry().add(self)

    @classmethod
    def borrow(cls, raw: int) -> GraphExec:
        """Wrap a raw hipGraphExec_t of this thread's device that someone else owns."""
        graph_exec = super().borrow(raw)
        graph_exec._prepare(call("hipGetDevice"))
        return graph_exec

    @classmethod
    def adopt(cls, raw: int, device: int, *keep: object) -> GraphExec:
        """Own a raw hipGraphExec_t that other code instantiated on a device.

        Args:
            raw: The exec.
            device: Its device.
            *keep: What its nodes name, held until it is closed and idle.
        """
        graph_exec = cls.__new__(cls)
        graph_exec._prepare(device, *keep)
        Handle.__init__(graph_exec, raw, graph_exec._needs)
        return graph_exec

    # The HIP handle changes when an update makes the exec anew, so it is not what makes it equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _prepare(self, device: int, *keep: object) -> None:
        self._device, self._flags = device, 0
        self._needs, self._lock = ExecNeeds(*keep), threading.Lock()
        self._graph: weakref.ref[Graph] | None = None
        self._order: tuple[int, ...] = ()
        self._disabled: set[int] = set()
        self._closes, self._updates, self._problem = -1, 0, ""

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The counters' memory that its kernels use, as far as they were declared."""
        return self._needs.counter_memory

    @property
    def device(self) -> int:
        """The device that the graph runs on."""
        return self._device

    @property
    def graph(self) -> Graph | None:
        """The graph whose nodes address its own; None when that is closed, or was not ours."""
        graph = None if self._graph is None else self._graph()
        return None if graph is None or graph.closed else graph

    def launch(self, stream: Any) -> None:
        """Launch the graph once, in stream order.

        Args:
            stream: A Stream, a raw handle or an object with `__cuda_stream__`.

        Raises:
            CaptureError: The stream captures; HIP would run the graph at once, unrecorded.
            GraphError: Memory that the graph's nodes name is closed.
        """
        stream_raw = as_stream(stream)
        if self._closes != state.closes:
            self._refuse_unusable()
        self._refuse_capturing(stream_raw)
        with self._lock:
            raw, last = self.handle, self._needs.event
            event = Event(self._device) if last is None else last
            if last is not None:
                _check("hipStreamWaitEvent", stream_raw, last.handle, 0)
            traced = [(tracer, tracer.begin(self, stream_raw)) for tracer in state.tracers]
            _check("hipGraphLaunch", raw, stream_raw)
            for tracer, launch in traced:
                tracer.end(launch)
            _check("hipEventRecord", event.handle, stream_raw)
            if last is None:
                self._needs.event = event

    def upload(self, stream: Any) -> None:
        """Let the runtime prepare the device for the first launch."""
        call("hipGraphUpload", self.handle, as_stream(stream))

    def update(self, graph: Graph) -> Update:
        """Let the exec do what a graph describes, from the next launch on (hipGraphExecUpdate).

        A graph of the same shape is taken in place: the same kinds of nodes in the same order with
        as many dependencies each. Where HIP cannot, and after a thousand updates, the exec is
        instantiated anew. Split-K launches keep counters that no other exec has.

        Args:
            graph: What is run from now on; it may be closed afterwards.

        Returns:
            Whether it was done in place, and if not, why.

        Raises:
            GraphError: The graph is of another device or names closed memory: the exec is as it
                was. Or instantiating failed too: it cannot be launched before another update.
        """
        if graph.device != self._device:
            problem = f"graph={graph!r} is of device {graph.device}, {self!r} of {self._device}"
            raise GraphError(problem, "instantiate it")
        _require_alive(graph)
        with self._idle():
            done = self._update_in_place(graph)
            if not done.in_place:
                self._make_anew(graph, done)
        return done

    def _update_in_place(self, graph: Graph) -> Update:
        if self._updates >= UPDATES_IN_PLACE and not self._disabled:
            return Update(
                in_place=False, reason=f"it was updated {UPDATES_IN_PLACE} times in place"
            )
        # Counters that the graph's own nodes name go to one exec; others get a clone's.
        clone = graph.clone() if graph.recording.lent else None
        source = graph if clone is None else clone
        with clone or contextlib.nullcontext():
            done = update_in_place(self.handle, source.handle)
            if done.in_place:
                self._updates += 1
                places = dict(zip(node_handles(source.handle), self._order, strict=True))
                self._hold(source.recording, source.recording.lend(self.handle), places)
        return done

    def _make_anew(self, graph: Graph, done: Update) -> None:
        try:
            raw = self._instantiate(graph)
        except BaseException:
            self._closes, self._problem = -1, f"{self!r} is half updated ({done.reason})"
            raise
        self._exchange(raw, self._needs)
        self._disabled.clear()

    def set_child(self, node: Node, child: Graph) -> None:
        """Let a child node run a copy of another graph with the same kinds of nodes in order.

        Raises:
            GraphError: The graph has another shape, or the node is not of this exec.
        """
        if node.kind is not NodeKind.GRAPH:
            raise TypeError(f"node={node}: give a node of kind GRAPH")
        _require_alive(child)
        with self._idle():
            cure = "give a child node of the graph, and a graph of the child's shape"
            with explained(f"child={child!r} at node={node}", cure):
                loan = point_child(self.handle, node.handle, child.handle, child.recording)
            self._needs.replace(node.handle, child.recording.kept)
            self._needs.lend(node.handle, loan)

    def set_enabled(self, node: Node, enabled: bool) -> None:  # noqa: FBT001 - reads well
        """Let launches run a kernel, memcpy or memset node, or skip it; edges stay.

        Raises:
            GraphError: The node zeroes counters, or is not of this exec.
        """
        if node.kind is NodeKind.MEMSET and not enabled:
            self._refuse_managed(node)
        with self._idle():
            cure = "give a kernel, memcpy or memset node of the graph"
            with explained(f"node={node} of {self!r}", cure):
                call("hipGraphNodeSetEnabled", self.handle, node.handle, int(enabled))
            (self._disabled.discard if enabled else self._disabled.add)(node.handle)

    def is_enabled(self, node: Node) -> bool:
        """Tell whether launches run a node."""
        return bool(call("hipGraphNodeGetEnabled", self.handle, node.handle))

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait on the host until the last launch has ended.

        Args:
            timeout: Seconds to wait; None: as long as it takes.

        Raises:
            HangError: With a timeout, the launch did not end in time or can never end; it holds
                the value of every counter of the exec.
            CaptureError: Waiting would lose an open capture; with a timeout it never does.
        """
        event = self._needs.event
        if not self.handle or event is None:
            return
        if timeout is None:
            event.synchronize()
            return
        reader = counter_reader(self._device)
        try:
            event.synchronize(timeout)
        except HangError as hang:
            raise explain(hang, self, self._needs.counters, reader) from hang

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
            self._needs = ExecNeeds()
            drain_retired()

    def _instantiate(self, graph: Graph) -> int:
        """Make a HIP exec of a graph; hold what it needs instead of what was held before."""
        with on_device(self._device):
            raw = _instantiated(graph, self._flags)
        try:
            lent = graph.recording.lend(raw)
        except BaseException:
            call("hipGraphExecDestroy", raw)
            raise
        self._order, self._updates = node_handles(graph.handle), 0
        self._graph = weakref.ref(graph)
        self._hold(graph.recording, lent, {node: node for node in self._order})
        return raw

    def _hold(self, recording: Recording, lent: Iterable[Loan], places: Mapping[int, int]) -> None:
        self._needs.take(recording, lent, places)
        self._closes, self._problem = -1, ""
        if self._needs.counters:
            counter_reader(self._device)  # made now: behind a hang, making it could wait too

    @contextlib.contextmanager
    def _idle(self) -> Iterator[None]:
        """Keep launches away, and wait for the last: HIP changes an exec in place."""
        with self._lock:
            if self._needs.event is not None:
                # With a timeout, waiting is legal while a stream captures.
                self._needs.event.synchronize(math.inf)
            yield

    @contextlib.contextmanager
    def _setting(self) -> Iterator[Setter]:
        with self._idle(), on_device(self._device):
            yield Setter(self.handle)

    def _manages(self, node: Node) -> bool:
        return node.handle in self._needs.managed

    def _replace(self, node: Node, keep: Iterable[object], access: Access | None) -> None:
        self._needs.replace(node.handle, keep, access)

    def _refuse_unusable(self) -> None:
        if self._problem:
            raise GraphError(self._problem, "update it again, or instantiate a graph")
        closes = state.closes
        refuse_closed(self._needs.objects, self)
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
    return tuple(each for each in _registry() if not each.closed)


def _registry() -> weakref.WeakSet[GraphExec]:
    registry: weakref.WeakSet[GraphExec] = state.shared.setdefault(_REGISTRY, weakref.WeakSet())
    return registry


def _require_alive(graph: Graph) -> None:
    """Complete a graph that is about to be used; raise if memory that it names is closed."""
    graph.complete()
    refuse_closed(graph.recording.kept, graph)


def _instantiated(graph: Graph, flags: int) -> int:
    problem = f"{graph!r} allocates or frees memory, and was instantiated before"
    cure = "HIP allows that once: record it again"
    with explained(problem, cure, ErrorCode.NOT_SUPPORTED):
        raw: int = call("hipGraphInstantiateWithFlags", graph.handle, flags)
    return raw


def _check(name: str, *args: int) -> None:
    """Call the bare C function: a launch is the hot path."""
    code = pointer(name)(*args)
    if code:
        raise failure(name, code)
