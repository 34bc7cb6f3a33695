"""One program, started by every launcher, finds its place without a change."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.process import PACKAGE, TESTS

from hipgraph_shmem.env import Launched
from hipgraph_shmem.errors import ShmemError
from hipgraph_shmem.shmem.setup import choose_device

PAGE = TESTS.parent / "docs" / "shmem.md"
ENDING = '\nprint("fine", pe, n_pes)\n'
#: What each launcher tells process 0 or 1 of two on one node.
LAUNCHERS = {
    "Open MPI": lambda pe: {
        "OMPI_COMM_WORLD_RANK": pe, "OMPI_COMM_WORLD_SIZE": 2, "OMPI_COMM_WORLD_LOCAL_RANK": pe,
        "OMPI_COMM_WORLD_LOCAL_SIZE": 2, "PMIX_NAMESPACE": f"prterun-{os.getpid()}@1",
    },
    "PMI": lambda pe: {"PMI_RANK": pe, "PMI_SIZE": 2},
    "Slurm": lambda pe: {
        "SLURM_PROCID": pe, "SLURM_STEP_NUM_TASKS": 2, "SLURM_LOCALID": pe,
        "SLURM_JOB_ID": os.getpid(), "SLURM_STEP_ID": 0,
    },
    "torchrun": lambda pe: {
        "RANK": pe, "WORLD_SIZE": 2, "LOCAL_RANK": pe, "LOCAL_WORLD_SIZE": 2,
        "TORCHELASTIC_RUN_ID": "none", "MASTER_PORT": 29500, "MASTER_ADDR": "localhost",
    },
}  # fmt: skip


@pytest.fixture
def program(tmp_path):
    """The program of the documentation."""
    block = re.search(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S).group(1)
    path = tmp_path / "program.py"
    path.write_text(block + ENDING)
    return path


@pytest.fixture
def mpirun():
    """Name mpirun, or skip: the extra `mpi` brings it."""
    beside = Path(sys.executable).with_name("mpirun")
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if found is None or not shutil.which("true"):
        pytest.skip("no mpirun: install the extra mpi")
    pytest.importorskip("mpi4py", reason="no mpi4py: install the extra mpi")
    return [found, "--allow-run-as-root", "--oversubscribe"]


def environment(**variables):
    base = {**os.environ, "PYTHONPATH": f"{PACKAGE}{os.pathsep}{TESTS}"}
    return base | {name: str(value) for name, value in variables.items()}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_launchers_variables_are_a_place(program, launcher):
    processes = [
        subprocess.Popen(
            [sys.executable, str(program)],
            env=environment(**LAUNCHERS[launcher](pe)),
            stdout=subprocess.PIPE,
            text=True,
        )
        for pe in range(2)
    ]
    texts = [process.communicate(timeout=60)[0] for process in processes]
    assert texts == ["fine 0 2\n", "fine 1 2\n"]


def test_the_program_runs_under_mpirun(program, mpirun):
    done = subprocess.run(
        [*mpirun, "-n", "3", sys.executable, str(program)],
        env=environment(), capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "fine 0 3", "fine 1 3", "fine 2 3"]


def test_pes_of_several_nodes_get_the_id_through_mpi(tmp_path, mpirun):
    program = tmp_path / "program.py"
    program.write_text("""
from mpi4py import MPI
from hipgraph_shmem.shmem.rendezvous import broadcast_by_mpi

pe = MPI.COMM_WORLD.rank
got = broadcast_by_mpi(lambda: bytes([pe + 7]) * 128, pe)
assert got == b"\\x07" * 128, got
""")
    done = subprocess.run(
        [*mpirun, "-n", "3", sys.executable, str(program)],
        env=environment(), capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_alone_it_is_the_only_pe(program):
    done = subprocess.run(
        [sys.executable, str(program)],
        env=environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "fine 0 1\n"


def test_half_a_place_is_refused(program):
    done = subprocess.run(
        [sys.executable, str(program)],
        env=environment(RANK=1), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "RANK='1', WORLD_SIZE='': not a place among PEs" in done.stderr


def test_the_local_provider_refuses_pes_on_other_nodes(program):
    variables = LAUNCHERS["Open MPI"](0) | {"OMPI_COMM_WORLD_LOCAL_SIZE": 1}
    done = subprocess.run(
        [sys.executable, str(program)],
        env=environment(**variables), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "the local provider connects PEs of one node" in done.stderr


def test_c019_a_pe_gets_the_device_of_its_ordinal_on_the_node():
    places = [Launched("torchrun", 8 + pe, 16, pe, 8, "job") for pe in range(8)]
    assert [choose_device(place, 8, share=False) for place in places] == list(range(8))
    assert [choose_device(place, 3, share=True) for place in places] == [0, 1, 2, 0, 1, 2, 0, 1]
    with pytest.raises(ShmemError, match=r"8 PEs and 4 devices .* PE 3 on 3, PE 4 on 0, PE 5 on 1"):
        choose_device(places[0], 4, share=False)


def test_c019_devices_are_chosen_before_the_runtime_settles_on_one(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
from hipgraph_shmem import shmem

shmem.init()
array = shmem.zeros(4, "i4")
print(shmem.my_pe(), array.device)
array.free()
shmem.finalize()
""")
    done = subprocess.run(
        [sys.executable, "-m", "hipgraph_shmem", "run", "-n", "4", str(program)],
        env=environment(HIPGRAPH_EMU_DEVICES=2), cwd=PACKAGE,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["[0] 0 0", "[1] 1 1", "[2] 2 0", "[3] 3 1"]
