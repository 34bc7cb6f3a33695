"""Dirty counters: words that must be zero when a node starts, and that nothing zeroes before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .footprint import Footprint
from .order import Order
from .ranges import Range, Touch, merged, overlaps, without

__all__ = ["DirtyCounter", "dirty_counters", "touches"]


@dataclass(frozen=True, slots=True)
class DirtyCounter:
    """Counters of one node that may not be zero when it starts.

    Attributes:
        user: The node's number.
        ranges: The counters.
        writers: Nodes of the same graph that change them and do not zero them.
    """

    user: int
    ranges: tuple[Range, ...]
    writers: tuple[int, ...]


def dirty_counters(footprints: Sequence[Footprint], order: Order) -> Iterator[DirtyCounter]:
    """Look for counters that no fill of the graph zeroes behind all other writes before them."""
    changes = touches(footprints, lambda each: (*each.writes, *each.atomics, *each.counters))
    earlier: dict[int, list[tuple[int, Range]]] = defaultdict(list)
    before = order.earlier, order.later
    counters = touches(footprints, lambda each: each.counters)
    for user, writer, common in overlaps(counters, changes, before):
        earlier[user].append((writer, common))
    for user, footprint in enumerate(footprints):
        dirty = _not_zeroed(footprint.counters, earlier[user], footprints, order)
        if dirty:
            writers = {
                writer
                for writer, common in earlier[user]
                if _meets(common, dirty) and not footprints[writer].zeroes
            }
            yield DirtyCounter(user, dirty, tuple(sorted(writers)))


def touches(
    footprints: Sequence[Footprint], ranges: Callable[[Footprint], Iterable[Range]]
) -> list[Touch]:
    """Return the touches of some kind, by the number of the node."""
    return [
        Touch(*found, number)
        for number, each in enumerate(footprints)
        for found in merged(ranges(each))
    ]


def _not_zeroed(
    counters: tuple[Range, ...],
    earlier: Sequence[tuple[int, Range]],
    footprints: Sequence[Footprint],
    order: Order,
) -> tuple[Range, ...]:
    """Return the counters without the bytes that a fill zeroes and nothing changes thereafter."""
    left = counters
    fills = {writer for writer, _ in earlier if footprints[writer].zeroes}
    for fill in sorted(fills):
        spoiled = (
            common
            for writer, common in earlier
            if writer not in fills and not order.is_before(writer, fill)
        )
        left = without(left, without(footprints[fill].writes, spoiled))
    return left


def _meets(one: Range, others: Iterable[Range]) -> bool:
    return any(one.start < other.stop and other.start < one.stop for other in others)
