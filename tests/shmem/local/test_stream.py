"""The local provider: operations on a stream, eager, captured and replayed."""

import ctypes
import os
import signal
import time

import numpy as np
from helpers import hip_ctypes, pes
from helpers.pes import ADD, GE, INVALID, PEER_LOST, SET, TIMEOUT, Pe

COUNT = 300
NBYTES = 4 * COUNT


def captured(stream: int, record) -> int:
    hip_ctypes.begin(stream, hip_ctypes.THREAD_LOCAL)
    record()
    return hip_ctypes.instantiate(hip_ctypes.end(stream))


def ring(pe: Pe):
    """Pass numbers to the right, with every kind of operation; fresh numbers in each replay."""
    pe.init()
    stream = hip_ctypes.stream()
    right, left = (pe.pe + 1) % pe.n_pes, (pe.pe - 1) % pe.n_pes
    source, target, fetched = (pe.out("hgs_calloc", COUNT, 4) for _ in range(3))
    filled, plain = (pe.out("hgs_calloc", 1, 8) for _ in range(2))

    def record():
        # The word counts rounds up and is taken down again: each replay starts as the first one.
        args = (target, source, NBYTES, filled, 1, ADD, right, stream)
        pe.ok("hgs_putmem_signal_on_stream", *args)
        pe.ok("hgs_signal_wait_until_on_stream", filled, GE, 1, stream)
        pe.ok("hgs_signal_add_on_stream", filled, -1, pe.pe, stream)
        pe.ok("hgs_getmem_on_stream", fetched, source, NBYTES, left, stream)
        pe.ok("hgs_signal_set_on_stream", plain, 77 + pe.pe, right, stream)
        pe.ok("hgs_quiet_on_stream", stream)
        pe.ok("hgs_barrier_all_on_stream", stream)
        pe.ok("hgs_sync_all_on_stream", stream)

    def check(round_, run):
        pe.write(source, np.arange(COUNT, dtype=np.uint32) + 1000 * pe.pe + 7 * round_)
        pe.barrier()
        run()
        hip_ctypes.ok("hipStreamSynchronize", stream)
        pe.ok("hgs_check")
        expected = np.arange(COUNT, dtype=np.uint32) + 1000 * left + 7 * round_
        assert (pe.read(target, COUNT, np.uint32) == expected).all()
        assert (pe.read(fetched, COUNT, np.uint32) == expected).all()
        assert pe.read(plain, 1, np.uint64)[0] == 77 + left
        assert pe.read(filled, 1, np.uint64)[0] == 0
        pe.barrier()

    check(0, record)
    graph = captured(stream, record)
    for round_ in range(1, 6):
        check(round_, lambda: hip_ctypes.ok("hipGraphLaunch", graph, stream))
    check(6, record)
    pe.ok("hgs_finalize")


def test_a_ring_of_puts_gets_and_signals_replays():
    for n_pes in (1, 3):
        pes.values(pes.run(ring, n_pes))


def use_two_devices(pe: Pe):
    mine, other = pe.pe % 2, (pe.pe + 1) % 2
    hip_ctypes.ok("hipSetDevice", mine)
    pe.init()
    stream = hip_ctypes.stream()
    source = pe.symmetric(np.full(COUNT, pe.pe, np.uint32))
    target, word = pe.out("hgs_calloc", COUNT, 4), pe.out("hgs_calloc", 1, 4)
    # Whatever is current later: the world stays on the device that it began on.
    hip_ctypes.ok("hipSetDevice", other)
    peer = (pe.pe + 1) % pe.n_pes
    pe.ok("hgs_putmem_on_stream", target, source, NBYTES, peer, stream)
    pe.ok("hgs_barrier_all_on_stream", stream)
    pe.ok("hgs_int_sum_reduce_on_stream", pe.world(), source, source, COUNT, stream)
    hip_ctypes.ok("hipStreamSynchronize", stream)
    pe.ok("hgs_int_atomic_add", word, pe.pe + 1, 0)
    pe.barrier()
    total = pe.out("hgs_int_atomic_fetch", word, 0, kind=ctypes.c_int)
    assert hip_ctypes.out("hipGetDevice", kind=ctypes.c_int) == other
    pe.ok("hgs_check")
    read = set(pe.read(target, COUNT, np.uint32)), set(pe.read(source, COUNT, np.uint32))
    pe.ok("hgs_finalize")
    assert hip_ctypes.out("hipGetDevice", kind=ctypes.c_int) == other
    return total, *map(sorted, read)


