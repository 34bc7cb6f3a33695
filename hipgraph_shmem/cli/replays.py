"""One GEMM run eagerly, captured and replayed, every result checked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..graph import Graph, GraphExec, KernelNode, MemsetNode, capture
from ..memory import Buffer
from ..runtime import call
from ..splitk import Plan, check
from ..stream import Stream
from .output import Progress
from .reference import Array, Expected, expect, random_matrix

__all__ = ["GARBAGE", "check_replays"]

#: Two bfloat16 ones: what a counter holds when a recycled address was given to an activation.
GARBAGE = 0x3F803F80
#: Every so many replays the same inputs also run eagerly.
_EAGER_STEP = 10


class AnyGemm(Protocol):
    """Our GEMM, or one of AMD's."""

    plan: Plan
    device: int

    def __call__(self, stream: Any, a: Any, b: Any, out: Any) -> None:
        """Run or record it."""


@dataclass(slots=True)
class _Case:
    """The device memory of a run."""

    gemm: AnyGemm
    stream: Stream
    a: Buffer
    b: Buffer
    out: Buffer

    def eager(self) -> Array:
        """Run the GEMM and return its result."""
        self.gemm(self.stream, self.a, self.b, self.out)
        return self.out.to_numpy(self.stream)

    def replay(self, graph_exec: GraphExec) -> Array:
        """Replay the graph over an output full of garbage; return its result."""
        self.out.fill(0xFF, self.stream)
        graph_exec.launch(self.stream)
        return self.out.to_numpy(self.stream)


def check_replays(gemm: AnyGemm, *, replays: int, exact: bool, label: str) -> dict[str, Any]:
    """Run, capture and replay a GEMM with new inputs each time; return the facts.

    Args:
        gemm: What is run.
        replays: How often.
        exact: Whether eager and replayed results must have the same bits.
        label: What progress lines call it.
    """
    plan, device = gemm.plan, gemm.device
    began = time.monotonic()
    with (
        Stream(device) as stream,
        Buffer((plan.m, plan.k), "bfloat16", device) as a,
        Buffer((plan.n, plan.k), "bfloat16", device) as b,
        Buffer((plan.m, plan.n), "float32", device) as out,
    ):
        case = _Case(gemm, stream, a, b, out)
        facts = _run(case, replays=replays, exact=exact, label=label)
        stream.synchronize()
        check(stream)
    shape = {"m": plan.m, "n": plan.n, "k": plan.k, "split_k": plan.split_k}
    return {
        "kernel": label,
        **shape,
        "grid": list(plan.grid),
        **facts,
        "seconds": round(time.monotonic() - began, 3),
    }


def _run(case: _Case, *, replays: int, exact: bool, label: str) -> dict[str, Any]:
    random = np.random.default_rng(case.gemm.plan.k)
    expected = _refill(case, random)
    first = case.eager()
    errors = [expected.errors(first)]
    original = case.a.to_numpy(case.stream), case.b.to_numpy(case.stream)
    with capture(case.stream) as captured:
        case.gemm(case.stream, case.a, case.b, case.out)
    progress = Progress(label, replays)
    with captured.graph as graph, graph.instantiate() as graph_exec:
        listing = _listing(graph)
        same = [_same_bits(first, case.replay(graph_exec))]
        for index in range(replays):
            expected = _refill(case, random)
            _spoil_counters(graph, case.stream)
            result = case.replay(graph_exec)
            errors.append(expected.errors(result))
            if exact and index % _EAGER_STEP == 0:
                same.append(_same_bits(result, case.eager()))
            progress.step(index + 1)
        case.a.copy_from(original[0], case.stream)
        case.b.copy_from(original[1], case.stream)
        same.append(_same_bits(first, case.replay(graph_exec)))
    worst = max(of_bound for _, of_bound in errors)
    right = worst <= 1 and (all(same) or not exact) and listing["zeroed_by_one_node"]
    return {
        "replays": replays,
        "largest_error": max(error for error, _ in errors),
        "worst_error_of_bound": worst,
        "exact": exact,
        "bitwise_equal": all(same),
        "counters_overwritten": listing["counter_words"] > 0,
        **listing,
        "ok": right and case.gemm.plan.split_k > 1,
    }


def _refill(case: _Case, random: np.random.Generator) -> Expected:
    """Give the GEMM new inputs; return what comes out of them."""
    plan = case.gemm.plan
    a, b = random_matrix(random, plan.m, plan.k), random_matrix(random, plan.n, plan.k)
    case.a.copy_from(a, case.stream)
    case.b.copy_from(b, case.stream)
    return expect(a, b, plan.split_k)


def _same_bits(one: Array, other: Array) -> bool:
    return bool(np.array_equal(one.view(np.uint32), other.view(np.uint32)))


def _counter_fills(graph: Graph) -> list[MemsetNode]:
    """Return the nodes that zero words; an output is zeroed by bytes."""
    fills = (node for node in graph.nodes if isinstance(node, MemsetNode))
    return [node for node in fills if node.element_size == np.uint32().nbytes]


def _spoil_counters(graph: Graph, stream: Stream) -> None:
    for node in _counter_fills(graph):
        call("hipMemsetD32Async", node.address, GARBAGE, node.width, stream.handle)


def _listing(graph: Graph) -> dict[str, Any]:
    """Describe nodes and edges by their place in the list."""
    nodes, edges = graph.nodes, graph.edges
    fills = [node for node in nodes if isinstance(node, MemsetNode)]
    kernels = {node.handle for node in nodes if isinstance(node, KernelNode)}
    zeroed = {after.handle for before, after in edges if before in fills}
    place = {node.handle: index for index, node in enumerate(nodes)}
    return {
        "nodes": [_describe(node) for node in nodes],
        "edges": [[place[before.handle], place[after.handle]] for before, after in edges],
        "counter_words": sum(node.width for node in _counter_fills(graph)),
        "zeroed_by_one_node": len(fills) == 1 and zeroed == kernels,
    }


def _describe(node: Any) -> str:
    if isinstance(node, KernelNode):
        return f"kernel {node.name} grid {'x'.join(map(str, node.grid))}"
    if isinstance(node, MemsetNode):
        return f"memset {node.nbytes} bytes at {node.address:#x} to {node.value}"
    return str(node.kind.name.lower())
