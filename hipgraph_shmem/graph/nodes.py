"""The nodes of a graph as facts, read from HIP when the graph is listed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .. import runtime
from ..module import kernel_of
from ..runtime import MemcpyKind, NodeKind
from .params import (
    HostNodeParams,
    KernelNodeParams,
    MemAllocNodeParams,
    MemcpyNodeParams,
    MemsetNodeParams,
)

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "EventNode",
    "FreeNode",
    "HostNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "Node",
    "read_node",
]


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
    """A copy of bytes, of one row or of several that a pitch lies between.

    Attributes:
        destination: Address written.
        source: Address read, at each replay.
        nbytes: Bytes copied, in all rows.
        direction: Which sides are on the device.
    """

    destination: int
    source: int
    nbytes: int
    direction: MemcpyKind


@dataclass(frozen=True, slots=True)
class HostNode(Node):
    """A call of a host function.

    Attributes:
        function: The function's address (hipHostFn_t).
        user_data: What it is given.
    """

    function: int
    user_data: int


@dataclass(frozen=True, slots=True)
class EventNode(Node):
    """Records an event (kind EVENT_RECORD) or waits for one (WAIT_EVENT).

    Attributes:
        event: The event's HIP handle.
    """

    event: int


@dataclass(frozen=True, slots=True)
class ChildGraphNode(Node):
    """Runs a graph inside the graph: a copy as of when it was added.

    Attributes:
        graph: The copy's HIP handle; it belongs to the node.
    """

    graph: int


@dataclass(frozen=True, slots=True)
class AllocNode(Node):
    """Device memory that exists from this node to the one that frees it, in each launch.

    Attributes:
        address: Where it is, the same in every launch.
        nbytes: How much.
        device: On which device.
    """

    address: int
    nbytes: int
    device: int


@dataclass(frozen=True, slots=True)
class FreeNode(Node):
    """Frees memory of an AllocNode.

    Attributes:
        address: Where that is.
    """

    address: int


def read_node(handle: int) -> Node:
    """Ask HIP what a node does."""
    kind = NodeKind(runtime.call("hipGraphNodeGetType", handle))
    reader = _READERS.get(kind)
    return Node(handle, kind) if reader is None else reader(handle, kind)


def _read_kernel(handle: int, kind: NodeKind) -> Node:
    params = KernelNodeParams()
    runtime.call("hipGraphKernelNodeGetParams", handle, ctypes.addressof(params))
    function = params.function or 0
    kernel = kernel_of(function)
    return KernelNode(
        handle=handle,
        kind=kind,
        function=function,
        name=kernel.name if kernel is not None else "",
        grid=params.grid.as_tuple(),
        block=params.block.as_tuple(),
        lds_bytes=params.lds_bytes,
    )


def _read_memset(handle: int, kind: NodeKind) -> Node:
    params = MemsetNodeParams()
    runtime.call("hipGraphMemsetNodeGetParams", handle, ctypes.addressof(params))
    return MemsetNode(
        handle=handle,
        kind=kind,
        address=params.destination or 0,
        value=params.value,
        element_size=params.element_size,
        width=params.width,
        height=params.height,
        pitch=params.pitch,
    )


def _read_memcpy(handle: int, kind: NodeKind) -> Node:
    params = MemcpyNodeParams()
    runtime.call("hipGraphMemcpyNodeGetParams", handle, ctypes.addressof(params))
    return MemcpyNode(
        handle=handle,
        kind=kind,
        destination=params.destination.address or 0,
        source=params.source.address or 0,
        nbytes=params.extent.x * params.extent.y * params.extent.z,
        direction=MemcpyKind(params.kind),
    )


def _read_host(handle: int, kind: NodeKind) -> Node:
    params = HostNodeParams()
    runtime.call("hipGraphHostNodeGetParams", handle, ctypes.addressof(params))
    return HostNode(handle, kind, params.function or 0, params.user_data or 0)


def _read_record(handle: int, kind: NodeKind) -> Node:
    return EventNode(handle, kind, runtime.call("hipGraphEventRecordNodeGetEvent", handle))


def _read_wait(handle: int, kind: NodeKind) -> Node:
    return EventNode(handle, kind, runtime.call("hipGraphEventWaitNodeGetEvent", handle))


def _read_child(handle: int, kind: NodeKind) -> Node:
    return ChildGraphNode(handle, kind, runtime.call("hipGraphChildGraphNodeGetGraph", handle))


def _read_alloc(handle: int, kind: NodeKind) -> Node:
    params = MemAllocNodeParams()
    runtime.call("hipGraphMemAllocNodeGetParams", handle, ctypes.addressof(params))
    return AllocNode(handle, kind, params.address or 0, params.nbytes, params.location)


def _read_free(handle: int, kind: NodeKind) -> Node:
    address = ctypes.c_void_p()
    runtime.call("hipGraphMemFreeNodeGetParams", handle, ctypes.addressof(address))
    return FreeNode(handle, kind, address.value or 0)


_READERS: Mapping[NodeKind, Callable[[int, NodeKind], Node]] = MappingProxyType(
    {
        NodeKind.KERNEL: _read_kernel,
        NodeKind.MEMSET: _read_memset,
        NodeKind.MEMCPY: _read_memcpy,
        NodeKind.HOST: _read_host,
        NodeKind.EVENT_RECORD: _read_record,
        NodeKind.WAIT_EVENT: _read_wait,
        NodeKind.GRAPH: _read_child,
        NodeKind.MEM_ALLOC: _read_alloc,
        NodeKind.MEM_FREE: _read_free,
    }
)
