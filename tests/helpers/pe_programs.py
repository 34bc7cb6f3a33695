"""Programs of tests/shmem/programs run on several PEs, each a process with a time limit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from helpers.process import PACKAGE, TESTS

PROGRAMS = TESTS / "shmem" / "programs"


@dataclass(frozen=True)
class Ended:
    """How one PE ended."""

    status: int
    stdout: str
    stderr: str


def start(pe: int, n_pes: int, folder: str, *program: str, **variables: str):
    """Start one PE of a program without waiting for it."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{PACKAGE}{os.pathsep}{TESTS}",
        "HIPGRAPH_SHMEM_PE": str(pe),
        "HIPGRAPH_SHMEM_PES": str(n_pes),
        "HIPGRAPH_SHMEM_RENDEZVOUS": f"{folder}/unique_id",
        "HIPGRAPH_SHMEM_HEAP_BYTES": str(16 << 20),
        **variables,
    }
    name, *arguments = program
    return subprocess.Popen(
        [sys.executable, str(PROGRAMS / f"{name}.py"), *arguments],
        env={key: value for key, value in environment.items() if value},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes, timeout: float) -> list[Ended]:
    """Wait for PEs; none outlives this call."""
    try:
        texts = [process.communicate(timeout=timeout) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [
        Ended(process.returncode, *text) for process, text in zip(processes, texts, strict=True)
    ]


def run_program(n_pes: int, *program: str, timeout: float = 120, **variables: str) -> list[Ended]:
    """Run a program on PEs; return how each ended."""
    with tempfile.TemporaryDirectory() as folder:
        processes = [start(pe, n_pes, folder, *program, **variables) for pe in range(n_pes)]
        return finish(processes, timeout)


def check_program(n_pes: int, *program: str, timeout: float = 120, **variables: str) -> None:
    """Run a program on PEs, each of which must end well."""
    for pe, ended in enumerate(run_program(n_pes, *program, timeout=timeout, **variables)):
        assert ended.status == 0, f"PE {pe}:\n{ended.stdout}\n{ended.stderr}"
