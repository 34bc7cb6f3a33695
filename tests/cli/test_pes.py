import json

import pytest
from helpers.process import run_python


def command(*words):
    call = f"import sys; from hipgraph_shmem.cli import main; sys.exit(main({list(words)!r}))"
    return run_python(call, timeout=200)


@pytest.mark.usefixtures("emulated")
def test_one_gemm_over_two_pes_is_right():
    done = command("demo", "--pes", "2", "--replays", "3", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["ok"] is True
    assert [pe["pe"] for pe in result["pes"]] == [0, 1]
    for pe in result["pes"]:
        assert pe["split_k"] > 1
        assert 0 < pe["worst_error_of_bound"] <= 1
        assert pe["mail_right"] == 3
        assert "ROCSHMEM_CTX_DEFAULT" in pe["symbols_set"]


def test_pes_that_do_not_divide_k_are_refused():
    done = command("demo", "--pes", "3")
    assert done.returncode == 2
    assert "--pes 3: K = 20480 is not divisible" in done.stderr


@pytest.mark.usefixtures("emulated")
def test_bench_measures_puts_and_barriers():
    done = command("bench", "shmem", "--repeats", "1", "--json")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [run["n_pes"] for run in runs] == [1, 2, 4]
    for run in runs:
        assert all(rate > 0 for rate in run["put_bytes_per_second"].values())
        assert run["host_barrier_us"] > 0
        assert run["graph_barrier_us"] > 0
