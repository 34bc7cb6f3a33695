"""ExecNeeds: what the nodes of one exec need alive, and the memory that it alone uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

from ..access import Access
from ..stream import Event
from .ranges import Range, merged
from .recording import CounterSlot, Loan, Recording, declared_counters
from .retired import Holding

__all__ = ["ExecNeeds"]


class ExecNeeds:
    """Objects and loans by the node that addresses them in the exec.

    Attributes:
        managed: The nodes that name memory of a loan.
    """

    __slots__ = ("_accesses", "_holding", "_loans", "managed")

    def __init__(self, *objects: object) -> None:
        self.managed: frozenset[int] = frozenset()
        self._accesses: dict[int, Access] = {}
        self._loans: dict[Hashable, Loan] = {}
        self._holding = Holding()
        self._holding.hold(0, objects)

    @property
    def event(self) -> Event | None:
        """Recorded after the last launch; what is held outlives this object until then."""
        return self._holding.event

    @event.setter
    def event(self, event: Event) -> None:
        self._holding.event = event

    @property
    def objects(self) -> tuple[object, ...]:
        """Everything that is held."""
        return self._holding.objects

    @property
    def counters(self) -> tuple[CounterSlot, ...]:
        """The counters of each split-K launch."""
        return tuple(slot for loan in self._loans.values() for slot in loan.counters)

    @property
    def counter_memory(self) -> tuple[Range, ...]:
        """The memory of all counters, lent or declared."""
        lent = (each for loan in self._loans.values() for each in loan.counter_memory)
        return merged((*declared_counters(self._accesses.values()), *lent))

    def take(self, recording: Recording, lent: Iterable[Loan], places: Mapping[int, int]) -> None:
        """Hold what a graph's nodes need, instead of what was held before.

        Args:
            recording: What they need.
            lent: What the recording lent to the exec.
            places: For each node of the graph, the node that addresses it in the exec.
        """
        self._holding.drop()
        kept: dict[int, list[object]] = defaultdict(list)
        for node, objects in recording.kept_by_node.items():
            kept[places.get(node, 0)] += objects
        for place, held in kept.items():
            self._holding.hold(place, held)
        self._loans = {}
        for key, loan in zip(recording.attached, lent, strict=True):
            self.lend(places.get(key, key) if isinstance(key, int) else key, loan)
        self.managed = frozenset(places[node] for node in recording.managed if node in places)
        self._accesses = {
            places[node]: access
            for node, access in recording.unmanaged_accesses.items()
            if node in places
        }

    def lend(self, key: Hashable, loan: Loan) -> None:
        """Hold a loan, instead of the one under the same key."""
        self._loans[key] = loan
        self._holding.hold(("loan", key), (loan,))

    def replace(self, node: int, objects: Iterable[object], access: Access | None = None) -> None:
        """Hold other objects for a node than before; forget what was declared of it."""
        self._holding.hold(node, objects)
        self._accesses.pop(node, None)
        if access is not None:
            self._accesses[node] = access
