"""C001, C011: no operation on PEs loses a capture, of this thread or another, in any mode."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.kernels import compile_hip
from helpers.public_calls import (
    Allowed,
    Call,
    assert_complete,
    check_in_capture,
    in_every_situation,
    properties,
)

from hipgraph_shmem import Buffer, CaptureMode, Module, Stream, capture, shmem
from hipgraph_shmem.shmem import (
    Comparison,
    PeerArray,
    Reduction,
    SymmetricArray,
    SymmetricView,
    Team,
    atomics,
    on_stream,
)

SOURCE = """
extern "C" __device__ unsigned long long ROCSHMEM_CTX_DEFAULT[2];
__device__ unsigned long long ROCSHMEM_CTX_DEFAULT[2];
extern "C" __global__ void look(unsigned long long* out) { *out = ROCSHMEM_CTX_DEFAULT[0]; }
"""
ALWAYS, BY_MODE, ELSEWHERE, NEVER = (
    Allowed.ALWAYS,
    Allowed.BY_MODE,
    Allowed.ELSEWHERE,
    Allowed.NEVER,
)
OBJECTS = (SymmetricArray, SymmetricView, PeerArray, Team)
OWNERS = (*OBJECTS, shmem, on_stream, atomics)
PROPERTIES = {f"properties of {owner.__name__}": properties(owner) for owner in OBJECTS}
BYTES = bytes(16)


def array(name: str) -> dict[str, Call]:
    """Rows for what all arrays in the symmetric heap have in common."""
    of = lambda use: getattr(use, name.lower())  # noqa: E731
    return {
        f"{name}.__dlpack__": Call(NEVER, lambda use: of(use).__dlpack__()),
        f"{name}.copy_from": Call(BY_MODE, lambda use: of(use).copy_from(BYTES, use.idle)),
        f"{name}.copy_from recorded": Call(
            ALWAYS, lambda use: of(use).copy_from(BYTES, use.stream), nodes=1
        ),
        f"{name}.copy_to": Call(
            BY_MODE, lambda use: of(use).copy_to(np.empty(16, np.uint8), use.idle)
        ),
        f"{name}.fill": Call(ALWAYS, lambda use: of(use).fill(0, use.idle)),
        f"{name}.to_numpy": Call(BY_MODE, lambda use: of(use).to_numpy(use.idle)),
        f"{name}.view": Call(ALWAYS, lambda use: of(use).view()),
    }


ARRAYS = {
    **array("SymmetricArray"),
    "SymmetricArray.__init__": Call(
        ALWAYS, lambda use: SymmetricArray(use.symmetricarray.world, 0, (0,), "u1")
    ),
    "SymmetricArray.__getitem__": Call(ALWAYS, lambda use: use.symmetricarray[0]),
    "SymmetricArray.free": Call(ELSEWHERE, lambda use: use.spare.free()),
    "SymmetricArray.peer": Call(ALWAYS, lambda use: use.symmetricarray.peer(0)),
    **array("SymmetricView"),
    "SymmetricView.__init__": Call(
        ALWAYS, lambda use: SymmetricView(use.symmetricarray, use.symmetricarray.address, (16,))
    ),
    "SymmetricView.__getitem__": Call(ALWAYS, lambda use: use.symmetricview[0]),
    "SymmetricView.peer": Call(ALWAYS, lambda use: use.symmetricview.peer(0)),
    **array("PeerArray"),
    "PeerArray.__init__": Call(
        ALWAYS, lambda use: PeerArray(use.symmetricarray, use.symmetricarray.address, 0)
    ),
}
TEAMS = {
    "Team.__init__": Call(
        ALWAYS, lambda use: Team(use.team.world, use.team.world.handle, owned=False)
    ),
    "Team.destroy": Call(ELSEWHERE, lambda use: use.spare_team.destroy()),
    "Team.duplicate": Call(ELSEWHERE, lambda use: use.team.duplicate().destroy()),
    "Team.split_2d": Call(ELSEWHERE, lambda use: [each.destroy() for each in use.team.split_2d(1)]),
    "Team.split_strided": Call(ELSEWHERE, lambda use: use.team.split_strided(0, 1, 1).destroy()),
    "Team.translate": Call(ALWAYS, lambda use: use.team.translate(0)),
}


def ended_and_begun() -> None:
    shmem.finalize()
    shmem.init(pe=0, n_pes=1, heap_bytes=1 << 20, timeout=5)


HOST = {
    "shmem.barrier": Call(ELSEWHERE, lambda _: shmem.barrier()),
    "shmem.barrier of a team": Call(ELSEWHERE, lambda use: shmem.barrier(use.team)),
    "shmem.check": Call(ALWAYS, lambda _: shmem.check()),
    "shmem.device_ctx": Call(ALWAYS, lambda _: shmem.device_ctx()),
    "shmem.empty": Call(ELSEWHERE, lambda _: shmem.empty(16).free()),
    "shmem.fence": Call(ELSEWHERE, lambda _: shmem.fence()),
    "shmem.finalize": Call(ELSEWHERE, lambda _: ended_and_begun()),
    "shmem.get": Call(ELSEWHERE, lambda use: shmem.get(use.here, use.symmetricarray, 0)),
    "shmem.include_dir": Call(ALWAYS, lambda _: shmem.include_dir()),
    "shmem.init": Call(ELSEWHERE, lambda _: ended_and_begun()),  # and below
    "shmem.initialized": Call(ALWAYS, lambda _: shmem.initialized()),
    "shmem.module_init": Call(ALWAYS, lambda use: shmem.module_init(use.module)),
    "shmem.module_init in stream order": Call(
        ALWAYS, lambda use: shmem.module_init(use.module, use.idle)
    ),
    "shmem.my_pe": Call(ALWAYS, lambda _: shmem.my_pe()),
    "shmem.n_pes": Call(ALWAYS, lambda _: shmem.n_pes()),
    "shmem.provider_name": Call(ALWAYS, lambda _: shmem.provider_name()),
    "shmem.put": Call(ELSEWHERE, lambda use: shmem.put(use.symmetricarray, use.here, 0)),
    "shmem.quiet": Call(ELSEWHERE, lambda _: shmem.quiet()),
    "shmem.sync": Call(ELSEWHERE, lambda _: shmem.sync()),
    "shmem.team_world": Call(ALWAYS, lambda _: shmem.team_world()),
    "shmem.unique_id": Call(ALWAYS, lambda _: shmem.unique_id()),
    "shmem.zeros": Call(ELSEWHERE, lambda _: shmem.zeros(16).free()),
}
ON_STREAM = {
    "alltoall": lambda use, on: on_stream.alltoall(use.words, use.others, on),
    "barrier": lambda _, on: on_stream.barrier(on),
    "broadcast": lambda use, on: on_stream.broadcast(use.words, use.words, 0, on),
    "get": lambda use, on: on_stream.get(use.here, use.symmetricarray, 0, on),
    "put": lambda use, on: on_stream.put(use.symmetricarray, use.here, 0, on),
    "put_signal": lambda use, on: on_stream.put_signal(
        use.symmetricarray, use.here, use.signal, 1, 0, on
    ),
    "quiet": lambda _, on: on_stream.quiet(on),
    "reduce": lambda use, on: on_stream.reduce(use.words, use.words, Reduction.SUM, on),
    "signal_add": lambda use, on: on_stream.signal_add(use.signal, 1, 0, on),
    "signal_set": lambda use, on: on_stream.signal_set(use.signal, 1, 0, on),
    "sync": lambda _, on: on_stream.sync(on),
    "wait_until": lambda use, on: on_stream.wait_until(use.signal, Comparison.GE, 0, on),
}
ATOMICS = {
    "atomics.fetch": lambda use: atomics.fetch(use.words[0], 0),
    "atomics.fetch_inc": lambda use: atomics.fetch_inc(use.words[0], 0),
    "atomics.inc": lambda use: atomics.inc(use.words[0], 0),
    "atomics.compare_swap": lambda use: atomics.compare_swap(use.words[0], 1, 2, 0),
    **{
        f"atomics.{name}": lambda use, name=name: getattr(atomics, name)(use.unsigned[0], 1, 0)
        for name in ("fetch_and", "fetch_or", "fetch_xor", "and_", "or_", "xor")
    },
    **{
        f"atomics.{name}": lambda use, name=name: getattr(atomics, name)(use.words[0], 1, 0)
        for name in ("add", "fetch_add", "set_", "swap")
    },
}
CALLS = {
    **ARRAYS,
    **TEAMS,
    **HOST,
    **{
        f"on_stream.{name}": Call(ALWAYS, lambda use, make=make: make(use, use.idle))
        for name, make in ON_STREAM.items()
    },
    **{name: Call(ELSEWHERE, make) for name, make in ATOMICS.items()},
}


@pytest.fixture
def use(alone: Any, stream: Stream) -> Iterator[Any]:
    """The only PE with one of each, idle; `stream` is the one that is captured."""
    made = SimpleNamespace(
        stream=stream,
        idle=Stream(),
        here=Buffer(16),
        filled=Buffer(16),
        module=Module(compile_hip(SOURCE)),
        symmetricarray=shmem.zeros(16),
        spare=shmem.zeros(16),
        words=shmem.zeros(4, np.int32),
        others=shmem.zeros(4, np.int32),
        unsigned=shmem.zeros(4, np.uint64),
        signal=shmem.zeros(1, np.uint64)[0],
        team=shmem.team_world(),
        spare_team=shmem.team_world().duplicate(),
    )
    made.symmetricview = made.symmetricarray[:]
    made.peerarray = made.symmetricarray.peer(0)
    yield made
    made.idle.synchronize()
    arrays = [value for value in vars(made).values() if isinstance(value, SymmetricArray)]
    for each in (*arrays, made.signal.array):
        if not each.closed:
            each.free()
    if not made.spare_team.closed:
        made.spare_team.destroy()
    for handle in (made.idle, made.here, made.filled, made.module):
        handle.close()


@in_every_situation(CALLS | PROPERTIES)
def test_a_call_in_a_capture(use: Any, call: Call, mode: CaptureMode, same_thread: bool) -> None:
    check_in_capture(use.stream, use.filled, call, use, mode, same_thread)


@pytest.mark.parametrize("mode", CaptureMode)
def test_the_beginning_is_legal_in_a_capture(stream: Stream, mode: CaptureMode) -> None:
    with capture(stream, mode) as captured:
        shmem.init(pe=0, n_pes=1, heap_bytes=1 << 20, timeout=5)
    assert captured.graph.nodes == ()
    shmem.finalize()


@pytest.mark.parametrize("mode", CaptureMode)
@pytest.mark.parametrize("name", ON_STREAM)
def test_an_operation_is_recorded_in_every_mode(use: Any, name: str, mode: CaptureMode) -> None:
    ON_STREAM[name](use, use.idle)
    with capture(use.stream, mode) as captured:
        ON_STREAM[name](use, use.stream)
    with captured.graph as graph, graph.instantiate() as graph_exec:
        assert graph.nodes or name in ("quiet", "fence")
        graph_exec.launch(use.idle)
        graph_exec.wait(timeout=30)


def test_every_public_operation_is_tried() -> None:
    assert_complete(CALLS, OWNERS)
