import numpy as np
import pytest
from helpers.pe_programs import check_program, run_program

from hipgraph_shmem import Buffer, Event, FindingKind, Stream, capture
from hipgraph_shmem.errors import ShmemError, ShmemTimeoutError
from hipgraph_shmem.graph import KernelNode, MemcpyNode
from hipgraph_shmem.shmem import Comparison, Reduction, SignalOp, on_stream

OPERATIONS = ["put", "get", "peer", "put_signal", "signal", "empty"]


@pytest.mark.parametrize("n_pes", [1, 2, 4])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_replays_with_fresh_inputs(operation, n_pes):
    check_program(n_pes, "replays", operation)


@pytest.mark.parametrize("n_pes", [2, 4])
def test_two_graphs_run_at_once_on_teams_of_their_own(n_pes):
    check_program(n_pes, "two_graphs")


def test_a_pe_that_replays_less_often_is_named():
    ended = run_program(3, "unequal_replays")
    assert [each.status for each in ended] == [0, 0, 0], ended
    for each in ended[:2]:
        assert "barrier" in each.stdout
        assert "PE 2" in each.stdout


@pytest.mark.parametrize("comparison", list(Comparison))
def test_a_wait_ends_when_the_comparison_holds(alone, stream, comparison):
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "GT": np.greater,
        "GE": np.greater_equal, "LT": np.less, "LE": np.less_equal,
    }[comparison.name]  # fmt: skip
    signal = alone.zeros(1, np.uint64)[0]
    large = 2**63 + 5  # unsigned: greater than every positive number
    for value in (large - 1, large, large + 1):
        on_stream.signal_set(signal, value, 0, stream)
        if compare(np.uint64(value), np.uint64(large)):
            on_stream.wait_until(signal, comparison, large, stream)
    stream.synchronize()
    signal.array.free()


def test_a_signal_that_never_comes_is_reported_with_its_values(device):
    from hipgraph_shmem import shmem

    shmem.init(pe=0, n_pes=1, heap_bytes=1 << 20, timeout=0.2)
    signal = shmem.zeros(1, np.uint64)[0]
    with Stream() as stream:
        on_stream.signal_set(signal, 3, 0, stream)
        on_stream.wait_until(signal, Comparison.GE, 17, stream)
        with pytest.raises(ShmemTimeoutError, match="17") as caught:
            stream.synchronize()
        assert f"{signal.address:#x}" in str(caught.value)
        assert "3" in str(caught.value)
        # The PEs are out of step: nothing but the end works, and no result is given as good.
        event = stream.record()
        for call in (
            shmem.check,
            stream.synchronize,
            event.synchronize,
            lambda: stream.synchronize(timeout=5),
            lambda: signal.to_numpy(stream),
            shmem.barrier,
            signal.array.free,
            lambda: shmem.empty(4),
        ):
            with pytest.raises(ShmemTimeoutError, match="17"):
                call()
        event.close()
    assert len(shmem.finalize()) == 1


def test_what_is_recorded_is_kept_and_listed(alone, stream):
    target, signal = alone.zeros(8, np.int32), alone.zeros(1, np.uint64)
    with Buffer(8, np.int32) as source:
        with capture(stream) as captured:
            on_stream.put_signal(target, source, signal, 1, 0, stream, op=SignalOp.ADD)
        kept = captured.recording.kept
        assert target in kept
        assert signal in kept
        assert source in kept
        kinds = [type(node) for node in captured.graph.nodes]
        assert kinds == [MemcpyNode, KernelNode]
        captured.graph.close()
    target.free()
    signal.free()


@pytest.mark.parametrize("raw", [0, 1, 2])
def test_streams_that_wait_for_others_are_refused(alone, raw):
    with pytest.raises(ValueError, match=f"stream={raw}: the null, legacy and per-thread"):
        on_stream.quiet(raw)


def test_raw_addresses_and_streams_are_taken(alone, stream):
    target = alone.zeros(8, np.int32)
    with Buffer(4, np.int32) as source:
        source.copy_from(np.arange(4, dtype=np.int32), stream)
        on_stream.put(target.address + 8, source.address, 0, stream.handle, nbytes=16)
        assert target.to_numpy(stream).tolist() == [0, 0, 0, 1, 2, 3, 0, 0]
    target.free()


