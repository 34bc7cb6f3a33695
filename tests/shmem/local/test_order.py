"""The local provider: barriers and copies of the host, and what is said if a PE does not come."""

import ctypes
import os
import signal
import threading
import time

import numpy as np
from helpers import pes
from helpers.pes import INVALID, OK, PEER_LOST, TIMEOUT, Pe


def copy_around(pe: Pe):
    pe.init()
    numbers = np.arange(1000, dtype=np.uint32) + 1000 * pe.pe
    mine = pe.symmetric(numbers)
    inbox = pe.out("hgs_calloc", 2000, 4)
    right, left = (pe.pe + 1) % pe.n_pes, (pe.pe - 1) % pe.n_pes
    pe.ok("hgs_putmem", inbox, mine, numbers.nbytes, right)
    pe.ok("hgs_putmem_nbi", inbox + numbers.nbytes, numbers.ctypes.data, numbers.nbytes, right)
    pe.ok("hgs_fence")
    pe.ok("hgs_quiet")
    pe.barrier()
    expected = np.arange(1000, dtype=np.uint32) + 1000 * left
    assert (pe.read(inbox, 2000, np.uint32) == np.concatenate([expected] * 2)).all()
    fetched = np.zeros_like(numbers)
    pe.ok("hgs_getmem", fetched.ctypes.data, mine, numbers.nbytes, left)
    assert (fetched == expected).all()
    fetched[:] = 0
    pe.ok("hgs_getmem_nbi", fetched.ctypes.data, mine, numbers.nbytes, left)
    pe.ok("hgs_quiet")
    assert (fetched == expected).all()
    pe.ok("hgs_putmem", inbox, None, 0, right)
    refused = [
        pe.error("hgs_putmem", inbox, mine, 64, pe.n_pes),
        pe.error("hgs_putmem", inbox + pes.HEAP_BYTES, mine, 64, 0),
        pe.error("hgs_getmem", mine, fetched.ctypes.data, 64, 0),
        pe.error("hgs_putmem", inbox, None, 64, 0),
    ]
    pe.ok("hgs_sync_all")
    pe.ok("hgs_finalize")
    return refused


def test_blocking_and_other_copies():
    for refused in pes.values(pes.run(copy_around, 3)):
        assert [status for status, _ in refused] == [INVALID] * 4
        words = ["pe is 3: pass 0 to 2", "target is 0x", "source is 0x", "source is null"]
        for (_, text), word in zip(refused, words, strict=True):
            assert text.startswith(word)


def die_in_a_barrier(pe: Pe):
    pe.init(timeout=30)
    pe.barrier()
    if pe.pe == 2:
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        time.sleep(60)
    began = time.monotonic()
    status, text = pe.error("hgs_barrier_all")
    took = time.monotonic() - began
    later = pe.error("hgs_malloc", 64, ctypes.byref(ctypes.c_uint64()))
    return status, text, took, later, pe.error("hgs_finalize"), pe.error("hgs_barrier_all")


def test_a_pe_that_dies_is_named_at_once_on_all_others():
    outcomes = pes.run(die_in_a_barrier, 3)
    assert outcomes[2].killed
    for status, text, took, later, finalize, after in pes.values(outcomes[:2]):
        assert status == PEER_LOST
        assert text.startswith("hgs_barrier_all(team of PEs 0, 1, 2): PE 2 died: process ")
        assert took < 3
        assert later[0] == finalize[0] == PEER_LOST
        assert after == (INVALID, "there is no world of PEs: call hgs_init first")


def die_before_a_forked_child(pe: Pe):
    pe.init(timeout=30)
    pe.barrier()
    if pe.pe == 1:
        child = os.fork()
        if child == 0:
            pe.hear("seen")
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
    began = time.monotonic()
    status, text = pe.error("hgs_barrier_all")
    took = time.monotonic() - began
    pe.tell("seen")
    return status, text, took


def test_a_forked_child_does_not_hide_the_death_of_its_pe():
    (first, second) = pes.run(die_before_a_forked_child, 2)
    assert second.killed
    status, text, took = first.value
    assert status == PEER_LOST
    assert "PE 1 died" in text
    assert took < 3


