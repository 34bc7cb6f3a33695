"""Slices of nodes, placed on tracks."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

from hipgraph_shmem.graph.node_slices import Tracks, node_slices


def span(begin: int, end: int, stream: int = 16) -> dict[str, Any]:
    facts = {"kind": 0, "kernel": f"{begin}-{end}", "device": 0, "stream": stream}
    return facts | {"begin": begin * 1000, "end": end * 1000}


def test_slices_never_cut_each_other_on_a_track() -> None:
    """What a viewer asks for: of two slices of a track, one lies in the other or before it."""
    random = Random(7)
    spans = [span(begin, begin + random.randrange(1, 40)) for begin in range(1, 400, 3)]
    spans += [span(5, 0), span(0, 0), span(10, 20, stream=32)]
    random.shuffle(spans)
    tracks = Tracks()
    slices = list(node_slices(spans, tracks, 0.0))
    assert len(slices) == len(spans) - 1, "a node that was not reached has none"
    by_track: dict[int, list[tuple[float, float]]] = {}
    for each in slices:
        end = each["ts"] + each["dur"] if each["ph"] == "X" else float("inf")
        by_track.setdefault(each["tid"], []).append((each["ts"], end))
    pairs = (pair for track in by_track.values() for pair in itertools.combinations(track, 2))
    for pair in pairs:
        (_, end), (later, last) = sorted(pair, key=lambda each: (each[0], -each[1]))
        assert last <= end or end <= later
    assert {name for _, _, name in tracks.names} >= {"stream 0x10 nodes", "stream 0x20 nodes"}
    assert len(by_track) == len(tracks.names)


def test_a_child_lies_within_its_node() -> None:
    tracks = Tracks()
    slices = list(node_slices([span(1, 9), span(2, 4), span(4, 9), span(9, 10)], tracks, 0.0))
    assert {each["tid"] for each in slices} == {1}
    assert tracks.names == [(0, 1, "stream 0x10 nodes")]
    slices = list(node_slices([span(1, 9), span(2, 10), span(3, 4)], Tracks(), 0.0))
    assert [each["tid"] for each in slices] == [1, 2, 1]


def test_of_two_that_begin_at_once_the_longer_holds_the_other() -> None:
    slices = list(node_slices([span(1, 4), span(1, 9)], Tracks(), 0.0))
    assert [(each["name"], each["tid"]) for each in slices] == [("1-9", 1), ("1-4", 1)]


def test_times_are_microseconds_of_the_trace() -> None:
    (each,) = node_slices([span(30, 42)], Tracks(), 10e-6)
    assert (round(each["ts"], 6), each["dur"]) == (20, 12)
