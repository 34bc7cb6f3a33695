"""Footprint: the bytes that one node of a graph touches, as far as they can be known."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..access import Access, Region
from ..hip_abi import MemcpyKind, NodeKind
from ..module import Kernel, kernel_of
from ..runtime import call
from .allocations import Allocations
from .arguments import PointerArgument, pointer_arguments, read_arguments
from .nodes import KernelNode, MemcpyNode, MemsetNode, Node
from .params import MemcpyNodeParams, PitchedPointer, Position
from .ranges import Range, merged

__all__ = ["Footprint", "FootprintReader"]

_IDLE = (
    NodeKind.EMPTY,
    NodeKind.WAIT_EVENT,
    NodeKind.EVENT_RECORD,
    NodeKind.MEM_ALLOC,
    NodeKind.MEM_FREE,
)
_HOST_SOURCES = (MemcpyKind.HOST_TO_HOST, MemcpyKind.HOST_TO_DEVICE)
_HOST_TARGETS = (MemcpyKind.HOST_TO_HOST, MemcpyKind.DEVICE_TO_HOST)


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a node touches.

    Attributes:
        node: The node.
        reads: Bytes only read.
        writes: Bytes written.
        atomics: Bytes changed by atomic operations in any order.
        counters: Bytes that must be zero when the node starts.
        zeroes: Whether it sets all it writes to zero.
        host: Host memory that it copies from or to.
        dead: Addresses that are in no live allocation.
        gap: Why this may not be everything; empty if it is.
    """

    node: Node
    reads: tuple[Range, ...] = ()
    writes: tuple[Range, ...] = ()
    atomics: tuple[Range, ...] = ()
    counters: tuple[Range, ...] = ()
    zeroes: bool = False
    host: tuple[Range, ...] = ()
    dead: tuple[Range, ...] = ()
    gap: str = ""


class FootprintReader:
    """Reads footprints through HIP.

    Args:
        accesses: What launches were declared to touch, by node handle.
        allocations: The live allocations.
    """

    __slots__ = ("_accesses", "_allocations")

    def __init__(self, accesses: Mapping[int, Access], allocations: Allocations) -> None:
        self._accesses = accesses
        self._allocations = allocations

    def read(self, node: Node) -> Footprint:
        """Return what a node touches."""
        access = self._accesses.get(node.handle)
        if access is not None:
            return self._declared(node, access)
        if isinstance(node, MemsetNode):
            return self._fill(node)
        if isinstance(node, MemcpyNode):
            return self._copy(node)
        if isinstance(node, KernelNode):
            return self._kernel(node)
        if node.kind in _IDLE:
            return Footprint(node)
        return Footprint(node, gap=f"what a {node.kind.name} node touches cannot be read")

    def _declared(self, node: Node, access: Access) -> Footprint:
        reads, writes, atomics, counters = (
            _bytes_of(regions)
            for regions in (access.reads, access.writes, access.atomics, access.counters)
        )
        dead = self._dead((*reads, *writes, *atomics, *counters))
        return Footprint(node, reads, writes, atomics, counters, dead=dead)

    def _fill(self, node: MemsetNode) -> Footprint:
        row_bytes = node.width * node.element_size
        writes = _bytes_of([Region(node.address, row_bytes, node.height, node.pitch)])
        is_zero = node.value & ((1 << 8 * node.element_size) - 1) == 0
        return Footprint(node, writes=writes, zeroes=is_zero, dead=self._dead(writes))

    def _copy(self, node: MemcpyNode) -> Footprint:
        params = MemcpyNodeParams()
        call("hipGraphMemcpyNodeGetParams", node.handle, ctypes.addressof(params))
        if params.source_array or params.destination_array:
            return Footprint(node, gap="it copies an array of textures")
        extent = params.extent
        reads = _bytes_of(_slices(params.source, params.source_position, extent))
        writes = _bytes_of(_slices(params.destination, params.destination_position, extent))
        host: list[Range] = []
        device: list[Range] = []
        for ranges, hosts in ((reads, _HOST_SOURCES), (writes, _HOST_TARGETS)):
            (host if self._is_host(node, ranges, hosts) else device).extend(ranges)
        return Footprint(node, reads, writes, host=merged(host), dead=self._dead(device))

    def _is_host(
        self, node: MemcpyNode, ranges: tuple[Range, ...], hosts: tuple[MemcpyKind, ...]
    ) -> bool:
        if node.direction is not MemcpyKind.DEFAULT:
            return node.direction in hosts
        return any(self._allocations.around(each.start) is None for each in ranges)

    def _kernel(self, node: KernelNode) -> Footprint:
        kernel = kernel_of(node.function)
        if kernel is None:
            return Footprint(node, gap="it is no kernel of a module that is open here")
        return self._arguments(node, kernel)

    def _arguments(self, node: KernelNode, kernel: Kernel) -> Footprint:
        """Take each address for the whole allocation around it: a kernel may go anywhere there."""
        reads: list[Range] = []
        writes: list[Range] = []
        dead: list[Range] = []
        block = read_arguments(node.handle, kernel.metadata)
        for pointer in pointer_arguments(kernel.metadata, block):
            around = self._allocations.around(pointer.address)
            if around is not None:
                (reads if _only_reads(pointer) else writes).append(around)
            elif pointer.is_certain:
                dead.append(Range(pointer.address, pointer.address + 1))
        return Footprint(node, merged(reads), merged(writes), dead=merged(dead))

    def _dead(self, ranges: Iterable[Range]) -> tuple[Range, ...]:
        return tuple(each for each in ranges if not self._allocations.holds(each))


def _only_reads(pointer: PointerArgument) -> bool:
    return pointer.is_certain and pointer.argument.access == "read_only"


def _bytes_of(regions: Iterable[Region]) -> tuple[Range, ...]:
    return merged(each for region in regions for each in region.ranges())


def _slices(memory: PitchedPointer, position: Position, extent: Position) -> Iterator[Region]:
    """Yield the rows of each slice of one end of a copy."""
    slice_bytes = memory.pitch * memory.height
    first = (memory.address or 0) + position.x + position.y * memory.pitch
    for index in range(extent.z):
        start = first + (position.z + index) * slice_bytes
        yield Region(start, extent.x, extent.y, memory.pitch)
