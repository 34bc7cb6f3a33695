"""Slices of a timeline for the nodes of graph launches, on tracks where none cuts another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..hip_abi import NodeKind

__all__ = ["Tracks", "node_slices"]


class Tracks:
    """The numbers of a timeline's tracks, given out by device and name."""

    def __init__(self) -> None:
        """Start without tracks."""
        self._numbers: dict[tuple[int, str], int] = {}

    def of(self, device: int, name: str) -> int:
        """Return the number of a track, from 1; a name has one on each device."""
        return self._numbers.setdefault((device, name), len(self._numbers) + 1)

    @property
    def names(self) -> list[tuple[int, int, str]]:
        """Device, number and name of each."""
        return [(device, number, name) for (device, name), number in self._numbers.items()]


def node_slices(
    spans: Iterable[Mapping[str, Any]], tracks: Tracks, start: float
) -> Iterator[dict[str, Any]]:
    """Yield a trace event for each node that was reached.

    A node lies on the first track of its stream where it follows the others, or lies within one as
    a child graph's nodes do.

    Args:
        spans: As `emulated.take_timeline` returns them.
        tracks: Where the tracks get their numbers.
        start: The trace's zero on the monotonic clock, in seconds.
    """
    open_ends: dict[tuple[int, int], list[list[float]]] = {}
    reached = (span for span in spans if span["begin"])
    for span in sorted(reached, key=lambda span: (span["begin"], -_end(span))):
        device, stream = span["device"], span["stream"]
        lanes = open_ends.setdefault((device, stream), [])
        lane = _place(lanes, span["begin"], _end(span))
        beside = f" beside {lane}" if lane else ""
        event = {
            "name": span["kernel"] or NodeKind(span["kind"]).name.lower(),
            "cat": "node",
            "pid": device,
            "tid": tracks.of(device, f"stream {stream:#x} nodes{beside}"),
            "ts": span["begin"] / 1e3 - start * 1e6,
            "args": {},
        }
        if span["end"]:
            yield event | {"ph": "X", "dur": (span["end"] - span["begin"]) / 1e3}
        else:
            yield event | {"ph": "B"}


def _end(span: Mapping[str, Any]) -> float:
    return span["end"] or float("inf")


def _place(lanes: list[list[float]], begin: float, end: float) -> int:
    """Put a slice on a lane, whose slices are open until these ends; return which."""
    for index, ends in enumerate(lanes):
        while ends and ends[-1] <= begin:
            ends.pop()
        if not ends or end <= ends[-1]:
            ends.append(end)
            return index
    lanes.append([end])
    return len(lanes) - 1
