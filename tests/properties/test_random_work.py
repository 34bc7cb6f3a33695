"""Random graphs, built and captured, do what the same work does at once, and what a model says."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.random_ways import Device, built, one_by_one, over_streams, random_memory, recorded
from helpers.random_work import SIZE, Memory, Operation, draw_work

from hipgraph_shmem import Buffer, Graph

pytestmark = pytest.mark.usefixtures("emulated")


SEEDS, LONG_SEEDS, PART = 300, 5000, 100


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        count = LONG_SEEDS if metafunc.config.getoption("--long") else SEEDS
        parts = [range(start, start + PART) for start in range(0, count, PART)]
        metafunc.parametrize("seeds", parts, ids=[f"from {part.start}" for part in parts])


@pytest.fixture
def memory(device: Any) -> Iterator[Device]:
    with Buffer(SIZE) as constant:
        made = Device(constant)
        yield made
        made.close()


def expected(work: Sequence[Operation], before: Memory, times: int) -> Memory:
    """The oracle: the work in the order in which it was drawn."""
    after = before.copy()
    for operation in (*work,) * times:
        operation.apply(after)
    return after


def replay(device: Device, graph: Graph, times: int) -> None:
    with graph.instantiate() as graph_exec:
        for turn in range(times):
            graph_exec.launch(device.streams[turn])
        graph_exec.synchronize()


def test_random_work_is_the_same_in_every_way(memory: Device, seeds: range) -> None:
    for seed in seeds:
        compare_ways(memory, seed)


def compare_ways(memory: Device, seed: int) -> None:
    draw = random.Random(seed)
    work = draw_work(draw)
    before = random_memory(seed)

    def check(way: str, times: int) -> None:
        assert np.array_equal(memory.read(), expected(work, before, times)), (way, seed)

    memory.write(before)
    one_by_one(memory, work, draw)
    check("one by one", 1)
    memory.write(before)
    over_streams(memory, work, draw)
    check("over streams", 1)
    memory.write(before)
    with built(memory, work) as graph:
        replay(memory, graph, 2)
        check("built", 2)
        memory.write(before)
        with graph.clone() as twin:
            replay(memory, twin, 2)
    check("cloned", 2)
    memory.write(before)
    with recorded(memory, work, draw) as graph:
        replay(memory, graph, 2)
    check("recorded", 2)
