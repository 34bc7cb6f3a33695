"""Changing what a node does, in a graph or in an exec that was made from it."""

from __future__ import annotations

import ctypes
from types import MappingProxyType

from ..hip_abi import MemcpyKind, NodeKind
from ..runtime import call
from .params import HostNodeParams, KernelNodeParams, MemsetNodeParams

__all__ = ["Setter"]

#: By what is set: HIP's function for a node, and for an exec's copy of the node.
_CALLS = MappingProxyType(
    {
        NodeKind.KERNEL: ("hipGraphKernelNodeSetParams", "hipGraphExecKernelNodeSetParams"),
        NodeKind.MEMSET: ("hipGraphMemsetNodeSetParams", "hipGraphExecMemsetNodeSetParams"),
        NodeKind.MEMCPY: ("hipGraphMemcpyNodeSetParams1D", "hipGraphExecMemcpyNodeSetParams1D"),
        NodeKind.HOST: ("hipGraphHostNodeSetParams", "hipGraphExecHostNodeSetParams"),
        NodeKind.EVENT_RECORD: (
            "hipGraphEventRecordNodeSetEvent",
            "hipGraphExecEventRecordNodeSetEvent",
        ),
        NodeKind.WAIT_EVENT: ("hipGraphEventWaitNodeSetEvent", "hipGraphExecEventWaitNodeSetEvent"),
    }
)


class Setter:
    """Sets parameters of nodes.

    Args:
        graph_exec: The hipGraphExec_t whose copies of the nodes are changed; None: the nodes.
    """

    __slots__ = ("_first", "_which")

    def __init__(self, graph_exec: int | None = None) -> None:
        self._which = 0 if graph_exec is None else 1
        self._first = () if graph_exec is None else (graph_exec,)

    def kernel(self, node: int, params: KernelNodeParams) -> None:
        """Set a launch."""
        self._call(NodeKind.KERNEL, node, ctypes.byref(params))

    def memset(self, node: int, params: MemsetNodeParams) -> None:
        """Set a fill."""
        self._call(NodeKind.MEMSET, node, ctypes.byref(params))

    def memcpy(
        self, node: int, destination: int, source: int, nbytes: int, direction: MemcpyKind
    ) -> None:
        """Set a copy of contiguous bytes."""
        self._call(NodeKind.MEMCPY, node, destination, source, nbytes, direction)

    def host(self, node: int, params: HostNodeParams) -> None:
        """Set a host function."""
        self._call(NodeKind.HOST, node, ctypes.byref(params))

    def event(self, kind: NodeKind, node: int, event: int) -> None:
        """Set what a node of `kind` EVENT_RECORD or WAIT_EVENT records or waits for."""
        self._call(kind, node, event)

    def _call(self, kind: NodeKind, node: int, *params: object) -> None:
        call(_CALLS[kind][self._which], *self._first, node, *params)
