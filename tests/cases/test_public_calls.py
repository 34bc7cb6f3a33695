"""C011: what a capture forbids is refused before HIP sees it, whatever public operation asks."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.graph_calls import EXEC, GRAPH
from helpers.kernels import compile_hip
from helpers.public_calls import (
    Allowed,
    Call,
    assert_complete,
    assert_documented,
    check_in_capture,
    in_every_situation,
    properties,
)

from hipgraph_shmem import memory, splitk
from hipgraph_shmem.devices import device_info, runtime_info
from hipgraph_shmem.graph import CaptureMode, Graph, GraphExec, capture, trace
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.module import Kernel, Module, Symbol
from hipgraph_shmem.runtime import state
from hipgraph_shmem.splitk import Gemm
from hipgraph_shmem.stream import Event, Stream

SOURCE = """
__device__ int word[4];
extern "C" __global__ void put(int* out) { out[0] = word[0]; }
"""
ONE = LaunchConfig((1, 1, 1))
BYTES = bytes(16)
ALWAYS, BY_MODE, NEVER = Allowed.ALWAYS, Allowed.BY_MODE, Allowed.NEVER


STREAM = {
    "Stream.__init__": Call(ALWAYS, lambda _: Stream().close()),
    "Stream.__cuda_stream__": Call(ALWAYS, lambda use: use.stream.__cuda_stream__()),
    "Stream.borrow": Call(ALWAYS, lambda use: Stream.borrow(use.idle.handle).device),
    "Stream.close of the captured one": Call(NEVER, lambda use: use.stream.close()),
    "Stream.close of another": Call(ALWAYS, lambda use: use.spare_stream.close()),
    "Stream.launch_host": Call(ALWAYS, lambda use: use.idle.launch_host(int)),
    "Stream.launch_host recorded": Call(ALWAYS, lambda use: use.stream.launch_host(int), nodes=1),
    "Stream.query of the captured one": Call(NEVER, lambda use: use.stream.query()),
    "Stream.query of another": Call(BY_MODE, lambda use: use.idle.query()),
    "Stream.record": Call(ALWAYS, lambda use: use.stream.record().close()),
    "Stream.wait": Call(ALWAYS, lambda use: use.stream.wait(use.captured_event())),
    "Stream.synchronize of the captured one": Call(NEVER, lambda use: use.stream.synchronize()),
    "Stream.synchronize of it with a limit": Call(NEVER, lambda use: use.stream.synchronize(1)),
    "Stream.synchronize of another": Call(BY_MODE, lambda use: use.idle.synchronize()),
    "Stream.synchronize of it within a limit": Call(ALWAYS, lambda use: use.idle.synchronize(9)),
    "Stream.synchronize of the null stream": Call(
        BY_MODE, lambda _: Stream.borrow(0).synchronize()
    ),
}
EVENT = {
    "Event.__init__": Call(ALWAYS, lambda _: Event().close()),
    "Event.borrow": Call(ALWAYS, lambda use: Event.borrow(use.event.handle)),
    "Event.close": Call(ALWAYS, lambda use: use.captured_event().close()),
    "Event.elapsed_ms": Call(ALWAYS, lambda use: use.later.elapsed_ms(use.event)),
    "Event.query of a captured one": Call(NEVER, lambda use: use.captured_event().query()),
    "Event.query of another": Call(BY_MODE, lambda use: use.event.query()),
    "Event.record": Call(ALWAYS, lambda use: use.event.record(use.idle)),
    "Event.synchronize of a captured one": Call(
        NEVER, lambda use: use.captured_event().synchronize()
    ),
    "Event.synchronize of it with a limit": Call(
        NEVER, lambda use: use.captured_event().synchronize(1)
    ),
    "Event.synchronize of another": Call(BY_MODE, lambda use: use.event.synchronize()),
    "Event.synchronize of it within a limit": Call(ALWAYS, lambda use: use.event.synchronize(9)),
}


def span(name: str) -> dict[str, Call]:
    """Rows for what a Buffer and a Symbol have in common."""
    of = lambda use: getattr(use, name.lower())  # noqa: E731
    return {
        f"{name}.copy_from host memory": Call(
            BY_MODE, lambda use: of(use).copy_from(BYTES, use.idle)
        ),
        f"{name}.copy_from host memory recorded": Call(
            ALWAYS, lambda use: of(use).copy_from(BYTES, use.stream), nodes=1
        ),
        f"{name}.copy_from pinned memory": Call(
            ALWAYS, lambda use: of(use).copy_from(use.pinnedbuffer, use.idle)
        ),
        f"{name}.copy_to host memory": Call(
            BY_MODE, lambda use: of(use).copy_to(np.empty(16, np.uint8), use.idle)
        ),
        f"{name}.copy_to host memory recorded": Call(
            ALWAYS, lambda use: of(use).copy_to(np.empty(16, np.uint8), use.stream), nodes=1
        ),
        f"{name}.copy_to pinned memory": Call(
            ALWAYS, lambda use: of(use).copy_to(use.pinnedbuffer, use.idle)
        ),
        f"{name}.fill": Call(ALWAYS, lambda use: of(use).fill(0, use.idle)),
        f"{name}.fill recorded": Call(ALWAYS, lambda use: of(use).fill(0, use.stream), nodes=1),
        f"{name}.to_numpy": Call(BY_MODE, lambda use: of(use).to_numpy(use.idle)),
        f"{name}.to_numpy of the captured one": Call(
            NEVER, lambda use: of(use).to_numpy(use.stream)
        ),
        f"{name}.view": Call(ALWAYS, lambda use: of(use).view()),
    }


def cannot_borrow(kind: Any) -> Call:
    """Memory and modules of others have no size or image to read: refused, capture or not."""

    def borrow(_: Any) -> None:
        with pytest.raises(TypeError):
            kind.borrow(1)

    return Call(ALWAYS, borrow)


BUFFER = {
    "Buffer.__init__": Call(BY_MODE, lambda _: Buffer(16).close()),
    "Buffer.__dlpack__": Call(NEVER, lambda use: use.buffer.__dlpack__()),
    "Buffer.__dlpack__ without waiting": Call(ALWAYS, lambda use: use.buffer.__dlpack__(stream=-1)),
    "Buffer.borrow": cannot_borrow(Buffer),
    "Buffer.close": Call(BY_MODE, lambda use: use.spare_buffer.close()),
    **span("Buffer"),
}
PINNED = {
    "PinnedBuffer.__init__": Call(BY_MODE, lambda _: PinnedBuffer(16).close()),
    "PinnedBuffer.borrow": cannot_borrow(PinnedBuffer),
    "PinnedBuffer.close": Call(BY_MODE, lambda use: use.spare_pinned.close()),
}
MODULE = {
    "Module.__init__": Call(ALWAYS, lambda use: Module(use.image)),
    "Module.borrow": cannot_borrow(Module),
    "Module.close": Call(BY_MODE, lambda use: use.spare_module.close()),
    "Module.kernel": Call(ALWAYS, lambda use: use.module.kernel("put")),
    "Module.symbol": Call(ALWAYS, lambda use: use.module.symbol("word")),
    "Kernel.__init__": Call(
        ALWAYS, lambda use: Kernel(use.kernel.handle, use.kernel.metadata, use.module)
    ),
    "Symbol.__init__": Call(ALWAYS, lambda use: Symbol(use.symbol.address, 16, "word", use.module)),
    **span("Symbol"),
}
SPLIT_K = {
    "Gemm.__init__": Call(ALWAYS, lambda _: Gemm(16, 64, 256)),
    "Gemm.__call__": Call(ALWAYS, lambda use: use.gemm(use.idle, *use.operands)),
    "Gemm.__call__ recorded": Call(
        # The kernel, and the fill of its counter at the end of the capture.
        ALWAYS,
        lambda use: use.gemm(use.stream, *use.operands),
        nodes=2,
    ),
    "Gemm.add_to": Call(ALWAYS, lambda use: use.gemm.add_to(use.graph, *use.operands)),
    "Gemm.work": Call(ALWAYS, lambda use: use.gemm.work(*use.operands)),
    "splitk.check": Call(BY_MODE, lambda use: splitk.check(use.idle)),
    "splitk.check of the captured one": Call(NEVER, lambda use: splitk.check(use.stream)),
    "splitk.reserve": Call(ALWAYS, lambda _: splitk.reserve(counter_words=64)),
    "splitk.usage": Call(ALWAYS, lambda _: splitk.usage()),
}
FUNCTIONS = {
    "as_array_view": Call(ALWAYS, lambda use: memory.as_array_view(use.buffer)),
    "capture": Call(ALWAYS, lambda use: capture_nothing(use.idle)),
    "device_info": Call(ALWAYS, lambda _: device_info(0)),
    "empty": Call(BY_MODE, lambda _: memory.empty(16, "u1").close()),
    "from_numpy": Call(BY_MODE, lambda use: memory.from_numpy(np.zeros(4), use.idle).close()),
    "launch": Call(ALWAYS, lambda use: launch(use.idle, use.kernel, ONE, use.buffer)),
    "launch recorded": Call(
        ALWAYS, lambda use: launch(use.stream, use.kernel, ONE, use.buffer), nodes=1
    ),
    "runtime_info": Call(ALWAYS, lambda _: runtime_info()),
    "trace": Call(ALWAYS, lambda use: traced_launch(use)),
    "zeros": Call(BY_MODE, lambda use: memory.zeros(16, "u1", use.idle).close()),
}
OBJECTS = (Stream, Event, Buffer, PinnedBuffer, Module, Kernel, Symbol, Graph, GraphExec)
OWNERS = (*OBJECTS, Gemm, splitk)
PROPERTIES = {f"properties of {owner.__name__}": properties(owner) for owner in OBJECTS}
CALLS = {**STREAM, **EVENT, **BUFFER, **PINNED, **MODULE, **GRAPH, **EXEC, **SPLIT_K}


def capture_nothing(stream: Stream) -> None:
    with capture(stream, CaptureMode.GLOBAL) as captured:
        pass
    captured.graph.close()


def traced_launch(use: Any) -> None:
    with trace(use.folder / "trace.json"):
        use.graphexec.launch(use.idle)


@pytest.fixture
def use(stream: Stream, tmp_path: Any) -> Iterator[Any]:
    """One of each, idle; `stream` is the one that is captured."""
    image = compile_hip(SOURCE)
    made = SimpleNamespace(
        stream=stream,
        folder=tmp_path,
        image=image,
        idle=Stream(),
        spare_stream=Stream(),
        event=Event(),
        later=Event(),
        captured=Event(),
        buffer=Buffer(16),
        spare_buffer=Buffer(16),
        pinnedbuffer=PinnedBuffer(16),
        spare_pinned=PinnedBuffer(16),
        module=Module(image),
        spare_module=Module(image),
        graph=Graph(),
        other=Graph(),
        a=Buffer((16, 256), "bfloat16"),
        b=Buffer((64, 256), "bfloat16"),
        out=Buffer((16, 64), "float32"),
    )
    made.kernel, made.symbol = made.module.kernel("put"), made.module.symbol("word")
    add_nodes(made)
    made.graphexec = made.graph.instantiate()
    made.graphexec.launch(made.idle)
    made.event.record(made.idle)
    made.later.record(made.idle)
    made.idle.synchronize()
    made.captured_event = lambda: stream.record(made.captured)
    handles = [value for value in vars(made).values() if hasattr(value, "close")]
    made.gemm, made.operands = Gemm(16, 64, 256, split_k=2), (made.a, made.b, made.out)
    yield made
    state.shared.clear()
    made.idle.synchronize()
    for handle in reversed(handles):
        handle.close()


def add_nodes(made: Any) -> None:
    """Give the graph a node of each kind that can be edited."""
    graph = made.graph
    made.other.add_memset(made.out, 0, 16)
    made.nodes = SimpleNamespace(
        memset=graph.add_memset(made.out, 0, made.out.nbytes),
        memcpy=graph.add_memcpy(made.buffer, BYTES),
        kernel=graph.add_kernel(made.kernel, ONE, made.buffer),
        host=graph.add_host(int),
        event=graph.add_event_record(made.captured),
        child=graph.add_child(made.other),
    )


@in_every_situation(CALLS | FUNCTIONS | PROPERTIES)
def test_a_call_in_a_capture(use: Any, call: Call, mode: CaptureMode, same_thread: bool) -> None:
    check_in_capture(use.stream, use.a, call, use, mode, same_thread)


def test_every_public_operation_is_tried() -> None:
    assert_complete(CALLS, OWNERS)


def test_what_is_refused_is_documented() -> None:
    assert_documented(CALLS | FUNCTIONS)
