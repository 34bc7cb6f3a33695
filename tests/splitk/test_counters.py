"""Eager slots: one a stream, zero at launch, and never trusted after a failure."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.captures import recording
from helpers.gemm import problem

from hipgraph_shmem.errors import CounterPoolError, DirtyCounterError, HangError, HipError
from hipgraph_shmem.graph import CaptureMode, capture
from hipgraph_shmem.graph.retired import drain_retired
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.runtime import call
from hipgraph_shmem.splitk import Gemm, check, reserve, usage
from hipgraph_shmem.splitk.counters import CounterPool, pool_of
from hipgraph_shmem.stream import Stream

SIZES = (20, 70, 136)


@pytest.fixture
def operands(stream: Stream) -> Iterator[tuple[Buffer, Buffer, Buffer]]:
    given = problem(*SIZES)
    with (
        from_numpy(given.a, stream) as a,
        from_numpy(given.b, stream) as b,
        Buffer((SIZES[0], SIZES[1]), np.float32) as out,
    ):
        stream.synchronize()
        yield a, b, out


def words(stream: Stream, address: int, count: int) -> Any:
    result = np.empty(count, np.uint32)
    call("hipMemcpyAsync", result.ctypes.data, address, 4 * count, 2, stream.handle)
    stream.synchronize()
    return result


def test_a_stream_keeps_its_slot(stream: Stream) -> None:
    pool = CounterPool(0)
    with pool.eager(stream.handle, 10, 4096) as first:
        pass
    with pool.eager(stream.handle, 10, 4096) as second:
        pass
    assert first == second


def test_streams_in_flight_have_slots_of_their_own(stream: Stream, gate: Any) -> None:
    hold, flag = gate
    pool = CounterPool(0)
    with Stream() as other:
        with pool.eager(stream.handle, 10, 4096) as first:
            hold(stream)
        with pool.eager(other.handle, 10, 4096) as second:
            assert first.counters != second.counters
            assert first.workspace != second.workspace
        flag.array[0] = 1
        other.synchronize()


def test_memory_is_flat_over_any_number_of_streams(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    gemm(stream, *operands)
    stream.synchronize()
    before = usage()
    for _ in range(50):
        with Stream() as short_lived:
            gemm(short_lived, *operands)
            short_lived.synchronize()
    assert usage() == before


def test_counters_are_zero_at_launch_and_left_zero(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    for _ in range(3):
        gemm(stream, *operands)
    pool = pool_of(0)
    with pool.eager(stream.handle, gemm.plan.counter_words, 0) as scratch:
        assert set(words(stream, scratch.counters, gemm.plan.counter_words)) == {0}


def test_a_slot_is_zeroed_again_after_a_failed_launch(stream: Stream) -> None:
    pool = CounterPool(0)
    with pool.eager(stream.handle, 8, 0):
        pass
    with pytest.raises(KeyError), pool.eager(stream.handle, 8, 0) as scratch:
        call("hipMemsetD32Async", scratch.counters, 5, 8, stream.handle)
        raise KeyError
    with pool.eager(stream.handle, 8, 0) as again:
        assert again == scratch
        assert set(words(stream, again.counters, 8)) == {0}


def test_a_larger_launch_gets_larger_memory(stream: Stream) -> None:
    pool = CounterPool(0)
    with pool.eager(stream.handle, 8, 1024):
        pass
    with pool.eager(stream.handle, 5000, 1 << 20) as large:
        assert set(words(stream, large.counters, 5000)) == {0}
    with pool.eager(stream.handle, 8, 1024) as small:
        assert small == large


def test_a_larger_slot_is_zeroed_whatever_its_memory_held(stream: Stream) -> None:
    pool = CounterPool(0)
    with pool.eager(stream.handle, 8, 0):
        pass
    lease = pool.counters.take(4 * 5000)
    call("hipMemsetD32Async", lease.address, 5, 5000, stream.handle)
    del lease
    with pool.eager(stream.handle, 5000, 0) as large:
        assert set(words(stream, large.counters, 5000)) == {0}


def test_after_a_dirty_counter_every_counter_is_zeroed(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer]
) -> None:
    """A counter below split_k is not found out, and stays as wrong as it was."""
    gemm = Gemm(*SIZES, split_k=2)
    count = gemm.plan.counter_words
    pool = pool_of(0)
    with pool.eager(stream.handle, count, 0) as scratch:
        call("hipMemsetD32Async", scratch.counters, 0x3F803F80, 1, stream.handle)
        call("hipMemsetD32Async", scratch.counters + 4, 1, count - 1, stream.handle)
    gemm(stream, *operands)
    with pytest.raises(DirtyCounterError):
        check(stream)
    with pool.eager(stream.handle, count, 0) as scratch:
        assert set(words(stream, scratch.counters, count)) == {0}


def test_memory_that_became_too_small_is_kept_while_in_use(stream: Stream, gate: Any) -> None:
    hold, flag = gate
    pool = CounterPool(0)
    with pool.eager(stream.handle, 8, 1024):
        hold(stream)
    before = pool.counters.in_use, pool.workspace.in_use
    with pool.eager(stream.handle, 5000, 1 << 20):
        pass
    drain_retired()
    held = pool.counters.in_use, pool.workspace.in_use
    flag.array[0] = 1
    stream.synchronize()
    drain_retired()
    assert held == (pool.counters.in_use + before[0], pool.workspace.in_use + before[1])


def test_a_recycled_handle_waits_for_what_its_slot_was_used_for(stream: Stream, gate: Any) -> None:
    hold, flag = gate
    pool = CounterPool(0)
    with Stream() as recycled:
        with pool.eager(stream.handle, 8, 1024):
            hold(stream)
        pool._slots[recycled.handle] = pool._slots.pop(stream.handle)
        with pool.eager(recycled.handle, 8, 1024):
            pass
        with pytest.raises(HangError):
            recycled.synchronize(timeout=0.2)
        flag.array[0] = 1
        recycled.synchronize()


def test_a_dirty_counter_is_told_once(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    gemm(stream, *operands)
    check(stream)
    pool = pool_of(0)
    with pool.eager(stream.handle, gemm.plan.counter_words, 0) as scratch:
        call("hipMemsetD32Async", scratch.counters, 0x3F803F80, 1, stream.handle)
    gemm(stream, *operands)
    with pytest.raises(DirtyCounterError) as raised:
        check(stream)
    assert raised.value.device == 0
    gemm(stream, *operands)
    check(stream)
    problem(*SIZES).assert_right(operands[2].to_numpy(stream), 2)


def test_c008_a_check_loses_no_capture_of_others(stream: Stream) -> None:
    with Stream() as idle:
        with recording(stream.handle, CaptureMode.GLOBAL, ours=False) as recorder:
            check(idle)
        assert recorder.n_nodes == 0


def test_reserved_words_serve_a_capture_without_allocation(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer]
) -> None:
    reserve(counter_words=1 << 20, workspace_bytes=1 << 20)
    before = usage()
    with capture(stream) as captured:
        for _ in range(10):
            Gemm(*SIZES, split_k=2)(stream, *operands)
    after = usage()
    assert after.counter_capacity == before.counter_capacity
    assert after.workspace_capacity == before.workspace_capacity
    assert len(captured.graph.nodes) == 11


def test_no_memory_in_a_capture_is_an_error_with_the_facts(
    stream: Stream, operands: tuple[Buffer, Buffer, Buffer]
) -> None:
    gemm = Gemm(*SIZES, split_k=2)
    hoard = []
    size = int(call("hipMemGetInfo")[0])
    while size >= 4096:
        try:
            hoard.append(Buffer(size))
        except HipError:
            size //= 2
    with capture(stream) as captured, pytest.raises(CounterPoolError) as raised:
        gemm(stream, *operands)
    assert captured.graph.nodes == ()
    assert (raised.value.capacity, raised.value.in_use) == (0, 0)
    assert raised.value.wanted > 0
    assert "reserve" in raised.value.cure
    for buffer in hoard:
        buffer.close()
    gemm(stream, *operands)
    problem(*SIZES).assert_right(operands[2].to_numpy(stream), 2)


def test_threads_get_slots_of_their_own(operands: tuple[Buffer, Buffer, Buffer]) -> None:
    a, b, _ = operands
    given = problem(*SIZES)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            gemm = Gemm(*SIZES, split_k=2)
            with Stream() as mine, Buffer((SIZES[0], SIZES[1]), np.float32) as out:
                for _ in range(5):
                    gemm(mine, a, b, out)
                    given.assert_right(out.to_numpy(mine), 2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert not failures


@pytest.mark.usefixtures("emulated")
def test_a_slot_is_zeroed_again_after_a_launch_that_never_ended() -> None:
    command = [sys.executable, "-m", "helpers.failed_launch"]
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
