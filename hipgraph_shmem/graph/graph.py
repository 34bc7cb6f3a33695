"""Graph: nodes and edges, recorded or built by hand, from which graph execs are made."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import ClassVar

from ..access import Access
from ..devices import on_device
from ..handle import Handle
from ..hip_abi import ErrorCode
from ..runtime import call
from .adding import NodeAdding
from .check import check
from .dot import to_dot
from .editing import NodeEditing
from .findings import Finding
from .graph_exec import GraphExec
from .listing import edge_handles, node_handles, twins
from .nodes import Node, read_node
from .recording import Recording
from .refusal import explained
from .setter import Setter

__all__ = ["Graph"]


class Graph(Handle, NodeAdding, NodeEditing):
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
        return tuple(read_node(handle) for handle in node_handles(self.handle))

    @property
    def edges(self) -> tuple[tuple[Node, Node], ...]:
        """Pairs (before, after)."""
        by_handle = {node.handle: node for node in self.nodes}
        pairs = edge_handles(self.handle)
        return tuple((by_handle[start], by_handle[end]) for start, end in pairs)

    def clone(self) -> Graph:
        """Return a graph with equal nodes and edges; split-K launches get counters of their own.

        Raises:
            GraphError: It allocates memory, which HIP does not clone.
        """
        self.complete()
        problem = f"{self!r} allocates or frees memory, and HIP clones no such graph"
        with explained(problem, "record it again", ErrorCode.NOT_SUPPORTED):
            raw = call("hipGraphClone", self.handle)
        try:
            recording = self._recording.copy(twins(self.handle, raw))
        except BaseException:
            call("hipGraphDestroy", raw)
            raise
        return Graph.adopt(raw, recording, self._device)

    def to_dot(self) -> str:
        """Return the graph as DOT text, which graphviz draws."""
        self.complete()
        return to_dot(self.handle, self._recording)

    def instantiate(self, *, auto_free: bool = False) -> GraphExec:
        """Make an exec; it may outlive the graph.

        Args:
            auto_free: Where a launch finds memory that the one before allocated and nobody freed,
                free it first (hipGraphInstantiateFlagAutoFreeOnLaunch); else such a launch fails.

        Raises:
            GraphError: Memory that its nodes name is closed; or it allocates memory and was
                instantiated before, which HIP allows once.
        """
        return GraphExec(self, auto_free=auto_free)

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

    def _manages(self, node: Node) -> bool:
        return node.handle in self._recording.managed

    @contextlib.contextmanager
    def _setting(self) -> Iterator[Setter]:
        with on_device(self._device):
            yield Setter()

    def _replace(self, node: Node, keep: Iterable[object], access: Access | None) -> None:
        self._recording.replace(node.handle, keep, access)
