"""Nodes that touch the same bytes without an order, and the same graphs mended."""

from __future__ import annotations

import ctypes

import numpy as np
from helpers.checks import (
    ONE,
    hip,
    kinds,
    only,
    spans,
)

from hipgraph_shmem import (
    Access,
    Buffer,
    FindingKind,
    Graph,
    Module,
    capture,
)
from hipgraph_shmem.hip_abi import MemcpyKind
from hipgraph_shmem.launch import launch
from hipgraph_shmem.runtime import call
from hipgraph_shmem.stream import Event, Stream


def test_two_fills_of_the_same_bytes(buffers: tuple[Buffer, ...]) -> None:
    start = buffers[0].address
    with Graph() as graph:
        first = graph.add_memset(start, 1, 64)
        second = graph.add_memset(start + 60, 2, 64)
        finding = only(graph, FindingKind.UNORDERED)
        assert set(finding.nodes) == {first, second}
        assert spans(finding) == [(start + 60, start + 64)]
        graph.add_dependencies([first], [second])
        assert graph.check() == ()


def test_fills_that_only_meet(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph:
        graph.add_memset(buffers[0], 1, 64)
        graph.add_memset(buffers[0].address + 64, 2, 64)
        assert graph.check() == ()


def test_interleaved_rows(buffers: tuple[Buffer, ...]) -> None:
    start = buffers[0].address
    with Graph() as graph:
        graph.add_memset(start, 1, 8, rows=7, pitch=32)
        graph.add_memset(start + 8, 1, 8, rows=7, pitch=32)
        assert graph.check() == ()
        graph.add_memset(start + 12, 1, 8, rows=2, pitch=32)
        assert spans(only(graph, FindingKind.UNORDERED)) == [
            (start + 12, start + 16),
            (start + 44, start + 48),
        ]


def test_copies_of_rows(stream: Stream, buffers: tuple[Buffer, ...]) -> None:
    one, two, _ = buffers
    size = ctypes.c_size_t

    def copy_rows(target: int, source: int) -> None:
        kind = MemcpyKind.DEVICE_TO_DEVICE
        hip(
            "hipMemcpy2DAsync",
            target,
            size(32),
            source,
            size(32),
            size(8),
            size(7),
            kind,
            stream.handle,
        )

    for offset, expected in ((8, []), (4, [FindingKind.UNORDERED])):
        with Stream() as branch, Event() as fork, Event() as join, capture(stream) as captured:
            stream.record(fork)
            branch.wait(fork)
            copy_rows(two.address, one.address)
            call("hipMemset2DAsync", two.address + offset, 32, 7, 8, 7, branch.handle)
            branch.record(join)
            stream.wait(join)
        with captured.graph as graph:
            assert kinds(graph) == expected


def test_kernels_that_share_an_input(module: Module, buffers: tuple[Buffer, ...]) -> None:
    kernel = module.kernel("copy")
    with Graph() as graph:
        graph.add_kernel(kernel, ONE, buffers[0], buffers[1])
        graph.add_kernel(kernel, ONE, buffers[0], buffers[2])
        assert graph.check() == ()
        graph.add_kernel(kernel, ONE, buffers[1], buffers[0])
        assert kinds(graph) == [FindingKind.UNORDERED] * 2


def test_a_pointer_reaches_its_whole_allocation(
    module: Module, buffers: tuple[Buffer, ...]
) -> None:
    kernel, start = module.kernel("touch"), buffers[0].address
    with Graph() as graph:
        graph.add_kernel(kernel, ONE, start)
        graph.add_kernel(kernel, ONE, start + 128)
        assert spans(only(graph, FindingKind.UNORDERED)) == [(start, start + 256)]
    with Graph() as graph:
        for address in (start, start + 128):
            graph.add_kernel(kernel, ONE, address, access=Access(writes=[(address, 4)]))
        assert graph.check() == ()


def test_a_pointer_in_a_struct(module: Module, buffers: tuple[Buffer, ...]) -> None:
    class Pair(ctypes.Structure):
        _fields_ = (("out", ctypes.c_void_p), ("value", ctypes.c_int))

    with Graph() as graph:
        first = graph.add_kernel(module.kernel("hidden"), ONE, Pair(buffers[0].address, 1))
        second = graph.add_memset(buffers[0], 1, 4)
        assert set(only(graph, FindingKind.UNORDERED).nodes) == {first, second}
        graph.add_dependencies([first], [second])
        assert graph.check() == ()


def test_declared_at_a_recorded_launch(
    stream: Stream, module: Module, buffers: tuple[Buffer, ...]
) -> None:
    kernel, (one, two, _) = module.kernel("touch"), buffers
    for access, expected in ((None, [FindingKind.UNORDERED]), (Access(writes=[two]), [])):
        with Stream() as branch, Event() as fork, Event() as join, capture(stream) as captured:
            stream.record(fork)
            branch.wait(fork)
            launch(stream, kernel, ONE, one, access=access)
            one.fill(1, branch)
            branch.record(join)
            stream.wait(join)
        with captured.graph as graph:
            assert kinds(graph) == expected


def test_atomics_need_no_order_among_themselves(
    module: Module, buffers: tuple[Buffer, ...]
) -> None:
    kernel = module.kernel("count")
    with Graph() as graph:
        for _ in range(2):
            graph.add_kernel(kernel, ONE, buffers[0], access=Access(atomics=[buffers[0]]))
        assert graph.check() == ()
        graph.add_memset(buffers[0], 0, 4)
        assert kinds(graph) == [FindingKind.UNORDERED] * 2


def test_declared_rows_of_a_matrix(module: Module) -> None:
    """Column halves of one matrix, as arrays of others with a row stride."""

    class Columns:
        def __init__(self, address: int) -> None:
            self.__cuda_array_interface__ = {
                "shape": (4, 8),
                "typestr": "<f4",
                "data": (address, False),
                "strides": (64, 4),
                "version": 3,
            }

    with Graph() as graph, Buffer((4, 16), np.float32) as whole:
        for address in (whole.address, whole.address + 32):
            access = Access(writes=[Columns(address)])
            graph.add_kernel(module.kernel("touch"), ONE, address, access=access)
        assert graph.check() == ()
