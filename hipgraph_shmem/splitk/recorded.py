"""The split-K launches of one graph: their counters and workspaces, and those of each exec.

Counters of a graph stand side by side in a segment, which one memset node zeroes at each replay;
an edge leads from it to every kernel node that uses the segment, whatever stream it was recorded
on. No two execs share words: a second exec leases memory of its own and its nodes are pointed at
it.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from ..graph.graph import Graph
from ..graph.nodes import MemsetNode, Node
from ..graph.params import ArgumentBlock, kernel_node_params, memset_node_params
from ..graph.ranges import Range
from ..graph.recording import CounterSlot, Loan
from ..hip_abi import NodeKind
from ..runtime import call
from .arena import ALIGNMENT, Lease
from .counters import CounterPool, Scratch
from .work import WORD, Step

__all__ = ["Place", "RecordedLaunches"]

#: Bytes that an open segment asks for behind its first slot, so that it can stay in one piece.
_SPARE = 64 << 10


@dataclass(slots=True)
class _Segment:
    """Counter words of one graph that one memset node zeroes."""

    lease: Lease
    used: int
    memset: MemsetNode | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a launch's scratch memory is, by index, so that it can be found in any exec's memory.

    Attributes:
        segment: Which segment its counters are in; None without counters.
        offset: Bytes from the start of the segment.
        words: How many counters it has.
        workspace: Which workspace its partials are in; None without partials.
    """

    segment: int | None
    offset: int
    words: int
    workspace: int | None


@dataclass(frozen=True, slots=True)
class _Use:
    node: int
    step: Step
    place: Place


class _Loan:
    """The memory of one exec, and the argument storage of its nodes."""

    __slots__ = ("__weakref__", "_uses", "blocks", "counter_memory", "segments", "workspaces")

    def __init__(
        self,
        segments: tuple[Lease, ...],
        workspaces: tuple[Lease, ...],
        uses: Sequence[_Use] = (),
    ) -> None:
        self.segments = segments
        self.workspaces = workspaces
        self.counter_memory = _ranges(segments)
        self.blocks: list[ArgumentBlock] = []
        self._uses = uses

    @property
    def counters(self) -> Sequence[CounterSlot]:
        """The counters of each launch."""
        return [
            CounterSlot(use.step.kernel.name, self.scratch(use.place).counters, use.place.words)
            for use in self._uses
            if use.place.words
        ]

    def scratch(self, place: Place) -> Scratch:
        """Return the addresses of a place in this memory."""
        counters = workspace = 0
        if place.segment is not None:
            counters = self.segments[place.segment].address + place.offset
        if place.workspace is not None:
            workspace = self.workspaces[place.workspace].address
        return Scratch(counters, workspace)


class RecordedLaunches:
    """The split-K launches of a graph on one device."""

    def __init__(self, pool: CounterPool) -> None:
        """Start without launches."""
        self._pool = pool
        self._segments: list[_Segment] = []
        self._workspaces: list[Lease] = []
        self._workspace_of: dict[Hashable, int] = {}
        self._uses: list[_Use] = []
        self._template: weakref.ref[_Loan] | None = None

    @property
    def counters(self) -> Sequence[CounterSlot]:
        """The counters that the graph's own nodes name, launch by launch."""
        return self._own(self._uses).counters

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The memory of these counters."""
        return _ranges(segment.lease for segment in self._segments)

    def place(self, counter_words: int, workspace_bytes: int, order: Hashable) -> Place:
        """Reserve memory for a launch.

        Launches with the same `order` (a stream) run one after the other and share a workspace.
        """
        segment, offset = None, 0
        if counter_words:
            segment, offset = self._slot(counter_words * WORD)
        workspace = None
        if workspace_bytes:
            workspace = self._workspace(workspace_bytes, order)
        return Place(segment, offset, counter_words, workspace)

    def scratch(self, place: Place) -> Scratch:
        """Return the addresses that the graph's own nodes name."""
        return self._own().scratch(place)

    def note(self, node: int, step: Step, place: Place) -> None:
        """Remember which node a launch became."""
        self._uses.append(_Use(node, step, place))

    def complete(self, graph: Graph) -> None:
        """Add the memset node of each new segment, and its edges."""
        for index, segment in enumerate(self._segments):
            if segment.memset is not None:
                continue
            users = [use.node for use in self._uses if use.place.segment == index]
            self._pool.counters.trim(segment.lease, segment.used)
            words = segment.used // WORD
            segment.memset = graph.add_memset(segment.lease.address, 0, words, width=WORD)
            after = [Node(user, NodeKind.KERNEL) for user in users]
            graph.add_dependencies([segment.memset] * len(after), after)

    def lend(self, graph_exec: int) -> Loan:
        """Give the graph's own memory to its first exec, new memory to others beside it."""
        if self._template is None or self._template() is None:
            loan = self._own(tuple(self._uses))
            self._template = weakref.ref(loan)
            return loan
        loan = _Loan(
            tuple(self._pool.counters.take(segment.used) for segment in self._segments),
            tuple(self._pool.workspace.take(lease.nbytes) for lease in self._workspaces),
            tuple(self._uses),
        )
        self._point(graph_exec, loan)
        return loan

    def _own(self, uses: Sequence[_Use] = ()) -> _Loan:
        return _Loan(
            tuple(segment.lease for segment in self._segments),
            tuple(self._workspaces),
            uses,
        )

    def _point(self, graph_exec: int, loan: _Loan) -> None:
        """Make the nodes of an exec use other memory than the graph's own."""
        for segment, lease in zip(self._segments, loan.segments, strict=True):
            if segment.memset is not None:
                fill = memset_node_params(lease.address, 0, segment.used // WORD, width=WORD)
                node = segment.memset.handle
                call("hipGraphExecMemsetNodeSetParams", graph_exec, node, ctypes.byref(fill))
        for use in self._uses:
            scratch = loan.scratch(use.place)
            block = ArgumentBlock(use.step.arguments(scratch.counters, scratch.workspace))
            loan.blocks.append(block)
            params = kernel_node_params(use.step.kernel.handle, use.step.config, block)
            call("hipGraphExecKernelNodeSetParams", graph_exec, use.node, ctypes.byref(params))

    def _slot(self, nbytes: int) -> tuple[int, int]:
        """Return (segment, offset) of words behind the last slot, or in a new segment."""
        wanted = -(-nbytes // ALIGNMENT) * ALIGNMENT
        if not self._segments or not self._fits(self._segments[-1], wanted):
            lease = self._pool.counters.take(wanted, spare=_SPARE)
            self._segments.append(_Segment(lease, 0))
        segment = self._segments[-1]
        offset = segment.used
        segment.used += wanted
        return len(self._segments) - 1, offset

    def _fits(self, segment: _Segment, wanted: int) -> bool:
        if segment.memset is not None:
            return False
        missing = segment.used + wanted - segment.lease.nbytes
        return missing <= 0 or self._pool.counters.extend(segment.lease, missing)

    def _workspace(self, nbytes: int, order: Hashable) -> int:
        index = self._workspace_of.get(order)
        if index is None or self._workspaces[index].nbytes < nbytes:
            self._workspaces.append(self._pool.workspace.take(nbytes))
            index = self._workspace_of[order] = len(self._workspaces) - 1
        return index


def _ranges(leases: Iterable[Lease]) -> tuple[Range, ...]:
    return tuple(Range(lease.address, lease.address + lease.nbytes) for lease in leases)
