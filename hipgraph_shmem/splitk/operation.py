"""Operation: a GEMM of fixed sizes as its user calls it, whoever wrote its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.graph import Graph
from ..graph.nodes import Node
from ..stream import as_stream
from . import run
from .work import Work

__all__ = ["Operation"]


class Operation:
    """D (m x n) = A (m x k) * B (n x k) transposed, plus a bias; eager, captured or added."""

    def work(self, a: Any, b: Any, out: Any, bias: Any = None) -> Work:
        """Check the operands; return what a call does, for callers that own the scratch memory."""
        raise NotImplementedError

    def __call__(self, stream: Any, a: Any, b: Any, out: Any, bias: Any = None) -> None:
        """Run the GEMM in stream order, or record it where the stream is captured.

        Args:
            stream: A Stream, a raw handle or an object with `__cuda_stream__`.
            a: A, as Buffer, array-interface or DLPack object, or a device address of m x k
                elements without gaps.
            b: B, likewise, n x k; for a shuffled kernel of AMD's in its order, and without gaps.
            out: D, likewise, m x n.
            bias: n numbers, or None. Ours: float32, bfloat16 or float16 (an address: of
                `out_dtype`); AMD's: bfloat16.
        """
        run.run(as_stream(stream), self.work(a, b, out, bias))

    def add_to(
        self,
        graph: Graph,
        a: Any,
        b: Any,
        out: Any,
        bias: Any = None,
        *,
        dependencies: Sequence[Node] = (),
    ) -> Node:
        """Add the GEMM to a graph behind `dependencies`; return its last node."""
        return run.add(graph, self.work(a, b, out, bias), dependencies)
