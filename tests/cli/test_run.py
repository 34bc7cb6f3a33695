import os
import subprocess
import sys
import time

import pytest
from helpers.process import PACKAGE, run_python


@pytest.fixture
def run(tmp_path):
    """Run a program under `hipgraph-shmem run`; return what became of it."""

    def start(n_pes, program, *options, timeout=60):
        path = tmp_path / "program.py"
        path.write_text(program)
        words = ["run", "-n", str(n_pes), *options, str(path), "one", "--two"]
        code = f"import sys; from hipgraph_shmem.cli import main; sys.exit(main({words!r}))"
        return run_python(code, timeout=timeout)

    return start


def test_each_pe_gets_its_place_and_the_arguments(run):
    done = run(3, """
import os, sys
print(os.environ["HIPGRAPH_SHMEM_PE"], os.environ["HIPGRAPH_SHMEM_PES"], *sys.argv[1:])
print("problem", file=sys.stderr)
""")  # fmt: skip
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [f"[{pe}] {pe} 3 one --two" for pe in range(3)]
    assert sorted(done.stderr.splitlines()) == [f"[{pe}] problem" for pe in range(3)]


def test_all_stop_when_one_fails(run):
    began = time.monotonic()
    done = run(3, """
import os, sys, time
if os.environ["HIPGRAPH_SHMEM_PE"] == "1":
    sys.exit(7)
time.sleep(60)
""")  # fmt: skip
    assert done.returncode == 7
    assert "PE 1 ended with status 7: the others are stopped" in done.stderr
    assert time.monotonic() - began < 15


def test_a_pe_that_ignores_the_end_is_killed_with_its_children(run):
    began = time.monotonic()
    done = run(2, """
import os, signal, subprocess, sys, time
if os.environ["HIPGRAPH_SHMEM_PE"] == "1":
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGSEGV)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"])
""")  # fmt: skip
    assert done.returncode == 128 + 11
    assert "PE 1 was ended by SIGSEGV" in done.stderr
    assert time.monotonic() - began < 15


def test_the_time_limit_stops_all(run):
    done = run(2, "import time; time.sleep(60)", "--timeout", "1")
    assert done.returncode == 124
    assert "PE 0, 1 still running after 1 s" in done.stderr


def test_pes_end_with_their_launcher(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    launcher = subprocess.Popen(
        [sys.executable, "-m", "hipgraph_shmem", "run", "-n", "2", str(program)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )  # fmt: skip
    pids = [int(launcher.stdout.readline().split()[1]) for _ in range(2)]
    launcher.terminate()
    launcher.communicate(timeout=20)
    assert launcher.returncode == 128 + 15
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["-n", "65", sys.executable], "-n 65: from 1 to 64 PEs"),
        (["-n", "2"], "no program"),
        (["-n", "2", "nowhere.py"], "nowhere.py: no such script"),
    ],
)
def test_bad_requests_are_named(words, text):
    call = f"import sys; from hipgraph_shmem.cli import main; sys.exit(main({['run', *words]!r}))"
    done = run_python(call)
    assert done.returncode == 2
    assert text in done.stderr
