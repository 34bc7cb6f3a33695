"""Run by splitk/test_gemm.py in a process with two emulated devices."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.gemm import Problem, problem

from hipgraph_shmem.devices import device_info
from hipgraph_shmem.errors import GraphError
from hipgraph_shmem.graph import Graph, capture
from hipgraph_shmem.launch import launch_packed
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.splitk import Gemm, check, usage
from hipgraph_shmem.stream import Stream

SIZES = (20, 70, 136)


def main() -> None:
    """Use device 1 while device 0 is the current one, then mix them up."""
    assert device_info(1).ordinal == 1
    given = problem(*SIZES)
    here, there = Stream(0), Stream(1)
    a, b = from_numpy(given.a, there), from_numpy(given.b, there)
    out = Buffer(SIZES[:2], np.float32, 1)
    gemm = Gemm(*SIZES, split_k=2, device=1)
    gemm(there, a, b, out)
    given.assert_right(out.to_numpy(there), 2)
    with capture(there) as captured:
        gemm(there, a, b, out)
    with captured.graph.instantiate() as first, captured.graph.instantiate() as second:
        for graph_exec in (first, second):
            out.fill(0xFF, there)
            graph_exec.launch(there)
            given.assert_right(out.to_numpy(there), 2)
    exclusive(there, captured.graph, gemm, (a, b, out), given)
    check(there)
    assert usage(0).counter_capacity == 0
    assert usage(1).counter_capacity > 0
    with pytest.raises(ValueError, match=r"^stream is on device 0"):
        gemm(here, a, b, out)
    step = gemm.work(a, b, out).steps[0]
    with pytest.raises(ValueError, match="load the module on the stream's device"):
        launch_packed(here, step.kernel, step.config, step.arguments(0, 0))
    with Graph(0) as graph, pytest.raises(ValueError, match=r"^graph is on device 0"):
        gemm.add_to(graph, a, b, out)
    near = from_numpy(given.a, here)
    for wrong in (near, near.address):
        with pytest.raises(ValueError, match=r"^a.* device 0: it must be on device 1"):
            gemm(there, wrong, b, out)
    with pytest.raises(ValueError, match=r"^device=2"):
        Gemm(*SIZES, device=2)


def exclusive(
    stream: Stream, graph: Graph, gemm: Gemm, operands: tuple[Buffer, ...], given: Problem
) -> None:
    """Clones, children and updates of a graph of device 1 have counters there, and nowhere else."""
    *_, out = operands
    parent, clone = Graph(1), graph.clone()
    parent.add_child(graph)
    with capture(stream) as captured:
        gemm(stream, *operands)
    again = captured.graph
    with (
        graph.instantiate() as first,
        clone.instantiate() as second,
        parent.instantiate() as third,
        parent.instantiate() as fourth,
    ):
        assert second.update(again).in_place
        for graph_exec in (first, second, third, fourth):
            out.fill(0xFF, stream)
            graph_exec.launch(stream)
            given.assert_right(out.to_numpy(stream), 2)
        memory = [each.counter_memory for each in (first, second, third, fourth)]
        assert all(memory)
        assert len(set(memory)) == 4
        with Graph(0) as here:
            here.add_empty()
            for refused in (lambda: here.add_child(graph), lambda: first.update(here)):
                with pytest.raises(GraphError, match="is of device"):
                    refused()


if __name__ == "__main__":
    main()
