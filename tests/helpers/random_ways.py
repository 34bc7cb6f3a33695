"""Every way of running random work on a device: as a graph, captured, at once, over streams."""

from __future__ import annotations

import contextlib
import ctypes
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from helpers.checks import hip
from helpers.hip_ctypes import DEFAULT, Memcpy3DParms, PitchedPtr
from helpers.kernels import compile_hip
from helpers.random_work import (
    CONSTANT,
    HOST,
    SEGMENTS,
    SIZE,
    WORD,
    Child,
    Copy,
    Fill,
    Memory,
    Mix,
    Operation,
    Signal,
    Span,
    Turn,
    another_order,
)

from hipgraph_shmem import Buffer, Event, Graph, LaunchConfig, Module, PinnedBuffer, Stream
from hipgraph_shmem.graph import Node, NodeKind, capture
from hipgraph_shmem.launch import launch
from hipgraph_shmem.runtime import call

SOURCE = """
extern "C" __global__ void mix(unsigned* to, const unsigned* source, unsigned factor, unsigned n) {
  unsigned at = 8 * __builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workitem_id_x();
  if (at < n) to[at] = to[at] * factor + source[at]; }
"""
THREADS = 8
STREAMS = 3
EXTERNAL = 1


class Device:
    """The memory of the work on the device, the kernel, streams and events.

    Args:
        constant: The segment that is only read; others may read it too.
    """

    def __init__(self, constant: Buffer) -> None:
        self.module = Module(compile_hip(SOURCE))
        self.mix = self.module.kernel("mix")
        self.buffers = [Buffer(SIZE) for _ in range(HOST)]
        self.host = PinnedBuffer(SIZE)
        self.constant = constant
        self.streams = [Stream() for _ in range(STREAMS)]
        self.events: list[Event] = []
        self.signal = Event(timing=False)

    def close(self) -> None:
        for each in (*self.events, self.signal, *self.streams, self.host, *self.buffers):
            each.close()
        self.module.close()

    def event(self, number: int) -> Event:
        while len(self.events) <= number:
            self.events.append(Event(timing=False))
        return self.events[number]

    @property
    def segments(self) -> list[Any]:
        return [*self.buffers, self.host, self.constant]

    def at(self, span: Span) -> int:
        address: int = self.segments[span.segment].address
        return address + span.start

    def turning(self, operation: Turn) -> Callable[[], object]:
        to = operation.to
        part = self.host.array[to.start : to.start + to.width]
        return lambda: np.bitwise_xor(part, np.uint8(operation.bits), out=part)

    def write(self, memory: Memory) -> None:
        for buffer, content in zip(self.buffers, memory, strict=False):
            buffer.copy_from(content, self.streams[0])
        self.host.array[:] = memory[HOST]
        self.constant.copy_from(memory[CONSTANT], self.streams[0])
        self.streams[0].synchronize()

    def read(self) -> Memory:
        for stream in self.streams:
            stream.synchronize()
        contents = [buffer.to_numpy(self.streams[0]) for buffer in self.buffers]
        return np.stack([*contents, self.host.array, self.constant.to_numpy(self.streams[0])])