def test_bad_arguments_are_named(alone, stream):
    target, signal = alone.zeros(8, np.int32), alone.zeros(2, np.uint64)
    with Buffer(8, np.int32) as source, Buffer(8, np.float32) as floats:
        for error, text, arguments in (
            (ValueError, "pe=1: there are 1 PEs", (target, source, 1, stream)),
            (ValueError, "pe=-1: there are 1 PEs", (target, source, -1, stream)),
            (ValueError, "must be equal", (target[:4], source, 0, stream)),
            (ValueError, "target is int32, source float32", (target, floats, 0, stream)),
            (TypeError, "target=.*Buffer", (source, target, 0, stream)),
            (TypeError, "target=.*PeerArray.*the operation finds", (target.peer(0), source, 0,
                                                                  stream)),
            (TypeError, "host array", (target, np.zeros(8, np.int32), 0, stream)),
            (ValueError, "say how far", (target.address, source.address, 0, stream)),
            (TypeError, "stream=", (target, source, 0, "stream")),
        ):  # fmt: skip
            with pytest.raises(error, match=text):
                on_stream.put(*arguments)
        with pytest.raises(ValueError, match="not in one live symmetric array"):
            on_stream.put(target.address + 20, source, 0, stream)
    with pytest.raises(ValueError, match="one uint64 is needed"):
        on_stream.signal_add(signal, 1, 0, stream)
    with pytest.raises(TypeError, match=r"comparison=3: give one of Comparison.EQ"):
        on_stream.wait_until(signal[0], 3, 1, stream)
    with pytest.raises(ValueError, match="unsigned 64-bit"):
        on_stream.signal_set(signal[0], -1, 0, stream)
    target.free()
    signal.free()


def test_nothing_works_before_init(stream):
    with pytest.raises(ShmemError, match=r"call shmem.init\(\) first"):
        on_stream.barrier(stream)


def test_every_operation_on_one_pe_passes_the_check(alone, stream):
    target, source = alone.zeros(64, np.float32), alone.zeros(64, np.float32)
    signals = alone.zeros(2, np.uint64)
    with Stream() as branch, Event() as fork, Event() as join:
        with capture(stream) as captured:
            stream.record(fork)
            branch.wait(fork)
            on_stream.put(target[:32], source[:32], 0, stream)
            on_stream.signal_add(signals[0], 1, 0, stream)
            on_stream.put_signal(target[32:], source[32:], signals[1], 1, 0, branch)
            on_stream.wait_until(signals[0], Comparison.GE, 1, branch)
            branch.record(join)
            stream.wait(join)
            on_stream.quiet(stream)
            on_stream.barrier(stream)
            on_stream.get(source, target, 0, stream)
            on_stream.reduce(target, source, Reduction.SUM, stream)
            on_stream.alltoall(source, target, stream)
            on_stream.broadcast(target, source, 0, stream)
            on_stream.sync(stream)
        with captured.graph as graph:
            assert graph.check() == ()
    for each in (target, source, signals):
        each.free()


def test_puts_to_the_same_place_need_an_order(alone, stream):
    target, source = alone.zeros(64, np.float32), alone.zeros(64, np.float32)
    with Stream() as branch, Event() as fork, Event() as join:
        with capture(stream) as captured:
            stream.record(fork)
            branch.wait(fork)
            on_stream.put(target, source, 0, stream)
            on_stream.reduce(target[:8], source[:8], Reduction.SUM, branch)
            branch.record(join)
            stream.wait(join)
        with captured.graph as graph:
            findings = graph.check()
            assert {each.kind for each in findings} == {FindingKind.UNORDERED}
            start = target.address
            assert {each.ranges for each in findings} == {((start, start + 32),)}
    target.free()
    source.free()


def test_freed_symmetric_memory_is_dead(alone, stream):
    target, source = alone.zeros(64, np.float32), alone.zeros(64, np.float32)
    with capture(stream) as captured:
        on_stream.put(target, source, 0, stream)
    with captured.graph as graph:
        assert graph.check() == ()
        target.free()
        assert [each.kind for each in graph.check()] == [FindingKind.DEAD_MEMORY]
    source.free()
