"""What goes with a graph beyond its nodes: kept objects, and memory that each exec needs alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ..access import Access
from ..errors import GraphError
from ..handle import Handle
from .ranges import Range, merged

if TYPE_CHECKING:
    from .graph import Graph

__all__ = [
    "Attachment",
    "CounterSlot",
    "Loan",
    "Recording",
    "declared_counters",
    "is_gone",
    "refuse_closed",
]


@dataclass(frozen=True, slots=True)
class CounterSlot:
    """Counter words that one kernel node of a graph exec uses.

    Attributes:
        kernel: The kernel's name.
        address: The first word.
        words: 32-bit words.
    """

    kernel: str
    address: int
    words: int


class Loan(Protocol):
    """What an exec got from an attachment; it goes back when nobody holds this."""

    @property
    def counters(self) -> Sequence[CounterSlot]:
        """The counters of each launch."""

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The memory of the counters, which no other exec has."""


class Attachment(Protocol):
    """Memory that nodes of a graph name and that no two graph execs may share."""

    @property
    def counters(self) -> Sequence[CounterSlot]:
        """The counters that the graph's own nodes name, launch by launch."""

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The memory of these counters."""

    @property
    def nodes(self) -> Collection[int]:
        """The nodes that name the memory; nobody else edits them."""

    @property
    def lent(self) -> bool:
        """Whether a live exec has the memory that the graph's own nodes name."""

    def complete(self, graph: Graph) -> None:
        """Add the nodes and edges still missing; called before the graph is looked at or used."""

    def lend(self, graph_exec: int) -> Loan:
        """Give a new exec memory of its own; return what it must hold until closed and idle.

        While nobody has the memory that the graph's own nodes name, that is what it gets.
        """

    def copy(self, recording: Recording, twins: Mapping[int, int]) -> None:
        """Attach the like to a clone's recording, with memory of its own that its nodes name.

        Args:
            recording: What the clone needs, as far as it is copied.
            twins: The clone's node for each node of the graph.
        """


_A = TypeVar("_A", bound=Attachment)

#: What is kept and declared for no single node.
_WHOLE = 0


class Recording:
    """What the nodes of one graph need alive, gathered while they are recorded."""

    __slots__ = ("_accesses", "_attachments", "_kept")

    def __init__(self) -> None:
        self._accesses: dict[int, Access] = {}
        self._kept: dict[int, dict[int, object]] = {}
        self._attachments: dict[Hashable, Attachment] = {}

    def keep(self, *objects: object, node: int = _WHOLE) -> None:
        """Hold objects as long as the graph and the execs made from it.

        Args:
            *objects: What to hold.
            node: The handle of the node that needs them, up to its next `replace`; 0: none alone.
        """
        self._kept.setdefault(node, {}).update((id(kept), kept) for kept in objects)

    def replace(self, node: int, objects: Iterable[object], access: Access | None = None) -> None:
        """Hold other objects for a node than before; forget what was declared of it."""
        self._kept[node] = {id(kept): kept for kept in objects}
        self._accesses.pop(node, None)
        if access is not None:
            self._accesses[node] = access

    def forget(self, node: int) -> None:
        """Let go of what a node needed that is no more."""
        self._kept.pop(node, None)
        self._accesses.pop(node, None)
        self._attachments.pop(node, None)

    @property
    def kept(self) -> tuple[object, ...]:
        """The objects held."""
        held = {key: kept for each in self._kept.values() for key, kept in each.items()}
        return tuple(held.values())

    @property
    def kept_by_node(self) -> dict[int, tuple[object, ...]]:
        """The objects held for each node, and under 0 those held for no single one."""
        return {node: tuple(held.values()) for node, held in self._kept.items()}

    def declare(self, node: int, access: Access) -> None:
        """Say what a node touches, by its handle; `Graph.check` takes it for the whole truth."""
        self._accesses[node] = access

    @property
    def accesses(self) -> Mapping[int, Access]:
        """What was declared, by node handle."""
        return MappingProxyType(self._accesses)

    @property
    def counters(self) -> tuple[CounterSlot, ...]:
        """The counters that the graph's own nodes name."""
        return tuple(slot for each in self._attachments.values() for slot in each.counters)

    @property
    def lent(self) -> bool:
        """Whether a live exec has memory that the graph's own nodes name."""
        return any(each.lent for each in self._attachments.values())

    @property
    def managed(self) -> frozenset[int]:
        """The nodes that name memory which an attachment gives out."""
        return frozenset(node for each in self._attachments.values() for node in each.nodes)

    @property
    def unmanaged_accesses(self) -> dict[int, Access]:
        """What was declared of the other nodes."""
        managed = self.managed
        return {node: each for node, each in self._accesses.items() if node not in managed}

    @property
    def attached(self) -> tuple[Hashable, ...]:
        """The keys of the attachments, in the order of what `lend` returns."""
        return tuple(self._attachments)

    def attachment(self, key: Hashable, make: Callable[[], _A]) -> _A:
        """Return the one attachment under a key, made at the first use.

        The key of what belongs to one node is the node's handle.
        """
        if key not in self._attachments:
            self._attachments[key] = make()
        return cast("_A", self._attachments[key])

    def child(self, node: int) -> Recording:
        """Return what is known of the graph in a child node; nothing, if others added it."""
        return getattr(self._attachments.get(node), "recording", Recording())

    def complete(self, graph: Graph) -> None:
        """Let every attachment add the nodes and edges still missing."""
        for attachment in self._attachments.values():
            attachment.complete(graph)

    def lend(self, graph_exec: int) -> tuple[Loan, ...]:
        """Give a new exec its own memory; return what it must hold."""
        return tuple(each.lend(graph_exec) for each in self._attachments.values())

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The memory of these counters."""
        return merged(each for owner in self._attachments.values() for each in owner.counter_memory)

    def copy(self, twins: Mapping[int, int]) -> Recording:
        """Return what a clone of the graph needs; its nodes name memory of their own afterwards.

        Args:
            twins: The clone's node for each node of the graph.
        """
        twin = Recording()
        for node, objects in self.kept_by_node.items():
            twin.keep(*objects, node=twins.get(node, _WHOLE))
        twin._accesses = {
            twins[node]: access for node, access in self._accesses.items() if node in twins
        }
        for attachment in self._attachments.values():
            attachment.copy(twin, twins)
        return twin

    def clear(self) -> None:
        """Let go of everything."""
        self._accesses.clear()
        self._kept.clear()
        self._attachments.clear()


def declared_counters(accesses: Iterable[Access]) -> tuple[Range, ...]:
    """Return the counters that launches were declared to use."""
    return merged(
        each for access in accesses for region in access.counters for each in region.ranges()
    )


def is_gone(kept: object) -> bool:
    """Tell whether something kept is memory or a module that was closed, or lies in one."""
    # A kernel and a symbol are as good as their module. Symmetric memory is no Handle.
    owner: Any = getattr(kept, "module", kept)
    return bool(getattr(owner, "frees_memory", False) and owner.closed)


def refuse_closed(kept: Iterable[object], user: Handle) -> None:
    """Raise if memory or a module that nodes name was closed; streams and events may be."""
    for each in kept:
        if is_gone(each):
            raise GraphError(
                f"{each!r} is named by a node of {user!r}",
                "close memory and modules after the graphs and execs that use them",
            )
