"""The checks of a graph: each looks for one kind of fault, given what the nodes touch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING

from ..module import Kernel
from .allocations import Allocations
from .findings import Finding, FindingKind, describe
from .footprint import Footprint, FootprintReader
from .graph_exec import live_execs
from .kept import closed_kernels, closed_memory, host_memory
from .nodes import KernelNode
from .order import Order
from .ranges import Range, Touch, merged, overlaps, without

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["check"]


def check(graph: Graph) -> tuple[Finding, ...]:
    """Return what is wrong with a graph or unknown; `Graph.check` is the usual way."""
    nodes, kept = graph.nodes, graph.recording.kept
    order = Order(nodes, graph.edges)
    reader = FootprintReader(graph.recording.accesses, Allocations())
    footprints = [reader.read(node) for node in nodes]
    return (
        *_dirty_counters(footprints, order),
        *_shared_counters(footprints),
        *_dead_memory(footprints),
        *_closed_memory(footprints, closed_memory(kept)),
        *_closed_modules(footprints, closed_kernels(kept)),
        *_unordered(footprints, order),
        *_host_memory(footprints, host_memory(kept)),
        *_unknown(footprints),
    )


def _dirty_counters(footprints: Sequence[Footprint], order: Order) -> Iterator[Finding]:
    """Look for counters that no fill of the graph zeroes behind all other writes before them."""
    changes = _touches(footprints, lambda each: (*each.writes, *each.atomics, *each.counters))
    earlier: dict[int, list[tuple[int, Range]]] = defaultdict(list)
    before = order.earlier, order.later
    for user, writer, common in overlaps(_touches(footprints, _counters), changes, before):
        earlier[user].append((writer, common))
    for user, footprint in enumerate(footprints):
        dirty = _not_zeroed(footprint.counters, earlier[user], footprints, order)
        if dirty:
            writers = {
                writer
                for writer, common in earlier[user]
                if _meets(common, dirty) and not footprints[writer].zeroes
            }
            nodes = (footprint.node, *(footprints[writer].node for writer in sorted(writers)))
            text = (
                f"{describe(footprint.node)} needs {_listed(dirty)} to be zero when it starts, and"
                " no fill of this graph zeroes that before it and after every other write"
            )
            yield Finding(FindingKind.DIRTY_COUNTER, nodes, dirty, text)


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


def _shared_counters(footprints: Sequence[Footprint]) -> Iterator[Finding]:
    """Look for counters of this graph that two live execs reach: their launches may overlap."""
    ours = _touches(footprints, _counters)
    for one, other in combinations(live_execs(), 2):
        both = [
            Touch(*common, 0)
            for _, _, common in overlaps(
                [Touch(*each, 0) for each in one.counter_memory],
                [Touch(*each, 1) for each in other.counter_memory],
            )
        ]
        found = [(user, common) for user, _, common in overlaps(ours, both)]
        if found:
            nodes = tuple(footprints[user].node for user in sorted({user for user, _ in found}))
            ranges = merged(common for _, common in found)
            text = (
                f"{one!r} and {other!r} both use the counters {_listed(ranges)} of"
                f" {', '.join(map(describe, nodes))}: give each exec counters of its own"
            )
            yield Finding(FindingKind.SHARED_COUNTER, nodes, ranges, text)


def _dead_memory(footprints: Sequence[Footprint]) -> Iterator[Finding]:
    for each in footprints:
        if each.dead:
            text = f"{describe(each.node)} names {_listed(each.dead)}, which no allocation holds"
            yield Finding(FindingKind.DEAD_MEMORY, (each.node,), each.dead, text)


def _closed_memory(
    footprints: Sequence[Footprint], closed: Sequence[tuple[object, Range]]
) -> Iterator[Finding]:
    """Look for memory that is closed, even if its addresses belong to someone else by now."""
    touches = _touches(
        footprints, lambda each: (*each.reads, *each.writes, *each.atomics, *each.counters)
    )
    for owner, extent in closed:
        found = list(overlaps(touches, [Touch(*extent, 0)]))
        numbers = sorted({number for number, _, _ in found})
        if numbers:
            nodes = tuple(footprints[number].node for number in numbers)
            ranges = merged(common for _, _, common in found)
            named = ", ".join(map(describe, nodes))
            text = f"{owner!r} is closed, and {named} touches {_listed(ranges)} of it"
            yield Finding(FindingKind.DEAD_MEMORY, nodes, ranges, text)


def _closed_modules(
    footprints: Sequence[Footprint], closed: Mapping[int, Kernel]
) -> Iterator[Finding]:
    for each in footprints:
        if isinstance(each.node, KernelNode) and each.node.function in closed:
            kernel = closed[each.node.function]
            text = f"{describe(each.node)} runs {kernel!r}, which is closed"
            yield Finding(FindingKind.DEAD_MEMORY, (each.node,), (), text)


def _unordered(footprints: Sequence[Footprint], order: Order) -> Iterator[Finding]:
    """Look for nodes that may run side by side although one changes what the other touches."""
    reads = _touches(footprints, lambda each: each.reads)
    writes = _touches(footprints, lambda each: (*each.writes, *each.counters))
    atomics = _touches(footprints, lambda each: each.atomics)
    common_bytes: dict[tuple[int, int], list[Range]] = defaultdict(list)
    apart = order.apart, order.apart
    for one, other, common in chain(
        overlaps(writes, [*reads, *writes, *atomics], apart), overlaps(atomics, reads, apart)
    ):
        common_bytes[min(one, other), max(one, other)].append(common)
    for (one, other), found in sorted(common_bytes.items()):
        nodes = (footprints[one].node, footprints[other].node)
        ranges = merged(found)
        text = (
            f"{describe(nodes[0])} and {describe(nodes[1])} both touch {_listed(ranges)}, one"
            " changes it, and no path orders them"
        )
        yield Finding(FindingKind.UNORDERED, nodes, ranges, text)


def _host_memory(footprints: Sequence[Footprint], kept: Iterable[Range]) -> Iterator[Finding]:
    kept = merged(kept)
    for each in footprints:
        lost = without(each.host, kept)
        if lost:
            text = (
                f"{describe(each.node)} copies host memory {_listed(lost)} at each replay, and the"
                " graph does not keep it"
            )
            yield Finding(FindingKind.HOST_MEMORY, (each.node,), lost, text)


def _unknown(footprints: Sequence[Footprint]) -> Iterator[Finding]:
    """Report the nodes that cannot be looked into, those of one kernel together."""
    groups: dict[tuple[int, str], list[Footprint]] = defaultdict(list)
    for each in footprints:
        if each.gap:
            node = each.node
            key = node.function if isinstance(node, KernelNode) else node.handle
            groups[key, each.gap].append(each)
    for (_, gap), members in groups.items():
        nodes = tuple(each.node for each in members)
        text = f"{', '.join(map(describe, nodes))}: {gap}, so nothing is known of what it touches"
        yield Finding(FindingKind.UNKNOWN, nodes, (), text)


def _touches(
    footprints: Sequence[Footprint], ranges: Callable[[Footprint], Iterable[Range]]
) -> list[Touch]:
    return [
        Touch(*found, number)
        for number, each in enumerate(footprints)
        for found in merged(ranges(each))
    ]


def _counters(footprint: Footprint) -> tuple[Range, ...]:
    return footprint.counters


def _meets(one: Range, others: Iterable[Range]) -> bool:
    return any(one.start < other.stop and other.start < one.stop for other in others)


def _listed(ranges: Sequence[Range]) -> str:
    more = f" and {len(ranges) - 2} more ranges" if len(ranges) > 3 else ""
    return ", ".join(map(str, ranges[:2] if more else ranges)) + more
