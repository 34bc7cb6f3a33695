"""What goes with a graph beyond its nodes: kept objects, and memory that each exec needs alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ..access import Access
from ..errors import GraphError
from ..handle import Handle
from .ranges import Range, merged, without

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Attachment", "CounterSlot", "Loan", "Recording", "is_gone", "refuse_closed"]


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

    def complete(self, graph: Graph) -> None:
        """Add the nodes and edges still missing; called before the graph is looked at or used."""

    def lend(self, graph_exec: int) -> Loan:
        """Give a new exec memory of its own; return what it must hold until closed and idle."""


_A = TypeVar("_A", bound=Attachment)


class Recording:
    """What the nodes of one graph need alive, gathered while they are recorded."""

    __slots__ = ("_accesses", "_attachments", "_kept")

    def __init__(self) -> None:
        self._accesses: dict[int, Access] = {}
        self._kept: dict[int, object] = {}
        self._attachments: dict[Hashable, Attachment] = {}

    def keep(self, *objects: object) -> None:
        """Hold objects as long as the graph and the execs made from it."""
        self._kept.update((id(kept), kept) for kept in objects)

    @property
    def kept(self) -> tuple[object, ...]:
        """The objects held."""
        return tuple(self._kept.values())

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

    def attachment(self, key: Hashable, make: Callable[[], _A]) -> _A:
        """Return the one attachment under a key, made at the first use."""
        if key not in self._attachments:
            self._attachments[key] = make()
        return cast("_A", self._attachments[key])

    def complete(self, graph: Graph) -> None:
        """Let every attachment add the nodes and edges still missing."""
        for attachment in self._attachments.values():
            attachment.complete(graph)

    def lend(self, graph_exec: int) -> tuple[Loan, ...]:
        """Give a new exec its own memory; return what it must hold."""
        return tuple(each.lend(graph_exec) for each in self._attachments.values())

    def counter_memory(self, loans: Iterable[Loan]) -> tuple[Range, ...]:
        """Return the counters' memory of an exec: that of its loans, not the graph's own."""
        declared = merged(
            each
            for access in self._accesses.values()
            for region in access.counters
            for each in region.ranges()
        )
        replaced = (each for owner in self._attachments.values() for each in owner.counter_memory)
        lent = (each for loan in loans for each in loan.counter_memory)
        return merged((*without(declared, replaced), *lent))

    def clear(self) -> None:
        """Let go of everything."""
        self._accesses.clear()
        self._kept.clear()
        self._attachments.clear()


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