def test_pes_on_two_devices():
    seen = pes.values(pes.run(use_two_devices, 3, HIPGRAPH_EMU_DEVICES="2"))
    assert seen == [(6, [left], [3]) for left in (2, 0, 1)]


def nothing_to_do(pe: Pe):
    pe.init()
    stream = hip_ctypes.stream()
    block = pe.malloc(64)
    hip_ctypes.begin(stream, hip_ctypes.GLOBAL)
    pe.ok("hgs_putmem_on_stream", block, None, 0, 0, stream)
    pe.ok("hgs_getmem_on_stream", None, block, 0, 0, stream)
    pe.ok("hgs_alltoallmem_on_stream", pe.world(), block, block + 32, 0, stream)
    pe.ok("hgs_broadcastmem_on_stream", pe.world(), block, block, 0, 0, stream)
    pe.ok("hgs_float_sum_reduce_on_stream", pe.world(), block, block, 0, stream)
    nodes = hip_ctypes.nodes(hip_ctypes.end(stream))
    bad_pe = pe.error("hgs_putmem_on_stream", block, None, 0, 1, stream)
    pe.ok("hgs_finalize")
    return len(nodes), bad_pe[0]


def test_no_bytes_are_no_node_but_are_checked():
    assert pes.values(pes.run(nothing_to_do, 1)) == [(0, INVALID)]


def misuse(pe: Pe):
    pe.init()
    stream, block, world = hip_ctypes.stream(), pe.malloc(4096), pe.world()
    local, end = hip_ctypes.malloc(64), block + pes.HEAP_BYTES
    hip_ctypes.begin(stream, hip_ctypes.GLOBAL)
    refused = [
        pe.error("hgs_barrier_all_on_stream", handle)
        for handle in (None, hip_ctypes.LEGACY, hip_ctypes.PER_THREAD)
    ]
    refused += [
        pe.error(name, *arguments, stream)
        for name, *arguments in (
            ("hgs_putmem_on_stream", block, local, 64, 1),
            ("hgs_putmem_on_stream", end - 8, local, 64, 0),
            ("hgs_putmem_on_stream", block - 256, local, 64, 0),
            ("hgs_putmem_on_stream", local, block, 64, 0),
            ("hgs_getmem_on_stream", None, block, 64, 0),
            ("hgs_putmem_signal_on_stream", block, local, 64, block + 64, 1, 9, 0),
            ("hgs_putmem_signal_on_stream", block, local, 64, block + 68, 1, SET, 0),
            ("hgs_signal_wait_until_on_stream", block, 6, 1),
            ("hgs_signal_set_on_stream", local, 1, 0),
            ("hgs_alltoallmem_on_stream", world, block, block + 8, 16),
            ("hgs_broadcastmem_on_stream", world, block, block + 64, 64, 1),
            ("hgs_broadcastmem_on_stream", world, block, block + 32, 64, 0),
            ("hgs_float_sum_reduce_on_stream", world, block, block + 64, ctypes.c_int(-1)),
            ("hgs_float_sum_reduce_on_stream", world, block, block + 4, 16),
            ("hgs_float_sum_reduce_on_stream", world, block + 2, block + 256, 16),
            ("hgs_barrier_on_stream", 4711),
        )
    ]
    # None of them reached HIP: the capture goes on.
    assert hip_ctypes.status(stream) == hip_ctypes.ACTIVE
    assert hip_ctypes.nodes(hip_ctypes.end(stream)) == []
    pe.ok("hgs_finalize")
    return refused


def test_wrong_arguments_are_refused_before_hip_sees_them():
    (refused,) = pes.values(pes.run(misuse, 1))
    assert [status for status, _ in refused] == [INVALID] * len(refused)
    words = ["pass a created stream"] * 3
    words += ["pe is 1: pass 0 to 0", *["target is 0x"] * 3, "target is null", "signal_op is 9"]
    words += ["signal is 0x", "comparison is 6", "signal is 0x", "target and source overlap"]
    words += ["root is 1: pass a PE of the team, 0 to 0", "target and source overlap"]
    words += ["count is -1", "target and source overlap", "target is 0x", "team is 0x1267"]
    for (_, text), word in zip(refused, words, strict=True):
        assert word in text, (text, word)


