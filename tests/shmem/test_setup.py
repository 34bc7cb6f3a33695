import os
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest
from helpers.pe_programs import check_program, finish, run_program, start
from helpers.process import run_python

from hipgraph_shmem.errors import ShmemError


@pytest.mark.parametrize("n_pes", [1, 2, 4])
def test_a_world_can_follow_another(n_pes):
    check_program(n_pes, "again")


@pytest.mark.parametrize("where", ["host", "stream"])
def test_a_killed_pe_is_named_by_the_others(where):
    ended = run_program(3, "lost_peer", where)
    assert [each.status for each in ended] == [0, 0, -9], ended
    for each in ended[:2]:
        assert "PE 2" in each.stdout


def test_c020_a_late_pe_is_waited_for():
    with tempfile.TemporaryDirectory() as folder:
        first = start(1, 2, folder, "blocking")
        time.sleep(1.5)
        ended = finish([start(0, 2, folder, "blocking"), first], 120)
    assert [each.status for each in ended] == [0, 0], ended


def test_c020_a_missing_pe_is_named_within_the_timeout():
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        processes = [start(pe, 3, folder, "blocking", HIPGRAPH_SHMEM_TIMEOUT="3") for pe in (0, 1)]
        ended = finish(processes, 60)
    assert time.monotonic() - began < 3 + 2 + 5  # two interpreters start on the way
    for each in ended:
        assert each.status == 1
        assert "ShmemTimeoutError" in each.stderr
        assert "2" in each.stderr.splitlines()[-1]


def test_a_place_taken_twice_is_an_error_on_every_pe():
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            start(pe, 3, folder, "blocking", HIPGRAPH_SHMEM_TIMEOUT="10") for pe in (0, 1, 1)
        ]
        ended = finish(processes, 60)
    assert all(each.status == 1 for each in ended), ended
    assert any("PE 1" in each.stderr for each in ended), ended


def test_pes_that_disagree_about_their_number_are_told_so():
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            start(pe, n_pes, folder, "blocking", HIPGRAPH_SHMEM_TIMEOUT="10")
            for pe, n_pes in ((0, 2), (1, 3))
        ]
        ended = finish(processes, 60)
    assert all(each.status == 1 for each in ended), ended


@pytest.mark.parametrize("text", ["5s", "0", "-1", "abc", "1e12", "nan", "inf"])
def test_c020_a_bad_timeout_is_refused_at_once(text):
    done = run_python("from hipgraph_shmem import shmem; shmem.init()", HIPGRAPH_SHMEM_TIMEOUT=text)
    assert done.returncode == 1
    assert f"HIPGRAPH_SHMEM_TIMEOUT={text!r}" in done.stderr


def test_a_place_needs_both_halves_and_the_others(alone):
    alone.finalize()
    with pytest.raises(ValueError, match="pe=0, n_pes=None: give both"):
        alone.init(pe=0)
    with pytest.raises(ValueError, match="pe=2, n_pes=2"):
        alone.init(pe=2, n_pes=2)
    with pytest.raises(ValueError, match="the PEs must find each other"):
        alone.init(pe=0, n_pes=2)
    with pytest.raises(ValueError, match="unique_id has 3 bytes"):
        alone.init(pe=0, n_pes=2, unique_id=b"abc")
    with pytest.raises(ValueError, match="timeout=0"):
        alone.init(pe=0, n_pes=1, timeout=0)
    assert not alone.initialized()


def test_a_unique_id_that_the_caller_passes_on_connects():
    code = """
        import sys
        from hipgraph_shmem import shmem
        pe = int(sys.stdin.readline())
        identity = shmem.unique_id() if pe == 0 else None
        if pe == 0:
            print(identity.hex(), flush=True)
        else:
            identity = bytes.fromhex(sys.stdin.readline())
        shmem.init(pe=pe, n_pes=2, unique_id=identity, heap_bytes=1 << 20, timeout=30)
        shmem.barrier()
        print(shmem.my_pe(), shmem.n_pes())
        shmem.finalize()
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ,
        )
        for _ in range(2)
    ]  # fmt: skip
    processes[0].stdin.write("0\n")
    processes[0].stdin.flush()
    identity = processes[0].stdout.readline()
    second = processes[1].communicate(f"1\n{identity}", timeout=60)[0]
    texts = [processes[0].communicate(timeout=60)[0], second]
    assert [text.split() for text in texts] == [["0", "2"], ["1", "2"]]


def test_c019_a_second_init_and_a_lonely_finalize_are_errors(alone):
    with pytest.raises(ShmemError, match="initialised already"):
        alone.init(pe=0, n_pes=1)
    alone.finalize()
    with pytest.raises(ShmemError, match="not initialised"):
        alone.finalize()
    with pytest.raises(ShmemError, match="not initialised"):
        alone.my_pe()
