"""`hipgraph-shmem run`: start the PEs of a program on this node."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from ..env import child_environment

__all__ = ["PACKAGE_HOME", "run_pes"]

#: Where children of the package's own commands start: `-m` looks into the current folder first,
#: which may hold the sources, and they must find the package that this process uses.
PACKAGE_HOME = Path(__file__).parents[2]

MAX_PES = 64
POLL_SECONDS = 0.02
#: What a PE gets between being asked to end and being killed.
GRACE_SECONDS = 2.0
TIMED_OUT = 124
SIGNAL_BASE = 128


def run_pes(
    n_pes: int, program: Sequence[str], *, timeout: float | None, folder: Path | None = None
) -> int:
    """Run a Python program once for each PE; return the first bad exit status, else 0.

    Every line of output gets its PE in front. When one PE fails, the others are stopped.

    Args:
        n_pes: How many, 1 to 64.
        program: The script and its arguments, or "-m", a module and its arguments.
        timeout: Seconds after which all are stopped; None: as long as it takes.
        folder: Where they start; None: here.

    Raises:
        ValueError: No program, or a number of PEs that one node cannot have.
    """
    if not 1 <= n_pes <= MAX_PES:
        raise ValueError(f"-n {n_pes}: from 1 to {MAX_PES} PEs")
    if not program:
        raise ValueError("no program: give a script, or -m and a module")
    if program[0] != "-m" and not Path(program[0]).is_file():
        raise ValueError(f"{program[0]}: no such script")
    with tempfile.TemporaryDirectory(prefix="hipgraph_shmem-") as meeting:
        before = signal.signal(signal.SIGTERM, _leave)
        pes: list[_Pe] = []
        try:
            for pe in range(n_pes):
                pes.append(_Pe(pe, n_pes, program, Path(meeting) / "unique_id", folder))
            return _wait(pes, timeout)
        finally:
            _stop(pes)
            signal.signal(signal.SIGTERM, before)


class _Pe:
    """One PE: its process, in a group of its own, and what copies its output."""

    def __init__(
        self, pe: int, n_pes: int, program: Sequence[str], rendezvous: Path, folder: Path | None
    ) -> None:
        self.pe = pe
        variables = {
            "HIPGRAPH_SHMEM_PE": str(pe),
            "HIPGRAPH_SHMEM_PES": str(n_pes),
            "HIPGRAPH_SHMEM_RENDEZVOUS": str(rendezvous),
            "PYTHONUNBUFFERED": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, *program],
            cwd=folder,
            env=child_environment(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        pipes = (self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr)
        self._copiers = [
            threading.Thread(target=_copy_lines, args=(pe, pipe, out), daemon=True)
            for pipe, out in pipes
            if pipe is not None
        ]
        for copier in self._copiers:
            copier.start()

    def kill(self, number: int) -> None:
        """Send a signal to the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def finish(self) -> None:
        """Wait for the end, and for the last of the output."""
        self.process.wait()
        for copier in self._copiers:
            copier.join(GRACE_SECONDS)


def _copy_lines(pe: int, pipe: IO[bytes], out: IO[str]) -> None:
    for line in pipe:
        # One write a line: lines of different PEs do not mix.
        out.write(f"[{pe}] {line.decode(errors='replace').rstrip()}\n")
        out.flush()
    pipe.close()


def _wait(pes: list[_Pe], timeout: float | None) -> int:
    end = None if timeout is None else time.monotonic() + timeout
    running = list(pes)
    while running:
        for each in tuple(running):
            status = each.process.poll()
            if status is None:
                continue
            running.remove(each)
            if status:
                return _failed(each.pe, status)
        if end is not None and time.monotonic() >= end:
            names = ", ".join(str(each.pe) for each in running)
            _say(f"PE {names} still running after {timeout:g} s: all are stopped")
            return TIMED_OUT
        time.sleep(POLL_SECONDS)
    return 0


def _failed(pe: int, status: int) -> int:
    if status > 0:
        _say(f"PE {pe} ended with status {status}: the others are stopped")
        return status
    name = signal.Signals(-status).name
    _say(f"PE {pe} was ended by {name}: the others are stopped")
    return SIGNAL_BASE - status


def _leave(number: int, _frame: object) -> None:
    """Leave in good order when asked to end: PEs have groups of their own and would go on."""
    sys.exit(SIGNAL_BASE + number)


def _stop(pes: list[_Pe]) -> None:
    for each in pes:
        if each.process.poll() is None:
            each.kill(signal.SIGTERM)
    end = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < end and any(each.process.poll() is None for each in pes):
        time.sleep(POLL_SECONDS)
    for each in pes:
        # The group too: a PE's own children would keep its output open.
        each.kill(signal.SIGKILL)
        each.finish()


def _say(line: str) -> None:
    print(f"hipgraph-shmem run: {line}", file=sys.stderr, flush=True)
