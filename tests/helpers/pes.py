"""PEs of the local SHMEM provider: a function run in several processes, through ctypes alone.

The function is found again by its file and name in each process, so it must be at the top of a
test file. It gets a Pe, and returns what can be pickled.
"""

from __future__ import annotations

import ctypes
import pickle
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from helpers import hip_ctypes
from helpers.isa import library_path
from helpers.process import PACKAGE, child_environment

OK, INVALID, HIP, TIMEOUT, PEER_LOST, MISMATCH, NO_MEMORY, FAILED = range(8)
EQ, NE, GT, GE, LT, LE = range(6)
SET, ADD = 0, 1
ID_BYTES = 128
HEAP_BYTES = 1 << 20
FILE_NAME = "libhipgraph_shmem_local.so"
KERNELS = PACKAGE / "hipgraph_shmem" / "kernels" / "kernels.hipfb"


class ShmemError(Exception):
    """A call that did not return HGS_OK."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a PE's process ended: what its function returned, or the SHMEM error it raised."""

    value: Any = None
    status: int = OK
    text: str = ""
    killed: bool = False


def provider_path() -> Path:
    """Find the provider: beside the HIP library, in a build folder as in the package."""
    folders = [*library_path().parents, PACKAGE / "hipgraph_shmem" / "lib"]
    found = [folder / "shmem" / FILE_NAME for folder in folders]
    return next(path for path in found if path.exists())


class Pe:
    """One PE, in its own process."""

    def __init__(self, pe: int, n_pes: int, folder: Path) -> None:
        self.pe = pe
        self.n_pes = n_pes
        self.folder = folder
        hip_ctypes.library()
        self.library = ctypes.CDLL(str(provider_path()))
        self.ok("hgs_attach", str(library_path()).encode(), str(KERNELS).encode())

    def code(self, name: str, *arguments: Any) -> int:
        """Call a function; its status. Integers travel as 64 bits, None as a null pointer."""
        return int(getattr(self.library, name)(*map(hip_ctypes.argument, arguments)))

    def text(self) -> str:
        """What the last error of this thread says."""
        text = ctypes.create_string_buffer(1 << 14)
        self.code("hgs_error", text, len(text))
        return text.value.decode()

    def ok(self, name: str, *arguments: Any) -> None:
        """Call a function; raise ShmemError unless it succeeds."""
        status = self.code(name, *arguments)
        if status != OK:
            raise ShmemError(status, self.text())

    def error(self, name: str, *arguments: Any) -> tuple[int, str]:
        """Call a function; its status and text, which is empty where it succeeds."""
        status = self.code(name, *arguments)
        return status, self.text() if status else ""

    def out(self, name: str, *arguments: Any, kind: Any = ctypes.c_uint64) -> Any:
        """Call a function whose last argument is where its result goes."""
        result = kind(0)
        self.ok(name, *arguments, ctypes.byref(result))
        return result.value

    def init(
        self, name: str = "id", *, heap_bytes: int = HEAP_BYTES, timeout: float = 20, **other: int
    ) -> None:
        """Enter a world; PE 0 makes its id, under a name that no other world of the test has."""
        pe, n_pes = other.get("pe", self.pe), other.get("n_pes", self.n_pes)
        if pe == 0:
            made = ctypes.create_string_buffer(ID_BYTES)
            self.ok("hgs_get_uniqueid", made)
            self.tell(name, made.raw)
        unique_id = self.hear(name)
        self.ok("hgs_init", pe, n_pes, unique_id, heap_bytes, ctypes.c_double(timeout))

    def tell(self, name: str, data: bytes = b"") -> None:
        """Leave bytes for the other processes, without SHMEM."""
        draft = self.folder / f".{name}.{self.pe}"
        draft.write_bytes(data)
        draft.rename(self.folder / name)

    def hear(self, name: str) -> bytes:
        """Wait for bytes that another process leaves."""
        path = self.folder / name
        while not path.exists():
            time.sleep(0.005)
        return path.read_bytes()

    def malloc(self, nbytes: int) -> int:
        """Allocate symmetric memory."""
        return self.out("hgs_malloc", nbytes)

    def symmetric(self, array: np.ndarray) -> int:
        """Allocate symmetric memory with the bytes of an array, on every PE its own."""
        address = self.malloc(array.nbytes)
        self.write(address, array)
        self.ok("hgs_barrier_all")
        return address

    def write(self, address: int, array: np.ndarray) -> None:
        """Copy an array to this PE's memory."""
        hip_ctypes.to_device(address, array.tobytes())

    def read(self, address: int, count: int, dtype: Any) -> np.ndarray:
        """Copy numbers from this PE's memory."""
        data = hip_ctypes.from_device(address, count * np.dtype(dtype).itemsize)
        return np.frombuffer(data, dtype)

    def world(self) -> int:
        """The team of all PEs."""
        return self.out("hgs_team_world")

    def barrier(self) -> None:
        """Wait for all PEs."""
        self.ok("hgs_barrier_all")


def run(
    function: Callable[[Pe], Any],
    n_pes: int,
    *,
    processes: Sequence[int] | None = None,
    timeout: float = 60,
    **variables: str,
) -> list[Outcome]:
    """Run a function in a process for each PE (or for `processes`, by PE); how each one ended.

    `variables` are added to the environment.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pes = range(n_pes) if processes is None else processes
        where = (function.__code__.co_filename, function.__qualname__)
        children = [
            subprocess.Popen(
                [sys.executable, "-m", "helpers.pes", *where, str(pe), str(n_pes), name, str(i)],
                env=child_environment(**variables),
                stderr=subprocess.PIPE,
                text=True,
            )
            for i, pe in enumerate(pes)
        ]
        try:
            return _collect(children, folder, time.monotonic() + timeout)
        finally:
            for child in children:
                child.kill()
                child.communicate()


def _collect(children: list[Any], folder: Path, deadline: float) -> list[Outcome]:
    outcomes = []
    for i, child in enumerate(children):
        errors = child.communicate(timeout=max(deadline - time.monotonic(), 0.1))[1]
        result = folder / f"result.{i}"
        if child.returncode == -signal.SIGKILL:
            outcomes.append(Outcome(killed=True))
            continue
        if child.returncode or not result.exists():
            raise AssertionError(f"process {i} ended with {child.returncode}:\n{errors}")
        outcomes.append(pickle.loads(result.read_bytes()))
    return outcomes


def values(outcomes: list[Outcome]) -> list[Any]:
    """What the PEs' functions returned; every one must have."""
    for pe, outcome in enumerate(outcomes):
        assert outcome.status == OK and not outcome.killed, f"PE {pe}: {outcome}"
    return [outcome.value for outcome in outcomes]


def _main(file: str, function: str, pe: str, n_pes: str, folder: str, process: str) -> None:
    body = runpy.run_path(file)[function]
    # A test file names these classes too, as a module of another name than this one.
    from helpers import pes

    try:
        outcome = pes.Outcome(value=body(pes.Pe(int(pe), int(n_pes), Path(folder))))
    except pes.ShmemError as error:
        outcome = pes.Outcome(status=error.status, text=error.text)
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    Path(folder, f"result.{process}").write_bytes(pickle.dumps(outcome))


if __name__ == "__main__":
    _main(*sys.argv[1:])
