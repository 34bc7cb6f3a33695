"""Order: which nodes of a graph always run before which."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Sequence

from .nodes import Node

__all__ = ["Order"]


class Order:
    """The order that edges give the nodes, which are numbered as they are listed.

    Args:
        nodes: All nodes.
        edges: Pairs (before, after).

    Attributes:
        earlier: Of each node the nodes that run before it, as the bits of one number.
        later: Of each node the nodes that run behind it.
        apart: Of each node the nodes that may run at the same time.
    """

    __slots__ = ("apart", "earlier", "later")

    def __init__(self, nodes: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> None:
        number = {node.handle: index for index, node in enumerate(nodes)}
        before: list[set[int]] = [set() for _ in nodes]
        behind: list[set[int]] = [set() for _ in nodes]
        for start, end in edges:
            before[number[end.handle]].add(number[start.handle])
            behind[number[start.handle]].add(number[end.handle])
        sequence = tuple(graphlib.TopologicalSorter(dict(enumerate(before))).static_order())
        self.earlier = _reach(before, sequence)
        self.later = _reach(behind, reversed(sequence))
        everyone = (1 << len(nodes)) - 1
        self.apart = [
            everyone & ~(self.earlier[index] | self.later[index] | 1 << index)
            for index in range(len(nodes))
        ]

    def is_before(self, one: int, other: int) -> bool:
        """Tell whether a path leads from one node to another."""
        return bool(self.earlier[other] >> one & 1)


def _reach(direct: Sequence[set[int]], sequence: Iterable[int]) -> list[int]:
    """Return all that each node reaches; in `sequence` the nodes it reaches directly come first."""
    reached = [0] * len(direct)
    for index in sequence:
        for each in direct[index]:
            reached[index] |= reached[each] | 1 << each
    return reached
