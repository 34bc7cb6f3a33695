"""Memory that is dead or will not live, and graphs of others."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest
from helpers.checks import (
    ONE,
    SOURCE,
    add_copy,
    hip,
    kinds,
    launch_by_hand,
    only,
    recorded_by_hand,
    spans,
)
from helpers.kernels import compile_hip

from hipgraph_shmem import (
    Access,
    Buffer,
    FindingKind,
    Graph,
    Module,
    NodeKind,
    PinnedBuffer,
    Region,
    capture,
)
from hipgraph_shmem.graph import KernelNode
from hipgraph_shmem.graph.arguments import read_arguments
from hipgraph_shmem.hip_abi import MemcpyKind
from hipgraph_shmem.launch import pack
from hipgraph_shmem.runtime import call
from hipgraph_shmem.stream import Stream

# --- dead memory ---------------------------------------------------------------------------------


def test_memory_that_was_freed(stream: Stream) -> None:
    raw = call("hipMalloc", 4096)
    with Graph() as graph, Buffer(64) as alive:
        fill = graph.add_memset(raw, 1, 64)
        graph.add_memset(alive, 1, 64)
        assert graph.check() == ()
        call("hipFree", raw)
        finding = only(graph, FindingKind.DEAD_MEMORY)
        assert finding.nodes == (fill,)
        assert spans(finding) == [(raw, raw + 64)]


def test_a_fill_beyond_its_allocation(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph:
        fill = graph.add_memset(buffers[0], 1, 64)
        graph.recording.declare(fill.handle, Access(writes=[Region(buffers[0].address + 250, 7)]))
        assert kinds(graph) == [FindingKind.DEAD_MEMORY]
        graph.recording.declare(fill.handle, Access(writes=[Region(buffers[0].address + 250, 6)]))
        assert graph.check() == ()


def test_memory_that_was_closed_although_its_address_lives(module: Module) -> None:
    """A part of a larger allocation whose owner is closed: HIP alone cannot know."""

    class Part:
        frees_memory = True
        closed = False

        def __init__(self, address: int) -> None:
            self.extent = (address, address + 32)

    with Graph() as graph, Buffer(256) as whole:
        part = Part(whole.address + 64)
        fill = graph.add_memset(whole.address + 90, 0, 32)
        graph.recording.keep(part)
        assert graph.check() == ()
        part.closed = True
        finding = only(graph, FindingKind.DEAD_MEMORY)
        assert finding.nodes == (fill,)
        assert spans(finding) == [(whole.address + 90, whole.address + 96)]


def test_a_closed_buffer_is_reported(module: Module) -> None:
    with Graph() as graph:
        buffer = Buffer(256)
        node = graph.add_kernel(module.kernel("touch"), ONE, buffer)
        assert graph.check() == ()
        buffer.close()
        findings = graph.check()
        assert {each.kind for each in findings} == {FindingKind.DEAD_MEMORY}
        assert all(each.nodes == (node,) for each in findings)


def test_a_null_pointer_is_no_memory(module: Module) -> None:
    with Graph() as graph:
        graph.add_kernel(module.kernel("touch"), ONE, None)
        assert graph.check() == ()


def test_a_closed_module(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph:
        made = Module(compile_hip(SOURCE))
        graph.add_kernel(made.kernel("touch"), ONE, buffers[0])
        assert graph.check() == ()
        made.close()
        texts = [str(each) for each in graph.check() if each.kind is FindingKind.DEAD_MEMORY]
        assert len(texts) == 1
        assert "closed" in texts[0]


# --- host memory ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MemcpyKind.HOST_TO_DEVICE, MemcpyKind.DEFAULT])
def test_a_source_that_nobody_keeps(buffers: tuple[Buffer, ...], kind: MemcpyKind) -> None:
    source = np.zeros(64, np.uint8)
    with Graph() as graph:
        node = add_copy(graph, buffers[0].address, source.ctypes.data, 64, kind)
        finding = only(graph, FindingKind.HOST_MEMORY)
        assert [each.handle for each in finding.nodes] == [node]
        graph.recording.keep(source[:32])
        start = source.ctypes.data
        assert spans(only(graph, FindingKind.HOST_MEMORY)) == [(start + 32, start + 64)]
        graph.recording.keep(source)
        assert graph.check() == ()


def test_a_target_that_nobody_keeps(buffers: tuple[Buffer, ...]) -> None:
    with Graph() as graph, PinnedBuffer(64) as pinned:
        add_copy(graph, pinned.address, buffers[0].address, 64, MemcpyKind.DEVICE_TO_HOST)
        assert kinds(graph) == [FindingKind.HOST_MEMORY]
        graph.recording.keep(pinned)
        assert graph.check() == ()


def test_what_the_package_copies_it_keeps(stream: Stream, buffers: tuple[Buffer, ...]) -> None:
    result = np.empty(256, np.uint8)
    with PinnedBuffer(256) as pinned:
        with capture(stream) as captured:
            buffers[0].copy_from(np.zeros(256, np.uint8), stream)
            buffers[1].copy_from(pinned, stream)
            buffers[2].copy_from(bytes(256), stream, live=True)
            buffers[0].copy_to(result, stream)
        with captured.graph as graph:
            gc.collect()
            assert graph.check() == ()


# --- graphs of others ----------------------------------------------------------------------------


def test_a_graph_recorded_by_others(
    stream: Stream, module: Module, buffers: tuple[Buffer, ...]
) -> None:
    one, two, _ = buffers
    kernel = module.kernel("copy")
    host = np.zeros(64, np.uint8)

    def work() -> None:
        call("hipMemsetD8Async", one.address, 1, 256, stream.handle)
        launch_by_hand(stream, kernel.handle, one.address, two.address)
        kind = MemcpyKind.DEVICE_TO_HOST
        call("hipMemcpyAsync", host.ctypes.data, two.address, 64, kind, stream.handle)

    with recorded_by_hand(stream, work) as graph:
        assert kinds(graph) == [FindingKind.HOST_MEMORY]
        graph.recording.keep(host)
        assert graph.check() == ()
        graph.add_memset(two, 0, 4)
        assert kinds(graph) == [FindingKind.UNORDERED] * 2


def test_a_kernel_of_an_unknown_module(stream: Stream, buffers: tuple[Buffer, ...]) -> None:
    image = compile_hip(SOURCE)
    foreign = call("hipModuleLoadData", image)
    function = call("hipModuleGetFunction", foreign, b"copy")

    def work() -> None:
        for target in buffers[1:]:
            launch_by_hand(stream, function, buffers[0].address, target.address)

    with recorded_by_hand(stream, work) as graph:
        finding = only(graph, FindingKind.UNKNOWN)
        assert finding.nodes == graph.nodes
        for node, target in zip(graph.nodes, buffers[1:], strict=True):
            access = Access(reads=[buffers[0]], writes=[target])
            graph.recording.declare(node.handle, access)
        assert graph.check() == ()
    call("hipModuleUnload", foreign)


def test_a_host_function_is_unknown(stream: Stream) -> None:
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    callback = ctypes.cast(function, ctypes.c_void_p)
    with recorded_by_hand(
        stream,
        lambda: hip(
            "hipLaunchHostFunc", stream.handle, ctypes.cast(callback, ctypes.c_void_p), None
        ),
    ) as graph:
        finding = only(graph, FindingKind.UNKNOWN)
        assert finding.nodes[0].kind is NodeKind.HOST


def test_arguments_are_read_in_either_form(
    stream: Stream, module: Module, buffers: tuple[Buffer, ...]
) -> None:
    kernel = module.kernel("copy")
    addresses = [each.address for each in buffers[:2]]
    with Graph() as graph:
        node = graph.add_kernel(kernel, ONE, *addresses)
        assert read_arguments(node.handle, kernel.metadata) == pack(
            kernel.metadata, tuple(addresses)
        )
        with recorded_by_hand(
            stream, lambda: launch_by_hand(stream, kernel.handle, *addresses)
        ) as other:
            (recorded,) = other.nodes
            assert isinstance(recorded, KernelNode)
            assert recorded.name == "copy"
            block = read_arguments(recorded.handle, kernel.metadata)
            assert block == pack(kernel.metadata, tuple(addresses))
