"""Ranges of bytes: what several have in common, what is left of one without others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


def overlaps(ones: Iterable[Touch], others: Iterable[Touch]) -> Iterator[tuple[int, int, Range]]:
    """Yield (node of `ones`, node of `others`, common bytes) wherever two touches overlap."""
    touches = [(each, 0) for each in ones] + [(each, 1) for each in others]
    open_touches: tuple[list[Touch], list[Touch]] = ([], [])
    for touch, side in sorted(touches):
        across = open_touches[1 - side]
        across[:] = [each for each in across if each.stop > touch.start]
        for each in across:
            common = Range(touch.start, min(each.stop, touch.stop))
            pair = (touch.node, each.node) if side == 0 else (each.node, touch.node)
            yield *pair, common
        open_touches[side].append(touch)
