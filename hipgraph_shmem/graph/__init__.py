"""From capture to replay: record or build a Graph, make GraphExecs of it, launch them."""

from ..hip_abi import CaptureMode, NodeKind
from .adopted import adopt_capture
from .capture import Captured, capture
from .findings import Finding, FindingKind
from .graph import Graph
from .graph_exec import GraphExec
from .nodes import KernelNode, MemcpyNode, MemsetNode, Node
from .trace import trace

__all__ = [
    "CaptureMode",
    "Captured",
    "Finding",
    "FindingKind",
    "Graph",
    "GraphExec",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "Node",
    "NodeKind",
    "adopt_capture",
    "capture",
    "trace",
]
