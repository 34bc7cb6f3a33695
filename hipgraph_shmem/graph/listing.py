"""The handles of a graph's nodes and edges, in HIP's order."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

from ..runtime import call

__all__ = ["edge_handles", "handle_array", "node_handles", "twins"]


def node_handles(graph: int) -> tuple[int, ...]:
    """Return the nodes in an order in which they could run one by one."""
    count = ctypes.c_size_t()
    call("hipGraphGetNodes", graph, None, ctypes.byref(count))
    handles = (ctypes.c_void_p * count.value)()
    if count.value:
        call("hipGraphGetNodes", graph, handles, ctypes.byref(count))
    return tuple(handle or 0 for handle in handles)


def edge_handles(graph: int) -> tuple[tuple[int, int], ...]:
    """Return pairs (before, after)."""
    count = ctypes.c_size_t()
    call("hipGraphGetEdges", graph, None, None, ctypes.byref(count))
    before, after = ((ctypes.c_void_p * count.value)() for _ in range(2))
    if count.value:
        call("hipGraphGetEdges", graph, before, after, ctypes.byref(count))
    return tuple((start or 0, end or 0) for start, end in zip(before, after, strict=True))


def twins(graph: int, clone: int) -> dict[int, int]:
    """Return the node of a clone for each node of the graph.

    A clone has its nodes and edges in the order of the original, so the two lists run side by
    side. (hipGraphNodeFindInClone tells the same, but not of a graph that a node holds.)
    """
    return dict(zip(node_handles(graph), node_handles(clone), strict=True))


def handle_array(handles: Iterable[int]) -> ctypes.Array[ctypes.c_void_p]:
    """Return handles as HIP takes them."""
    listed = tuple(handles)
    return (ctypes.c_void_p * len(listed))(*listed)
