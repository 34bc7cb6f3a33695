"""NodeEditing: the methods of a Graph and of a GraphExec that change what a node does."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..access import Access
from ..errors import GraphError
from ..hip_abi import ErrorCode, NodeKind
from ..host_function import HostFunction, host_function_address
from ..launch import LaunchConfig, pack
from ..memory import Buffer
from ..module import Kernel
from ..stream import Event
from .copy_plan import plan_copy
from .nodes import Node
from .params import ArgumentBlock, HostNodeParams, kernel_node_params, memset_node_params
from .refusal import explained
from .setter import Setter

__all__ = ["NodeEditing"]


class NodeEditing:
    """Changes nodes, in place: their handles and edges stay. The subclass says whose nodes."""

    __slots__ = ()

    def set_kernel(
        self,
        node: Node,
        kernel: Kernel,
        config: LaunchConfig,
        *args: Any,
        access: Access | None = None,
    ) -> None:
        """Let a kernel node launch a kernel, the same as before or another, with new arguments.

        Raises:
            GraphError: The node belongs to a split-K launch, or is not of this graph.
        """
        block = ArgumentBlock(pack(kernel.metadata, args))
        params = kernel_node_params(kernel.handle, config, block)
        with self._edited(node, NodeKind.KERNEL, (kernel, block, *args), access) as setter:
            setter.kernel(node.handle, params)

    def set_memset(
        self,
        node: Node,
        destination: Buffer | int,
        value: int,
        count: int,
        *,
        width: int = 1,
        rows: int = 1,
        pitch: int = 0,
    ) -> None:
        """Let a memset node fill other memory, or with another value; as for `add_memset`.

        In an exec, several rows must stay as many and as long as they were.
        """
        address = destination if isinstance(destination, int) else destination.address
        params = memset_node_params(address, value, count, width=width, rows=rows, pitch=pitch)
        with self._edited(node, NodeKind.MEMSET, (destination,)) as setter:
            setter.memset(node.handle, params)

    def set_memcpy(self, node: Node, destination: Any, source: Any, *, live: bool = False) -> None:
        """Let a memcpy node copy something else; as for `add_memcpy`.

        In an exec, both sides must stay on the device or on the host.
        """
        plan = plan_copy(destination, source, live=live)
        with self._edited(node, NodeKind.MEMCPY, plan.keep) as setter:
            what = plan.destination, plan.source, plan.nbytes, plan.direction
            setter.memcpy(node.handle, *what)

    def set_host(
        self, node: Node, function: Callable[[], object], *, access: Access | None = None
    ) -> None:
        """Let a host node call another Python function; as for `add_host`."""
        kept = HostFunction(function)
        params = HostNodeParams(function=host_function_address(), user_data=kept.number)
        with self._edited(node, NodeKind.HOST, (kept,), access) as setter:
            setter.host(node.handle, params)

    def set_event(self, node: Node, event: Event) -> None:
        """Let an event node record another event, or wait for it."""
        kind = node.kind if node.kind is NodeKind.WAIT_EVENT else NodeKind.EVENT_RECORD
        with self._edited(node, kind, (event,)) as setter:
            setter.event(kind, node.handle, event.handle)

    @contextlib.contextmanager
    def _edited(
        self, node: Node, kind: NodeKind, keep: Iterable[object], access: Access | None = None
    ) -> Iterator[Setter]:
        """Check what is to be set; give the block the setter; then keep what the node needs."""
        if node.kind is not kind:
            raise TypeError(f"node={node}: give a node of kind {kind.name}")
        self._refuse_managed(node)
        with self._setting() as setter:
            cure = "give a node of the graph, and values that HIP takes for it"
            with explained(f"node={node} of {self!r}", cure, ErrorCode.INVALID_VALUE):
                yield setter
            self._replace(node, keep, access)

    def _refuse_managed(self, node: Node) -> None:
        if self._manages(node):
            problem = f"node={node}: it belongs to a split-K launch of {self!r}"
            raise GraphError(problem, "record the work again, and update the exec from that")

    def _manages(self, node: Node) -> bool:
        """Tell whether the node names memory that an attachment gives out."""
        raise NotImplementedError

    def _setting(self) -> contextlib.AbstractContextManager[Setter]:
        """Make editing safe, and return how it is done."""
        raise NotImplementedError

    def _replace(self, node: Node, keep: Iterable[object], access: Access | None) -> None:
        """Hold other objects for a node than before."""
        raise NotImplementedError
