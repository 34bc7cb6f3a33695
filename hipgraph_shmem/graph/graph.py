"""Graph: nodes and edges, recorded or built by hand, from which graph execs are made."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from ..access import Access
from ..devices import on_device
from ..handle import Handle
from ..hip_abi import MemcpyKind, NodeKind
from ..launch import LaunchConfig, pack
from ..memory import Buffer, PinnedBuffer
from ..module import Kernel
from ..runtime import call
from .check import check
from .dot import to_dot
from .findings import Finding
from .graph_exec import GraphExec
from .nodes import KernelNode, MemcpyNode, MemsetNode, Node, read_node
from .params import ArgumentBlock, kernel_node_params, memset_node_params
from .recording import Recording, refuse_closed

__all__ = ["Graph"]

#: By (source on the device, destination on the device).
_DIRECTIONS = MappingProxyType(
    {
        (False, False): MemcpyKind.HOST_TO_HOST,
        (False, True): MemcpyKind.HOST_TO_DEVICE,
        (True, False): MemcpyKind.DEVICE_TO_HOST,
        (True, True): MemcpyKind.DEVICE_TO_DEVICE,
    }
)


class Graph(Handle):
    """Operations and their order; it keeps alive what its nodes name.

    Args:
        device: The device its nodes run on; None: the current one of this thread.
    """

    destroy: ClassVar[str] = "hipGraphDestroy"
    __slots__ = ("_device", "_recording")

    def __init__(self, device: int | None = None) -> None:
        with on_device(device) as ordinal:
            raw = call("hipGraphCreate", 0)
        self._take(raw, Recording(), ordinal)

    @classmethod
    def borrow(cls, raw: int) -> Graph:
        """Wrap a raw hipGraph_t of this thread's device that someone else owns.

        What is added to it here is kept alive by this object. After adding, `complete()` it, and
        give each exec that is instantiated elsewhere memory of its own: `recording.lend(raw_exec)`.
        """
        graph = super().borrow(raw)
        graph._recording, graph._device = Recording(), call("hipGetDevice")
        return graph

    @classmethod
    def adopt(cls, raw: int, recording: Recording, device: int) -> Graph:
        """Own a graph that a capture made."""
        graph = cls.__new__(cls)
        graph._take(raw, recording, device)
        return graph

    def _take(self, raw: int, recording: Recording, device: int) -> None:
        self._recording = recording
        self._device = device
        super().__init__(raw, recording)

    @property
    def device(self) -> int:
        """The device that the nodes run on."""
        return self._device

    @property
    def recording(self) -> Recording:
        """What the nodes need alive, and what each exec gets of its own."""
        return self._recording

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes in an order in which they could run one by one."""
        self.complete()
        count = ctypes.c_size_t()
        call("hipGraphGetNodes", self.handle, None, ctypes.byref(count))
        handles = _handles(count.value)
        if count.value:
            call("hipGraphGetNodes", self.handle, handles, ctypes.byref(count))
        return tuple(read_node(handle or 0) for handle in handles)

    @property
    def edges(self) -> tuple[tuple[Node, Node], ...]:
        """Pairs (before, after)."""
        by_handle = {node.handle: node for node in self.nodes}
        count = ctypes.c_size_t()
        call("hipGraphGetEdges", self.handle, None, None, ctypes.byref(count))
        before, after = _handles(count.value), _handles(count.value)
        if count.value:
            call("hipGraphGetEdges", self.handle, before, after, ctypes.byref(count))
        pairs = zip(before, after, strict=True)
        return tuple((by_handle[start or 0], by_handle[end or 0]) for start, end in pairs)

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
        self._recording.keep(kernel, block, *keep)
        handle = self._add("hipGraphAddKernelNode", dependencies, ctypes.byref(params))
        if access is not None:
            self._recording.declare(handle, access)
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
        self._recording.keep(destination)
        handle = self._add("hipGraphAddMemsetNode", dependencies, ctypes.byref(params))
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
        destination: Buffer | PinnedBuffer,
        source: Buffer | PinnedBuffer,
        *,
        dependencies: Sequence[Node] = (),
    ) -> MemcpyNode:
        """Add a copy of one whole buffer into another; the source is read at each replay."""
        if source.nbytes > destination.nbytes:
            raise ValueError(
                f"source={source!r}: {source.nbytes} bytes do not fit into the"
                f" {destination.nbytes} of destination={destination!r}"
            )
        direction = _DIRECTIONS[isinstance(source, Buffer), isinstance(destination, Buffer)]
        self._recording.keep(destination, source)
        handle = self._add(
            "hipGraphAddMemcpyNode1D",
            dependencies,
            destination.address,
            source.address,
            source.nbytes,
            direction,
        )
        return MemcpyNode(
            handle=handle,
            kind=NodeKind.MEMCPY,
            destination=destination.address,
            source=source.address,
            nbytes=source.nbytes,
            direction=direction,
        )

    def add_empty(self, *, dependencies: Sequence[Node] = ()) -> Node:
        """Add a node that only orders others."""
        return Node(self._add("hipGraphAddEmptyNode", dependencies), NodeKind.EMPTY)

    def add_dependencies(self, before: Sequence[Node], after: Sequence[Node]) -> None:
        """Add an edge from each node of `before` to the node of `after` in the same place."""
        if len(before) != len(after):
            raise ValueError(f"before has {len(before)} nodes, after {len(after)}: give pairs")
        call(
            "hipGraphAddDependencies",
            self.handle,
            _handles(len(before), before),
            _handles(len(after), after),
            len(before),
        )

    def to_dot(self) -> str:
        """Return the graph as DOT text, which graphviz draws."""
        return to_dot(self.nodes, self.edges, self._recording.counters)

    def instantiate(self) -> GraphExec:
        """Make an exec; it may outlive the graph."""
        self.complete()
        refuse_closed(self._recording.kept, self)
        with on_device(self._device):
            return GraphExec(self)

    def check(self) -> tuple[Finding, ...]:
        """Look for what makes replays wrong: counters, dead memory, missing edges.

        Returns:
            What was found, each with the nodes and addresses concerned; empty: nothing is wrong
            with what the nodes, the kernels' metadata and the declared accesses tell.
        """
        return check(self)

    def complete(self) -> None:
        """Add what attachments still owe the graph; listing and instantiating do so too."""
        self._recording.complete(self)

    def close(self) -> None:
        """Destroy the graph; its execs stay usable."""
        super().close()
        self._recording.clear()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._recording.clear()

    def _add(self, name: str, dependencies: Sequence[Node], *params: Any) -> int:
        before = _handles(len(dependencies), dependencies)
        with on_device(self._device):
            handle: int = call(name, self.handle, before, len(dependencies), *params)
        return handle


def _handles(count: int, nodes: Sequence[Node] = ()) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * count)(*(node.handle for node in nodes))
