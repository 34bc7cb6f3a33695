"""Graphs of split-K GEMMs are proven fine, however many GEMMs and streams there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from hipgraph_shmem.graph import FindingKind, Graph, capture
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.splitk import Gemm
from hipgraph_shmem.stream import Event, Stream

SIZES = (20, 70, 136)


@pytest.fixture
def operands(device: object) -> Iterator[tuple[Buffer, Buffer, Buffer]]:
    m, n, k = SIZES
    with (
        Buffer((m, k), "bfloat16") as a,
        Buffer((n, k), "bfloat16") as b,
        Buffer(n, np.float32) as bias,
    ):
        yield a, b, bias


class Columns:
    """Some columns of a wider matrix, as an array of others."""

    def __init__(self, whole: Buffer, first: int, count: int) -> None:
        rows, columns = whole.shape
        self.whole = whole
        self.__cuda_array_interface__ = {
            "shape": (rows, count),
            "typestr": "<f4",
            "data": (whole.address + 4 * first, False),
            "strides": (4 * columns, 4),
            "version": 3,
        }


@pytest.mark.parametrize("scheme", ["counter", "two_kernel"])
@pytest.mark.parametrize("split_k", [1, 2])
def test_one_gemm(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer], scheme: str, split_k: int
) -> None:
    a, b, bias = operands
    gemm = Gemm(*SIZES, split_k=split_k, scheme=scheme)
    with Buffer((SIZES[0], SIZES[1]), np.float32) as out:
        with capture(stream) as captured:
            gemm(stream, a, b, out, bias)
        with captured.graph as graph:
            assert graph.check() == ()
            gemm.add_to(graph, a, b, out)
            assert FindingKind.UNORDERED in {each.kind for each in graph.check()}


@pytest.mark.parametrize("scheme", ["counter", "two_kernel"])
def test_many_gemms_on_forked_streams(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer], scheme: str
) -> None:
    """They share inputs, the error word, and by turns the workspace of their stream."""
    a, b, bias = operands
    gemm = Gemm(*SIZES, split_k=3, scheme=scheme)
    outs = [Buffer((SIZES[0], SIZES[1]), np.float32) for _ in range(24)]
    with Stream() as branch, Event() as fork, Event() as join, capture(stream) as captured:
        gemm(stream, a, b, outs[0], bias)
        stream.record(fork)
        branch.wait(fork)
        for one, other in zip(outs[1::2], outs[2::2], strict=False):
            gemm(stream, a, b, one, bias)
            gemm(branch, a, b, other, bias)
        branch.record(join)
        stream.wait(join)
        gemm(stream, a, b, outs[-1], bias)
    with captured.graph as graph:
        assert graph.check() == ()
        with graph.instantiate(), graph.instantiate():
            assert graph.check() == ()
    for out in outs:
        out.close()


def test_gemms_added_by_hand_side_by_side(operands: tuple[Buffer, Buffer, Buffer]) -> None:
    a, b, _ = operands
    gemm = Gemm(*SIZES, split_k=2)
    m, n, _ = SIZES
    with Graph() as graph, Buffer((m, 2 * n + 2), np.float32) as whole:
        gemm.add_to(graph, a, b, Columns(whole, 0, n))
        gemm.add_to(graph, a, b, Columns(whole, n, n))
        assert graph.check() == ()
        third = gemm.add_to(graph, a, b, Columns(whole, n + 2, n))
        (finding,) = graph.check()
        assert finding.kind is FindingKind.UNORDERED
        assert third in finding.nodes
        assert len(finding.ranges) == m
        assert {each.stop - each.start for each in finding.ranges} == {4 * (n - 2)}


def test_a_fill_of_an_output_needs_its_place(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer]
) -> None:
    a, b, _ = operands
    gemm = Gemm(*SIZES, split_k=2)
    with Graph() as graph, Buffer((SIZES[0], SIZES[1]), np.float32) as out:
        last = gemm.add_to(graph, a, b, out)
        fill = graph.add_memset(out, 0, out.nbytes)
        assert [each.kind for each in graph.check()] == [FindingKind.UNORDERED]
        graph.add_dependencies([fill], [last])
        assert graph.check() == ()
