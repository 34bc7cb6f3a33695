"""A graph as DOT text, which graphviz draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .nodes import KernelNode, MemcpyNode, MemsetNode, Node
from .recording import CounterSlot

__all__ = ["describe", "to_dot", "zeroes_counters"]

_STYLE = 'fontname="monospace" shape=box style=filled fillcolor='


def to_dot(
    nodes: Sequence[Node], edges: Iterable[tuple[Node, Node]], counters: Sequence[CounterSlot]
) -> str:
    """Return the DOT text of a graph.

    Args:
        nodes: The nodes; they are called n0, n1 and so on.
        edges: Pairs (before, after).
        counters: Counter words; fills of them are marked.
    """
    place = {node.handle: index for index, node in enumerate(nodes)}
    lines = ["digraph {"]
    for node in nodes:
        words, color = describe(node), "white"
        if isinstance(node, KernelNode):
            color = "lightblue"
        elif zeroes_counters(node, counters):
            words, color = ["zero-fill of counters", *words], "orange"
        label = "\\n".join(_escape(word) for word in words)
        lines.append(f'  n{place[node.handle]} [label="{label}" {_STYLE}"{color}"]')
    lines += [f"  n{place[start.handle]} -> n{place[end.handle]}" for start, end in edges]
    return "\n".join([*lines, "}", ""])


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
