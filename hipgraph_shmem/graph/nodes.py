"""The nodes of a graph as facts, read from HIP when the graph is listed."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from .. import runtime
from ..module import kernel_of
from ..runtime import MemcpyKind, NodeKind
from .params import KernelNodeParams, MemcpyNodeParams, MemsetNodeParams

__all__ = ["KernelNode", "MemcpyNode", "MemsetNode", "Node", "read_node"]


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of a graph.

    Attributes:
        handle: The node's HIP handle, the same in every listing of its graph.
        kind: What the node does.
    """

    handle: int
    kind: NodeKind


@dataclass(frozen=True, slots=True)
class KernelNode(Node):
    """A kernel launch.

    Attributes:
        function: The kernel's HIP handle.
        name: The kernel's name; empty for a kernel of a module that is not open here.
        grid: Sizes in blocks.
        block: Sizes in threads.
        lds_bytes: Dynamic LDS.
    """

    function: int
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lds_bytes: int


@dataclass(frozen=True, slots=True)
class MemsetNode(Node):
    """A fill of device memory: `height` rows of `width` elements.

    Attributes:
        address: Where it starts.
        value: What each element is set to.
        element_size: Bytes of an element: 1, 2 or 4.
        width: Elements in a row.
        height: Rows.
        pitch: Bytes from row to row; of no meaning for a single row.
    """

    address: int
    value: int
    element_size: int
    width: int
    height: int
    pitch: int

    @property
    def nbytes(self) -> int:
        """Bytes that are set."""
        return self.element_size * self.width * self.height


@dataclass(frozen=True, slots=True)
class MemcpyNode(Node):
    """A copy of contiguous bytes.

    Attributes:
        destination: Address written.
        source: Address read, at each replay.
        nbytes: Bytes copied.
        direction: Which sides are on the device.
    """

    destination: int
    source: int
    nbytes: int
    direction: MemcpyKind


def read_node(handle: int) -> Node:
    """Ask HIP what a node does."""
    kind = NodeKind(runtime.call("hipGraphNodeGetType", handle))
    if kind is NodeKind.KERNEL:
        return _read_kernel(handle)
    if kind is NodeKind.MEMSET:
        return _read_memset(handle)
    if kind is NodeKind.MEMCPY:
        return _read_memcpy(handle)
    return Node(handle, kind)


def _read_kernel(handle: int) -> KernelNode:
    params = KernelNodeParams()
    runtime.call("hipGraphKernelNodeGetParams", handle, ctypes.addressof(params))
    function = params.function or 0
    kernel = kernel_of(function)
    return KernelNode(
        handle=handle,
        kind=NodeKind.KERNEL,
        function=function,
        name=kernel.name if kernel is not None else "",
        grid=params.grid.as_tuple(),
        block=params.block.as_tuple(),
        lds_bytes=params.lds_bytes,
    )


def _read_memset(handle: int) -> MemsetNode:
    params = MemsetNodeParams()
    runtime.call("hipGraphMemsetNodeGetParams", handle, ctypes.addressof(params))
    return MemsetNode(
        handle=handle,
        kind=NodeKind.MEMSET,
        address=params.destination or 0,
        value=params.value,
        element_size=params.element_size,
        width=params.width,
        height=params.height,
        pitch=params.pitch,
    )


def _read_memcpy(handle: int) -> MemcpyNode:
    params = MemcpyNodeParams()
    runtime.call("hipGraphMemcpyNodeGetParams", handle, ctypes.addressof(params))
    return MemcpyNode(
        handle=handle,
        kind=NodeKind.MEMCPY,
        destination=params.destination.address or 0,
        source=params.source.address or 0,
        nbytes=params.extent.x * params.extent.y * params.extent.z,
        direction=MemcpyKind(params.kind),
    )
