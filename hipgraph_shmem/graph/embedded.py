"""EmbeddedGraph: a child graph, the copy that a child node of another graph holds."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..runtime import call
from .listing import twins
from .ranges import Range, merged
from .recording import CounterSlot, Loan, Recording, declared_counters

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["EmbeddedGraph", "embed", "point_child"]


class _Loan:
    """The counters of a child graph that one exec has, with what its nodes need."""

    __slots__ = ("__weakref__", "_lent", "_recording")

    def __init__(self, recording: Recording, lent: tuple[Loan, ...]) -> None:
        self._recording = recording
        self._lent = lent

    @property
    def counters(self) -> Sequence[CounterSlot]:
        """The counters of each launch."""
        return [slot for loan in self._lent for slot in loan.counters]

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """Their memory."""
        own = self._recording.unmanaged_accesses.values()
        lent = (each for loan in self._lent for each in loan.counter_memory)
        return merged((*declared_counters(own), *lent))


class EmbeddedGraph:
    """A child graph; HIP lets nobody edit its nodes in an exec, so an exec gets another whole.

    Attributes:
        graph: The hipGraph_t that the node holds.
        recording: What its nodes need.
    """

    def __init__(self, node: int, graph: int, recording: Recording) -> None:
        """Describe the graph in a child node; `embed` is the way to make one."""
        self.graph = graph
        self.recording = recording
        self._node = node
        self._template: weakref.ref[_Loan] | None = None

    @property
    def counters(self) -> Sequence[CounterSlot]:
        """The counters that the child's own nodes name."""
        return self.recording.counters

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The memory of these counters."""
        return self.recording.counter_memory

    @property
    def nodes(self) -> Collection[int]:
        """The child node, if anything in it has counters."""
        return (self._node,) if self.recording.managed else ()

    @property
    def lent(self) -> bool:
        """Whether a live exec has the memory that the child's own nodes name."""
        return self._template is not None and self._template() is not None

    def complete(self, graph: Graph) -> None:
        """Add nothing: the child was complete when it was added."""

    def lend(self, graph_exec: int) -> Loan:
        """Give the child's own memory to the first exec, a child of their own to others."""
        if self.lent and self.recording.managed:
            return point_child(graph_exec, self._node, self.graph, self.recording)
        loan = _Loan(self.recording, self.recording.lend(graph_exec))
        self._template = weakref.ref(loan)
        return loan

    def copy(self, recording: Recording, twins: Mapping[int, int]) -> None:
        """Attach the child graph of a clone to the clone's recording."""
        _attach(recording, twins[self._node], self.graph, self.recording)


def embed(recording: Recording, node: int, child: Graph) -> int:
    """Let a graph's recording keep what its new child node needs; return the node's graph."""
    recording.keep(*child.recording.kept, node=node)
    return _attach(recording, node, child.handle, child.recording)


def point_child(graph_exec: int, node: int, graph: int, recording: Recording) -> Loan:
    """Give an exec a child like `graph`, with memory of its own; return what it must hold."""
    if not recording.managed:
        call("hipGraphExecChildGraphNodeSetParams", graph_exec, node, graph)
        return _Loan(recording, ())
    clone = call("hipGraphClone", graph)
    try:
        own = recording.copy(twins(graph, clone))
        call("hipGraphExecChildGraphNodeSetParams", graph_exec, node, clone)
    finally:
        call("hipGraphDestroy", clone)
    return _Loan(own, own.lend(graph_exec))


def _attach(recording: Recording, node: int, graph: int, needs: Recording) -> int:
    copy: int = call("hipGraphChildGraphNodeGetGraph", node)
    own = needs.copy(twins(graph, copy))
    recording.attachment(node, lambda: EmbeddedGraph(node, copy, own))
    return copy
