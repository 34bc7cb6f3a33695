"""Findings: what is wrong with a graph, or could not be proven right."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from .nodes import KernelNode, Node
from .ranges import Range

__all__ = ["Finding", "FindingKind", "describe"]


class FindingKind(enum.Enum):
    """What a finding is about."""

    DIRTY_COUNTER = "dirty counter"
    SHARED_COUNTER = "shared counter"
    DEAD_MEMORY = "dead memory"
    UNORDERED = "unordered"
    HOST_MEMORY = "host memory"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `Graph.check` found.

    Attributes:
        kind: What it is about.
        nodes: The nodes concerned.
        ranges: The addresses concerned.
        text: A sentence that names both.
    """

    kind: FindingKind
    nodes: tuple[Node, ...]
    ranges: tuple[Range, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.text}"


def describe(node: Node) -> str:
    """Return what to call a node in a sentence."""
    name = f" {node.name}" if isinstance(node, KernelNode) and node.name else ""
    return f"{node.kind.name.lower()} node {node.handle:#x}{name}"
