"""The split-K launches of one graph: their counters and workspaces, and those of each exec.

Counters of a graph stand side by side in a segment, which one memset node zeroes at each replay;
an edge leads from it to every kernel node that uses the segment, whatever stream it was recorded
on. No two execs share words: a second exec leases memory of its own and its nodes are pointed at
it.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..access import Access
from ..graph.graph import Graph
from ..graph.nodes import MemsetNode, Node
from ..graph.params import ArgumentBlock, kernel_node_params, memset_node_params
from ..graph.ranges import Range
from ..graph.recording import CounterSlot, Loan, Recording
from ..graph.setter import Setter
from ..hip_abi import NodeKind
from .arena import ALIGNMENT, Lease
from .counters import CounterPool, Scratch, pool_of
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
        workspace_bytes: How much of that.
    """

    segment: int | None
    offset: int
    words: int
    workspace: int | None
    workspace_bytes: int


@dataclass(frozen=True, slots=True)
class _Use:
    node: int
    step: Step
    place: Place

    def arguments(self, scratch: Scratch) -> ArgumentBlock:
        """Pack the launch's arguments."""
        return ArgumentBlock(self.step.arguments(scratch.counters, scratch.workspace))

    def access(self, scratch: Scratch) -> Access:
        """Say what the launch touches."""
        step, place = self.step, self.place
        return Access(
            reads=step.reads,
            writes=(*step.writes, (scratch.workspace, place.workspace_bytes)),
            atomics=step.atomics,
            counters=((scratch.counters, WORD * place.words),),
        )


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

    @classmethod
    def of(cls, recording: Recording, device: int) -> RecordedLaunches:
        """Return those of a graph's recording."""
        return recording.attachment((cls, device), lambda: cls(pool_of(device)))

    @property
    def counters(self) -> Sequence[CounterSlot]:
        """The counters that the graph's own nodes name, launch by launch."""
        return self._own(self._uses).counters

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The memory of these counters."""
        return _ranges(segment.lease for segment in self._segments)

    @property
    def nodes(self) -> Collection[int]:
        """The kernel nodes and the zero-fills."""
        fills = (each.memset.handle for each in self._segments if each.memset is not None)
        return {*(use.node for use in self._uses), *fills}

    @property
    def lent(self) -> bool:
        """Whether a live exec has the memory that the graph's own nodes name."""
        return self._template is not None and self._template() is not None

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
        return Place(segment, offset, counter_words, workspace, workspace_bytes)

    def scratch(self, place: Place) -> Scratch:
        """Return the addresses that the graph's own nodes name."""
        return self._own().scratch(place)

    def note(self, recording: Recording, node: int, step: Step, place: Place) -> None:
        """Remember which node a launch became, and declare what it touches."""
        use = _Use(node, step, place)
        self._uses.append(use)
        recording.declare(node, use.access(self.scratch(place)))

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
        if not self.lent:
            loan = self._own(tuple(self._uses))
            self._template = weakref.ref(loan)
            return loan
        fresh = self._fresh(self._uses, tuple(each.memset for each in self._segments))
        loan = fresh._own(fresh._uses)
        loan.blocks += fresh._point(Setter(graph_exec)).values()
        return loan

    def copy(self, recording: Recording, twins: Mapping[int, int]) -> None:
        """Attach the like to a clone's recording, with memory of its own that its nodes name."""
        fills = (
            replace(each.memset, handle=twins[each.memset.handle]) if each.memset else None
            for each in self._segments
        )
        uses = [replace(use, node=twins[use.node]) for use in self._uses]
        fresh = self._fresh(uses, tuple(fills))
        fresh._workspace_of = dict(self._workspace_of)
        recording.attachment((RecordedLaunches, self._pool.device), lambda: fresh)
        for node, block in fresh._point(Setter()).items():
            recording.keep(block, node=node)
        for use in uses:
            recording.declare(use.node, use.access(fresh.scratch(use.place)))

    def _fresh(self, uses: list[_Use], fills: Sequence[MemsetNode | None]) -> RecordedLaunches:
        """Return the same launches in other memory; their nodes do not name it yet."""
        fresh = RecordedLaunches(self._pool)
        fresh._uses = list(uses)
        for segment, fill in zip(self._segments, fills, strict=True):
            lease = self._pool.counters.take(segment.used)
            fresh._segments.append(_Segment(lease, segment.used, fill))
        fresh._workspaces = [self._pool.workspace.take(each.nbytes) for each in self._workspaces]
        return fresh

    def _own(self, uses: Sequence[_Use] = ()) -> _Loan:
        return _Loan(
            tuple(segment.lease for segment in self._segments),
            tuple(self._workspaces),
            uses,
        )

    def _point(self, setter: Setter) -> dict[int, ArgumentBlock]:
        """Make nodes use this memory; return the kernel nodes' arguments, to be kept."""
        for segment in self._segments:
            if segment.memset is not None:
                words = segment.used // WORD
                fill = memset_node_params(segment.lease.address, 0, words, width=WORD)
                setter.memset(segment.memset.handle, fill)
        blocks = {}
        for use in self._uses:
            block = blocks[use.node] = use.arguments(self.scratch(use.place))
            params = kernel_node_params(use.step.kernel.handle, use.step.config, block)
            setter.kernel(use.node, params)
        return blocks

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