def launch_of(device: Device, operation: Mix) -> tuple[Any, ...]:
    """A kernel with its grid and arguments: some small workgroups."""
    words = operation.to.width // WORD
    grid = LaunchConfig((-(-words // THREADS), 1, 1), (THREADS, 1, 1))
    operands = device.at(operation.to), device.at(operation.source)
    return device.mix, grid, *operands, operation.factor, words


# --- as nodes ------------------------------------------------------------------------------------


@contextlib.contextmanager
def built(device: Device, work: Sequence[Operation]) -> Iterator[Graph]:
    """Give a graph with a node for each operation."""
    with Graph() as graph:
        nodes: list[Node] = []
        for each in work:
            nodes.append(add(device, graph, each, [nodes[number] for number in each.after]))
        yield graph


def add(device: Device, graph: Graph, operation: Operation, before: Sequence[Node]) -> Node:
    if isinstance(operation, Fill):
        to, size = operation.to, operation.size
        return graph.add_memset(
            device.at(to),
            operation.value,
            to.width // size,
            width=size,
            rows=to.rows,
            pitch=to.pitch,
            dependencies=before,
        )
    if isinstance(operation, Mix):
        return graph.add_kernel(*launch_of(device, operation), dependencies=before)
    if isinstance(operation, Copy):
        return add_copy(device, graph, operation, before)
    if isinstance(operation, Child):
        with built(device, operation.inner) as child:
            return graph.add_child(child, dependencies=before)
    if isinstance(operation, Turn):
        return graph.add_host(device.turning(operation), dependencies=before)
    if isinstance(operation, Signal):
        record = graph.add_event_record(device.signal, dependencies=before)
        return graph.add_event_wait(device.signal, dependencies=[record])
    return graph.add_empty(dependencies=before)


def add_copy(device: Device, graph: Graph, operation: Copy, before: Sequence[Node]) -> Node:
    to, source = operation.to, operation.source
    handles = (ctypes.c_void_p * len(before))(*(node.handle for node in before))
    if to.rows == 1:
        ends = device.at(to), device.at(source)
        name = "hipGraphAddMemcpyNode1D"
        made = call(name, graph.handle, handles, len(before), *ends, to.width, DEFAULT)
        return Node(made, NodeKind.MEMCPY)
    params = Memcpy3DParms(
        srcPtr=PitchedPtr(device.at(source), source.pitch, source.width, source.rows),
        dstPtr=PitchedPtr(device.at(to), to.pitch, to.width, to.rows),
        extent=(to.width, to.rows, 1),
        kind=DEFAULT,
    )
    made = ctypes.c_void_p()
    edges = graph.handle, handles, len(before)
    hip("hipGraphAddMemcpyNode", ctypes.byref(made), *edges, ctypes.byref(params))
    return Node(made.value or 0, NodeKind.MEMCPY)


# --- in streams ----------------------------------------------------------------------------------


def run(device: Device, operation: Operation, stream: Stream, *, captured: bool = False) -> None:
    """Give one operation to a stream."""
    if isinstance(operation, Fill):
        run_fill(device, operation, stream)
    elif isinstance(operation, Mix):
        launch(stream, *launch_of(device, operation))
    elif isinstance(operation, Copy):
        run_copy(device, operation, stream)
    elif isinstance(operation, Child):
        for each in operation.inner:
            run(device, each, stream, captured=captured)
    elif isinstance(operation, Turn):
        stream.launch_host(device.turning(operation))
    elif isinstance(operation, Signal):
        flags = EXTERNAL if captured else 0
        hip("hipEventRecordWithFlags", device.signal.handle, stream.handle, flags)
        hip("hipStreamWaitEvent", stream.handle, device.signal.handle, flags)


def run_copy(device: Device, operation: Copy, stream: Stream) -> None:
    to, source = operation.to, operation.source
    ends = device.at(to), device.at(source)
    if to.rows == 1:
        hip("hipMemcpyAsync", *ends, to.width, DEFAULT, stream.handle)
    else:
        rows = ends[0], to.pitch, ends[1], source.pitch, to.width, to.rows
        hip("hipMemcpy2DAsync", *rows, DEFAULT, stream.handle)


def run_fill(device: Device, operation: Fill, stream: Stream) -> None:
    to, value = operation.to, operation.value
    if operation.size == 1 and to.rows > 1:
        hip("hipMemset2DAsync", device.at(to), to.pitch, value, to.width, to.rows, stream.handle)
        return
    name = f"hipMemsetD{8 * operation.size}Async"
    for row in range(to.rows):
        address = device.at(to) + row * to.pitch
        hip(name, address, value, to.width // operation.size, stream.handle)


def one_by_one(device: Device, work: Sequence[Operation], draw: random.Random) -> None:
    """Run the work in one stream, in another order that its edges allow."""
    for number in another_order(draw, work):
        run(device, work[number], device.streams[0])


def over_streams(
    device: Device, work: Sequence[Operation], draw: random.Random, *, captured: bool = False
) -> None:
    """Run each operation in some stream; events fork, order and join the streams."""
    main, *others = device.streams
    placed = [draw.choice(device.streams) for _ in work]
    fork = main.record(device.event(len(work)))
    for stream in others:
        stream.wait(fork)
    for number, operation in enumerate(work):
        stream = placed[number]
        for before in operation.after:
            if placed[before] is not stream:
                stream.wait(device.event(before))
        run(device, operation, stream, captured=captured)
        stream.record(device.event(number))
    for number, stream in enumerate(others):
        main.wait(stream.record(device.event(len(work) + 1 + number)))


@contextlib.contextmanager
def recorded(device: Device, work: Sequence[Operation], draw: random.Random) -> Iterator[Graph]:
    """Give the graph that capturing `over_streams` makes."""
    with capture(device.streams[0]) as captured:
        over_streams(device, work, draw, captured=True)
    with captured.graph as graph:
        yield graph


def random_memory(seed: int) -> Memory:
    return np.random.default_rng(seed).integers(0, 256, (SEGMENTS, SIZE), np.uint8)
