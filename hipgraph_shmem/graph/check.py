"""The checks of a graph: each looks for one kind of fault, given what the nodes touch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING

from ..module import Kernel
from .allocations import Allocations
from .dirty import dirty_counters, touches
from .findings import Finding, FindingKind, describe
from .footprint import Footprint
from .graph_exec import live_execs
from .kept import closed_kernels, closed_memory, host_memory
from .nodes import AllocNode, FreeNode, KernelNode
from .order import Order
from .ranges import Range, Touch, merged, overlaps, without
from .survey import Survey, survey

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["check"]


def check(graph: Graph) -> tuple[Finding, ...]:
    """Return what is wrong with a graph or unknown; `Graph.check` is the usual way."""
    graph.complete()
    top = survey(graph.handle, graph.recording, Allocations())
    return tuple(_findings(top, is_child=False))


def _findings(found: Survey, *, is_child: bool) -> Iterator[Finding]:
    """Yield what is wrong with a graph, after what is wrong with the graphs in it."""
    for child in found.children:
        yield from _findings(child, is_child=True)
    footprints, order, kept = found.footprints, found.order, found.kept
    yield from _dirty_counters(footprints, order, is_child=is_child)
    yield from _shared_counters(footprints)
    yield from _dead_memory(footprints)
    yield from _graph_memory(footprints, order)
    yield from _closed_memory(footprints, closed_memory(kept))
    yield from _closed_modules(footprints, closed_kernels(kept))
    yield from _unordered(footprints, order)
    yield from _host_memory(footprints, host_memory(kept))
    yield from _unknown(footprints)


def _dirty_counters(
    footprints: Sequence[Footprint], order: Order, *, is_child: bool
) -> Iterator[Finding]:
    for dirty in dirty_counters(footprints, order):
        if is_child and not dirty.writers:
            continue  # the parent may zero them: they are counters of the child as a whole
        user = footprints[dirty.user].node
        nodes = (user, *(footprints[writer].node for writer in dirty.writers))
        text = (
            f"{describe(user)} needs {_listed(dirty.ranges)} to be zero when it starts, and"
            " no fill of this graph zeroes that before it and after every other write"
        )
        yield Finding(FindingKind.DIRTY_COUNTER, nodes, dirty.ranges, text)


def _shared_counters(footprints: Sequence[Footprint]) -> Iterator[Finding]:
    """Look for counters of this graph that two live execs reach: their launches may overlap."""
    ours = touches(footprints, _counters)
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


def _graph_memory(footprints: Sequence[Footprint], order: Order) -> Iterator[Finding]:
    """Look for nodes that touch memory of the graph before it is allocated or after it is freed."""
    touched = touches(footprints, _everything)
    for start, each in enumerate(footprints):
        memory = each.node
        if not isinstance(memory, AllocNode):
            continue
        extent = Touch(memory.address, memory.address + memory.nbytes, start)
        ends = [
            number
            for number, other in enumerate(footprints)
            if isinstance(other.node, FreeNode) and other.node.address == memory.address
        ]
        for user, _, common in overlaps(touched, [extent]):
            is_alive = order.is_before(start, user) and all(
                order.is_before(user, end) for end in ends
            )
            if not is_alive:
                node = footprints[user].node
                text = (
                    f"{describe(node)} touches {common} of {describe(memory)}, and no path says"
                    " that it runs after the allocation and before the end of it"
                )
                yield Finding(FindingKind.DEAD_MEMORY, (node, memory), (common,), text)


def _closed_memory(
    footprints: Sequence[Footprint], closed: Sequence[tuple[object, Range]]
) -> Iterator[Finding]:
    """Look for memory that is closed, even if its addresses belong to someone else by now."""
    touched = touches(footprints, _everything)
    for owner, extent in closed:
        found = list(overlaps(touched, [Touch(*extent, 0)]))
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
    reads = touches(footprints, lambda each: each.reads)
    writes = touches(footprints, lambda each: (*each.writes, *each.counters))
    atomics = touches(footprints, lambda each: each.atomics)
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


def _counters(footprint: Footprint) -> tuple[Range, ...]:
    return footprint.counters


def _everything(footprint: Footprint) -> tuple[Range, ...]:
    return *footprint.reads, *footprint.writes, *footprint.atomics, *footprint.counters


def _listed(ranges: Sequence[Range]) -> str:
    more = f" and {len(ranges) - 2} more ranges" if len(ranges) > 3 else ""
    return ", ".join(map(str, ranges[:2] if more else ranges)) + more
