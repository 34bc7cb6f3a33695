"""Ranges of bytes: what several have in common, what is left of one without others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Range", "Touch", "merged", "overlaps", "without"]


class Range(NamedTuple):
    """Bytes from `start` up to, not including, `stop`."""

    start: int
    stop: int

    def __str__(self) -> str:
        return f"{self.start:#x}..{self.stop - 1:#x}"


class Touch(NamedTuple):
    """A range that a node, given by its number, touches."""

    start: int
    stop: int
    node: int


def merged(ranges: Iterable[tuple[int, int]]) -> tuple[Range, ...]:
    """Return the same bytes as ranges in order that neither overlap nor meet."""
    found: list[Range] = []
    for start, stop in sorted(ranges):
        if start >= stop:
            continue
        if found and start <= found[-1].stop:
            found[-1] = Range(found[-1].start, max(found[-1].stop, stop))
        else:
            found.append(Range(start, stop))
    return tuple(found)


def without(ranges: Iterable[Range], removed: Iterable[Range]) -> tuple[Range, ...]:
    """Return the bytes of `ranges` that are in none of `removed`."""
    left = merged(ranges)
    for start, stop in merged(removed):
        pieces: list[tuple[int, int]] = []
        for piece in left:
            pieces.append((piece.start, min(piece.stop, start)))
            pieces.append((max(piece.start, stop), piece.stop))
        left = merged(pieces)
    return left


def overlaps(
    ones: Iterable[Touch],
    others: Iterable[Touch],
    partners: tuple[Sequence[int], Sequence[int]] | None = None,
) -> Iterator[tuple[int, int, Range]]:
    """Yield (node of `ones`, node of `others`, common bytes) wherever two touches overlap.

    Args:
        ones: Touches.
        others: Touches that they are compared with.
        partners: For each node, as one of `ones` and as one of `others`, the nodes of the other
            kind that matter, as the bits of one number; None: all.
    """
    touches = [(each, 0) for each in ones] + [(each, 1) for each in others]
    sides = _Open(), _Open()
    for touch, side in sorted(touches):
        across = sides[1 - side]
        across.close_before(touch.start)
        wanted = partners[side][touch.node] if partners is not None else -1
        # Nearly all that touch the same bytes are ordered: most touches look at no partner.
        for each in across.touches if across.nodes & wanted else ():
            if wanted >> each.node & 1:
                common = Range(touch.start, min(each.stop, touch.stop))
                pair = (touch.node, each.node) if side == 0 else (each.node, touch.node)
                yield *pair, common
        sides[side].add(touch)


class _Open:
    """The touches that began before the place a sweep has reached and end behind it."""

    __slots__ = ("_first_stop", "nodes", "touches")

    def __init__(self) -> None:
        self.touches: list[Touch] = []
        self.nodes = 0
        self._first_stop = 0

    def add(self, touch: Touch) -> None:
        self._first_stop = min(self._first_stop, touch.stop) if self.touches else touch.stop
        self.touches.append(touch)
        self.nodes |= 1 << touch.node

    def close_before(self, place: int) -> None:
        if self.touches and self._first_stop <= place:
            left = [each for each in self.touches if each.stop > place]
            self.touches, self.nodes = [], 0
            for each in left:
                self.add(each)