def die_as_pe_0(pe: Pe):
    pe.init(timeout=30)
    pe.barrier()
    if pe.pe == 0:
        time.sleep(0.5)  # its service has told the others that the barrier is over
        os.kill(os.getpid(), signal.SIGKILL)
    began = time.monotonic()
    status, text = pe.error("hgs_barrier_all")
    return status, text, time.monotonic() - began, pe.error("hgs_finalize")[0]


def test_the_death_of_pe_0_is_seen_too():
    outcomes = pes.run(die_as_pe_0, 3)
    assert outcomes[0].killed
    for status, text, took, finalize in pes.values(outcomes[1:]):
        assert (status, finalize) == (PEER_LOST, PEER_LOST)
        assert "PE 0 died or left: its connection ended" in text
        assert took < 3


def stay_away(pe: Pe):
    pe.init(timeout=2)
    team = pe.out("hgs_team_split_strided", pe.world(), 1, 1, 2)
    pe.barrier()
    if pe.pe == 0:
        seen = pe.error("hgs_barrier_all")
    elif pe.pe == 1:
        seen = pe.error("hgs_barrier", team)
    else:
        pe.hear("done.0")
        pe.hear("done.1")
        seen = pe.error("hgs_barrier", team)
    pe.tell(f"done.{pe.pe}")
    pe.hear("done.2")
    # Those who come late are told too, so that all are in step again.
    if pe.pe != 0:
        assert pe.code("hgs_barrier_all") == TIMEOUT
    pe.malloc(64)
    pe.ok("hgs_finalize")
    return seen


def test_a_timeout_names_who_did_not_come_and_where_they_are():
    first, second, third = pes.values(pes.run(stay_away, 3))
    assert first[0] == second[0] == third[0] == TIMEOUT
    assert first[1] in (
        "hgs_barrier_all(team of PEs 0, 1, 2): PEs 1, 2 did not come within 2 s "
        f"({where}; PE 2 is in no collective call); here: PE 0"
        for where in (
            "PE 1 is in hgs_barrier(team of PEs 1, 2)",
            "PE 1 is in no collective call",
        )
    )
    assert second[1] == (
        "hgs_barrier(team of PEs 1, 2): PE 2 did not come within 2 s "
        "(PE 2 is in no collective call); here: PE 1"
    )
    assert third[1] == second[1]


def stop_pe_0(pe: Pe):
    pe.init(timeout=0.5)
    if pe.pe == 0:
        pe.tell("process", str(os.getpid()).encode())
        pe.hear("resumed")
        return None
    process = int(pe.hear("process"))
    os.kill(process, signal.SIGSTOP)
    try:
        return pe.error("hgs_barrier_all")
    finally:
        os.kill(process, signal.SIGCONT)
        pe.tell("resumed")


def test_a_stopped_pe_0_stops_nobody_for_ever():
    status, text = pes.values(pes.run(stop_pe_0, 2))[1]
    assert status == TIMEOUT
    assert text.endswith(": PE 0's process does not answer; is it stopped?")


def leave_early(pe: Pe):
    pe.init(timeout=1)
    pe.barrier()
    if pe.pe == 1:
        seen = pe.error("hgs_finalize")
        pe.tell("left")
        return seen
    pe.hear("left")
    return pe.error("hgs_barrier_all")


def test_a_pe_that_left_is_named():
    first, second = pes.values(pes.run(leave_early, 2))
    assert second[0] == TIMEOUT
    assert second[1].startswith("hgs_finalize(): PE 0 did not come within 1 s")
    assert first[0] in (PEER_LOST, TIMEOUT)


def use_threads(pe: Pe):
    pe.init()
    rows = pe.out("hgs_team_split_strided", pe.world(), 0, 1, pe.n_pes)
    results = []

    def repeat(name, *arguments):
        results.extend(pe.code(name, *arguments) for _ in range(50))

    word = pe.out("hgs_calloc", 1, 4)
    workers = [
        threading.Thread(target=repeat, args=arguments)
        for arguments in (
            ("hgs_barrier_all",),
            ("hgs_barrier", rows),
            ("hgs_int_atomic_add", word, 1, 0),
            ("hgs_int_atomic_add", word, 1, 0),
        )
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    pe.barrier()
    total = pe.out("hgs_int_atomic_fetch", word, 0, kind=ctypes.c_int)
    pe.ok("hgs_finalize")
    return set(results), total


def test_threads_may_be_in_different_calls():
    assert pes.values(pes.run(use_threads, 2)) == [({OK}, 200)] * 2