def one_replay_too_many(pe: Pe):
    pe.init(timeout=3)
    stream = hip_ctypes.stream()
    graph = captured(stream, lambda: pe.ok("hgs_barrier_all_on_stream", stream))
    for _ in range(3 if pe.pe == 2 else 2):
        hip_ctypes.ok("hipGraphLaunch", graph, stream)
    hip_ctypes.ok("hipStreamSynchronize", stream)
    seen = pe.error("hgs_check")
    again = pe.error("hgs_barrier_all_on_stream", stream) if pe.pe == 2 else seen
    pe.tell(f"checked.{pe.pe}")
    pe.hear("checked.2")
    pe.ok("hgs_finalize")
    return seen, again, pe.error("hgs_check")


def test_a_barrier_that_others_did_not_run_says_who_and_how_far_they_came():
    first, second, third = pes.values(pes.run(one_replay_too_many, 3))
    assert first[0] == second[0] == (0, "")
    assert third[0] == third[1]
    assert third[0] == (
        TIMEOUT,
        "a barrier on a stream, team of PEs 0, 1, 2, epoch 3: PEs 0, 1 did not come in time "
        "(PE 0 last came to epoch 2; PE 1 last came to epoch 2); "
        "every PE must run the same barriers the same number of times",
    )
    assert third[2][0] == INVALID


def wait_in_vain(pe: Pe):
    pe.init(timeout=0.5)
    stream, word = hip_ctypes.stream(), pe.out("hgs_calloc", 1, 8)
    pe.ok("hgs_signal_set_on_stream", word, 3, 0, stream)
    pe.ok("hgs_signal_wait_until_on_stream", word, GE, 4, stream)
    hip_ctypes.ok("hipStreamSynchronize", stream)
    seen = pe.error("hgs_check")
    on_host = pe.error("hgs_barrier_all")
    pe.ok("hgs_finalize")
    pe.init("again", timeout=0.5)
    pe.ok("hgs_check")
    return hex(word), seen, on_host


def test_a_wait_that_nobody_ends_says_for_what():
    ((word, seen, on_host),) = pes.values(pes.run(wait_in_vain, 1))
    assert seen == on_host
    assert seen == (
        TIMEOUT,
        f"a wait for the word at {word} to be >= 4 gave up: nobody signalled in time, it was 3",
    )


def die_before_a_stream_barrier(pe: Pe):
    pe.init(timeout=2)
    stream = hip_ctypes.stream()
    pe.ok("hgs_barrier_all_on_stream", stream)
    hip_ctypes.ok("hipStreamSynchronize", stream)
    pe.barrier()
    if pe.pe == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    pe.ok("hgs_barrier_all_on_stream", stream)
    began = time.monotonic()
    hip_ctypes.ok("hipStreamSynchronize", stream)
    return pe.error("hgs_check"), time.monotonic() - began


def test_a_pe_that_dies_before_a_barrier_on_a_stream_is_named():
    outcomes = pes.run(die_before_a_stream_barrier, 3)
    assert outcomes[1].killed
    for (status, text), took in pes.values([outcomes[0], outcomes[2]]):
        assert status == PEER_LOST
        assert "epoch 2: PE 1 did not come in time (PE 1 last came to epoch 1)" in text
        assert "PE 1 died: process " in text
        assert took < 10


def teams_on_a_stream(pe: Pe):
    pe.init()
    stream, world = hip_ctypes.stream(), pe.world()
    team = pe.out("hgs_team_split_strided", world, 1, 2, 2)
    if team:
        # PEs 0 and 2 stay away.
        graph = captured(stream, lambda: pe.ok("hgs_barrier_on_stream", team, stream))
        for _ in range(4):
            hip_ctypes.ok("hipGraphLaunch", graph, stream)
            pe.ok("hgs_team_sync_on_stream", team, stream)
        hip_ctypes.ok("hipStreamSynchronize", stream)
        pe.ok("hgs_check")
    pe.ok("hgs_barrier_all_on_stream", stream)
    hip_ctypes.ok("hipStreamSynchronize", stream)
    pe.ok("hgs_finalize")


def test_a_team_meets_on_a_stream_without_the_others():
    pes.values(pes.run(teams_on_a_stream, 4))
