"""A graph as DOT text, which graphviz draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .listing import edge_handles, node_handles
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
    read_node,
)
from .recording import CounterSlot, Recording

__all__ = ["describe", "to_dot", "zeroes_counters"]

_STYLE = 'fontname="monospace" shape=box style=filled fillcolor='


def to_dot(graph: int, recording: Recording) -> str:
    """Return the DOT text of a graph; a child graph is a cluster beside its node.

    Args:
        graph: The hipGraph_t, complete. Its nodes are called n0, n1 and so on; those of the child
            graph in n1 are n1_0, n1_1 and so on.
        recording: What is known of it; fills of its counters are marked.
    """
    return "\n".join(["digraph {", *_body(graph, recording, "n", "  "), "}", ""])


def _body(graph: int, recording: Recording, prefix: str, indent: str) -> Iterator[str]:
    handles = node_handles(graph)
    names = {handle: f"{prefix}{index}" for index, handle in enumerate(handles)}
    for handle in handles:
        node, name = read_node(handle), names[handle]
        words, color = describe(node), "white"
        if isinstance(node, KernelNode):
            color = "lightblue"
        elif zeroes_counters(node, recording.counters):
            words, color = ["zero-fill of counters", *words], "orange"
        label = "\\n".join(_escape(word) for word in words)
        yield f'{indent}{name} [label="{label}" {_STYLE}"{color}"]'
        if isinstance(node, ChildGraphNode):
            yield from _cluster(node, recording.child(handle), name, indent)
    for start, end in edge_handles(graph):
        yield f"{indent}{names[start]} -> {names[end]}"


def _cluster(node: ChildGraphNode, recording: Recording, name: str, indent: str) -> Iterator[str]:
    yield f"{indent}subgraph cluster_{name} {{"
    yield f'{indent}  label="child graph of {name}" style=dashed'
    yield from _body(node.graph, recording, f"{name}_", indent + "  ")
    yield f"{indent}}}"


def describe(node: Node) -> list[str]:
    """Say what a node does, a fact a line."""
    if isinstance(node, KernelNode):
        lds = [f"dynamic LDS {node.lds_bytes} bytes"] if node.lds_bytes else []
        name = node.name or f"function {node.function:#x}"
        return [f"kernel {name}", f"grid {_by(node.grid)} block {_by(node.block)}", *lds]
    if isinstance(node, MemsetNode):
        return [f"memset {node.nbytes} bytes to {node.value:#x}", f"at {node.address:#x}"]
    if isinstance(node, MemcpyNode):
        return [
            f"memcpy {node.nbytes} bytes {node.direction.name.lower()}",
            f"{node.source:#x} to {node.destination:#x}",
        ]
    if isinstance(node, EventNode):
        return [f"{node.kind.name.lower().replace('_', ' ')} {node.event:#x}"]
    if isinstance(node, AllocNode):
        return [f"allocate {node.nbytes} bytes", f"at {node.address:#x}"]
    if isinstance(node, FreeNode):
        return ["free", f"at {node.address:#x}"]
    if isinstance(node, HostNode):
        return [f"host function {node.function:#x}", f"with {node.user_data:#x}"]
    return [node.kind.name.lower()]


def zeroes_counters(node: Node, counters: Iterable[CounterSlot]) -> bool:
    """Tell whether a node fills counter words."""
    if not isinstance(node, MemsetNode):
        return False
    end = node.address + node.nbytes
    return any(node.address <= slot.address < end for slot in counters)


def _by(extents: tuple[int, int, int]) -> str:
    return "x".join(map(str, extents))


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
