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
    """

    __slots__ = ("_before",)

    def __init__(self, nodes: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> None:
        number = {node.handle: index for index, node in enumerate(nodes)}
        direct: dict[int, set[int]] = {index: set() for index in range(len(nodes))}
        for before, after in edges:
            direct[number[after.handle]].add(number[before.handle])
        # Of each node the set of all that run before it, as the bits of one number.
        self._before = [0] * len(nodes)
        for index in graphlib.TopologicalSorter(direct).static_order():
            for earlier in direct[index]:
                self._before[index] |= self._before[earlier] | 1 << earlier

    def is_before(self, one: int, other: int) -> bool:
        """Tell whether a path leads from one node to another."""
        return bool(self._before[other] >> one & 1)

    def is_ordered(self, one: int, other: int) -> bool:
        """Tell whether a path leads between two nodes, either way, or they are one node."""
        return one == other or self.is_before(one, other) or self.is_before(other, one)
