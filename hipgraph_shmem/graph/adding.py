"""NodeAdding: the methods of a Graph that add nodes to it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..access import Access
from ..devices import on_device
from ..errors import GraphError
from ..hip_abi import ErrorCode, NodeKind
from ..host_function import HostFunction, host_function_address
from ..launch import LaunchConfig, pack
from ..memory import Buffer
from ..module import Kernel
from ..runtime import call
from ..stream import Event
from .copy_plan import plan_copy
from .embedded import embed
from .listing import handle_array
from .nodes import (
    AllocNode,
    ChildGraphNode,
    EventNode,
    FreeNode,
    HostNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    Node,
)
from .params import (
    ArgumentBlock,
    HostNodeParams,
    alloc_node_params,
    kernel_node_params,
    memset_node_params,
)
from .recording import Recording
from .refusal import explained

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["NodeAdding"]


class NodeAdding:
    """Adds nodes; the subclass is the graph."""

    __slots__ = ()

    @property
    def handle(self) -> int:
        """The HIP graph."""
        raise NotImplementedError

    @property
    def device(self) -> int:
        """The device that the nodes run on."""
        raise NotImplementedError

    @property
    def recording(self) -> Recording:
        """What the nodes need alive, and what each exec gets of its own."""
        raise NotImplementedError

    def add_kernel(
        self,
        kernel: Kernel,
        config: LaunchConfig,
        *args: Any,
        dependencies: Sequence[Node] = (),
        access: Access | None = None,
    ) -> KernelNode:
        """Add a kernel launch; arguments are packed as the kernel's metadata says.

        `access` says what the launch reads and writes, for `check`; None: what its metadata say.
        """
        blob = pack(kernel.metadata, args)
        return self.add_packed_kernel(
            kernel, config, blob, *args, dependencies=dependencies, access=access
        )

    def add_packed_kernel(
        self,
        kernel: Kernel,
        config: LaunchConfig,
        blob: bytes,
        *keep: Any,
        dependencies: Sequence[Node] = (),
        access: Access | None = None,
    ) -> KernelNode:
        """Add a kernel launch with argument bytes; `keep` are the objects that they name."""
        block = ArgumentBlock(blob)
        params = kernel_node_params(kernel.handle, config, block)
        handle = self._add("hipGraphAddKernelNode", dependencies, ctypes.byref(params))
        self.recording.replace(handle, (kernel, block, *keep), access)
        return KernelNode(
            handle=handle,
            kind=NodeKind.KERNEL,
            function=kernel.handle,
            name=kernel.name,
            grid=config.grid,
            block=config.block,
            lds_bytes=config.lds_bytes,
        )

    def add_memset(
        self,
        destination: Buffer | int,
        value: int,
        count: int,
        *,
        width: int = 1,
        rows: int = 1,
        pitch: int = 0,
        dependencies: Sequence[Node] = (),
    ) -> MemsetNode:
        """Add a fill.

        Args:
            destination: A Buffer or a device address.
            value: What each element is set to.
            count: Elements in a row.
            width: Bytes of an element: 1, 2 or 4.
            rows: Rows that are filled.
            pitch: Bytes from row to row, where there is more than one.
            dependencies: Nodes that run before.
        """
        address = destination if isinstance(destination, int) else destination.address
        params = memset_node_params(address, value, count, width=width, rows=rows, pitch=pitch)
        handle = self._add("hipGraphAddMemsetNode", dependencies, ctypes.byref(params))
        self.recording.replace(handle, (destination,))
        return MemsetNode(
            handle=handle,
            kind=NodeKind.MEMSET,
            address=address,
            value=value,
            element_size=width,
            width=count,
            height=rows,
            pitch=pitch,
        )

    def add_memcpy(
        self,
        destination: Any,
        source: Any,
        *,
        live: bool = False,
        dependencies: Sequence[Node] = (),
    ) -> MemcpyNode:
        """Add a copy of all of `source` to the start of `destination`.

        Device memory and PinnedBuffers are read at each replay. A host array is read now, or, with
        `live`, at each replay; as a destination it is written at each replay.

        Args:
            destination: A Buffer, Symbol, PinnedBuffer, NumPy array or another library's array.
            source: The same, or bytes.
            live: Read a host array at each replay; the graph keeps it.
            dependencies: Nodes that run before.

        Raises:
            ValueError: Not contiguous, read-only, empty, or the source does not fit.
        """
        plan = plan_copy(destination, source, live=live)
        what = plan.destination, plan.source, plan.nbytes, plan.direction
        handle = self._add("hipGraphAddMemcpyNode1D", dependencies, *what)
        self.recording.replace(handle, plan.keep)
        return MemcpyNode(handle, NodeKind.MEMCPY, *what)

    def add_host(
        self,
        function: Callable[[], object],
        *,
        dependencies: Sequence[Node] = (),
        access: Access | None = None,
    ) -> HostNode:
        """Add a call of a Python function, made at each replay by a thread of the runtime.

        The function must not call HIP (hipLaunchHostFunc). What it raises is raised by the next
        wait of the host for a stream, event or graph exec.

        Args:
            function: Called without arguments.
            dependencies: Nodes that run before.
            access: What it reads and writes, for `check`; None: nothing is known.
        """
        kept = HostFunction(function)
        params = HostNodeParams(function=host_function_address(), user_data=kept.number)
        handle = self._add("hipGraphAddHostNode", dependencies, ctypes.byref(params))
        self.recording.replace(handle, (kept,), access)
        return HostNode(handle, NodeKind.HOST, host_function_address(), kept.number)

    def add_event_record(self, event: Event, *, dependencies: Sequence[Node] = ()) -> EventNode:
        """Add a node that records an event; streams and graphs outside can wait for it."""
        handle = self._add("hipGraphAddEventRecordNode", dependencies, event.handle)
        self.recording.replace(handle, (event,))
        return EventNode(handle, NodeKind.EVENT_RECORD, event.handle)

    def add_event_wait(self, event: Event, *, dependencies: Sequence[Node] = ()) -> EventNode:
        """Add a node that waits until an event has happened that is recorded elsewhere."""
        handle = self._add("hipGraphAddEventWaitNode", dependencies, event.handle)
        self.recording.replace(handle, (event,))
        return EventNode(handle, NodeKind.WAIT_EVENT, event.handle)

    def add_child(self, child: Graph, *, dependencies: Sequence[Node] = ()) -> ChildGraphNode:
        """Add a copy of a graph as it is now; its split-K launches get counters of their own.

        Args:
            child: What runs inside this graph; it may be changed or closed afterwards.
            dependencies: Nodes that run before.

        Raises:
            GraphError: The child is of another device.
        """
        if child.device != self.device:
            problem = f"child={child!r} is of device {child.device}, {self!r} of {self.device}"
            raise GraphError(problem, "make both graphs on one device")
        child.complete()
        handle = self._add("hipGraphAddChildGraphNode", dependencies, child.handle)
        try:
            raw = embed(self.recording, handle, child)
        except BaseException:
            self.recording.forget(handle)
            call("hipGraphDestroyNode", handle)
            raise
        return ChildGraphNode(handle, NodeKind.GRAPH, raw)

    def add_alloc(self, nbytes: int, *, dependencies: Sequence[Node] = ()) -> AllocNode:
        """Add an allocation of device memory, which lives up to its `add_free` in each launch.

        HIP instantiates a graph with such nodes once, and does not clone it.

        Args:
            nbytes: How much.
            dependencies: Nodes that run before.
        """
        params = alloc_node_params(self.device, nbytes)
        handle = self._add("hipGraphAddMemAllocNode", dependencies, ctypes.byref(params))
        return AllocNode(handle, NodeKind.MEM_ALLOC, params.address or 0, nbytes, self.device)

    def add_free(self, memory: AllocNode, *, dependencies: Sequence[Node] = ()) -> FreeNode:
        """Add the end of an allocation; `dependencies` are all that use it."""
        handle = self._add("hipGraphAddMemFreeNode", dependencies, memory.address)
        return FreeNode(handle, NodeKind.MEM_FREE, memory.address)

    def add_empty(self, *, dependencies: Sequence[Node] = ()) -> Node:
        """Add a node that only orders others."""
        return Node(self._add("hipGraphAddEmptyNode", dependencies), NodeKind.EMPTY)

    def add_dependencies(self, before: Sequence[Node], after: Sequence[Node]) -> None:
        """Add an edge from each node of `before` to the node of `after` in the same place."""
        self._change_edges("hipGraphAddDependencies", before, after)

    def remove_dependencies(self, before: Sequence[Node], after: Sequence[Node]) -> None:
        """Remove the edge from each node of `before` to the node of `after` in the same place.

        Raises:
            GraphError: An edge between nodes of split-K launches, which may need it.
        """
        managed = self.recording.managed
        for start, end in zip(before, after, strict=False):
            if {start.handle, end.handle} <= managed:
                problem = f"the edge from {start} to {end} joins nodes of split-K launches"
                raise GraphError(problem, "record the graph again in the order wanted")
        self._change_edges("hipGraphRemoveDependencies", before, after)

    def remove(self, node: Node) -> None:
        """Remove a node with its edges; what it ordered is not ordered by it any more.

        Raises:
            GraphError: A node of a split-K launch, or of graph memory, which HIP does not remove.
        """
        if node.handle in self.recording.managed and node.kind is not NodeKind.GRAPH:
            problem = f"node={node}: it belongs to a split-K launch of {self!r}"
            raise GraphError(problem, "record the graph again without it")
        problem = f"node={node}: HIP removes no {node.kind.name}"
        with explained(problem, "leave it", ErrorCode.NOT_SUPPORTED):
            call("hipGraphDestroyNode", node.handle)
        self.recording.forget(node.handle)

    def _change_edges(self, name: str, before: Sequence[Node], after: Sequence[Node]) -> None:
        if len(before) != len(after):
            raise ValueError(f"before has {len(before)} nodes, after {len(after)}: give pairs")
        pairs = (handle_array(node.handle for node in nodes) for nodes in (before, after))
        call(name, self.handle, *pairs, len(before))

    def _add(self, name: str, dependencies: Sequence[Node], *params: Any) -> int:
        before = handle_array(node.handle for node in dependencies)
        with on_device(self.device):
            handle: int = call(name, self.handle, before, len(dependencies), *params)
        return handle
