"""Survey: the nodes of a graph, their order and what they touch, those of its children included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .allocations import Allocations
from .dirty import dirty_counters
from .footprint import Footprint, FootprintReader
from .listing import edge_handles, node_handles
from .nodes import AllocNode, ChildGraphNode, Node, read_node
from .order import Order
from .ranges import Range, merged
from .recording import Recording

__all__ = ["Survey", "survey"]


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a graph.

    Attributes:
        nodes: The nodes, in HIP's order.
        order: Which always runs before which.
        footprints: What each touches; a child graph is one node of its parent.
        kept: The objects that the graph holds.
        children: The graphs in its nodes.
    """

    nodes: tuple[Node, ...]
    order: Order
    footprints: tuple[Footprint, ...]
    kept: tuple[object, ...]
    children: tuple[Survey, ...]


def survey(graph: int, recording: Recording, allocations: Allocations) -> Survey:
    """Look at a graph.

    Args:
        graph: The hipGraph_t, complete.
        recording: What is known of it beyond its nodes.
        allocations: The live allocations; memory that the graph allocates is added to them.
    """
    nodes = tuple(map(read_node, node_handles(graph)))
    by_handle = {node.handle: node for node in nodes}
    edges = [(by_handle[start], by_handle[end]) for start, end in edge_handles(graph)]
    for node in nodes:
        if isinstance(node, AllocNode):
            allocations.add(Range(node.address, node.address + node.nbytes))
    children = {
        node: survey(node.graph, recording.child(node.handle), allocations)
        for node in nodes
        if isinstance(node, ChildGraphNode)
    }
    reader = FootprintReader(recording.accesses, allocations)
    footprints = tuple(
        _as_one(node, children[node]) if isinstance(node, ChildGraphNode) else reader.read(node)
        for node in nodes
    )
    order = Order(nodes, edges)
    return Survey(nodes, order, footprints, recording.kept, tuple(children.values()))


def _as_one(node: Node, child: Survey) -> Footprint:
    """Return what a child graph touches as a node of its parent.

    What nodes of the child read and others of it write is written; counters that nothing in the
    child zeroes or spoils must be zero when it starts. Dead memory and gaps are the child's own.
    """
    dirty = dirty_counters(child.footprints, child.order)
    counters = merged(each for found in dirty if not found.writers for each in found.ranges)
    parts = child.footprints
    writes = merged(each for part in parts for each in (*part.writes, *part.counters))
    return Footprint(
        node,
        reads=_union(part.reads for part in parts),
        writes=writes,
        atomics=_union(part.atomics for part in parts),
        counters=counters,
    )


def _union(ranges: Iterable[Iterable[Range]]) -> tuple[Range, ...]:
    return merged(each for group in ranges for each in group)
