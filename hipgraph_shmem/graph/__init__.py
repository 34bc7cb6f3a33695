"""From capture to replay: record or build a Graph, make GraphExecs of it, launch them."""

from ..hip_abi import CaptureMode, NodeKind
from .adopted import adopt_capture
from .capture import Captured, capture
from .findings import Finding, FindingKind
from .graph import Graph
from .graph_exec import GraphExec
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
from .trace import trace
from .update import Update

__all__ = [
    "AllocNode",
    "CaptureMode",
    "Captured",
    "ChildGraphNode",
    "EventNode",
    "Finding",
    "FindingKind",
    "FreeNode",
    "Graph",
    "GraphExec",
    "HostNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "Node",
    "NodeKind",
    "Update",
    "adopt_capture",
    "capture",
    "trace",
]
