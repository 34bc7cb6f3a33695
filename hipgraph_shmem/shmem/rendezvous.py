"""How PEs find each other before they can talk: PE 0's unique id reaches all others."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ..env import Launched
from ..errors import ShmemTimeoutError
from .library import UNIQUE_ID_BYTES

__all__ = ["Rendezvous", "broadcast_by_mpi", "file_of"]

FIRST_PAUSE = 1e-3
LONGEST_PAUSE = 50e-3


class Rendezvous:
    """A file that all PEs see: PE 0 writes the unique id into it, and removes it in the end."""

    def __init__(self, path: Path, timeout: float) -> None:
        """Use a file; its folder must exist.

        Raises:
            ValueError: There is no such folder.
        """
        if not path.parent.is_dir():
            raise ValueError(f"rendezvous={path}: {path.parent} is no folder; make it first")
        self.path = path
        self.timeout = timeout

    def publish(self, unique_id: bytes) -> None:
        """Write the id, so that a reader sees all of it or nothing."""
        unfinished = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        unfinished.write_bytes(unique_id)
        unfinished.replace(self.path)

    def read(self) -> bytes:
        """Wait for the id.

        Raises:
            ShmemTimeoutError: PE 0 did not write it in time.
        """
        end = time.monotonic() + self.timeout
        pause = FIRST_PAUSE
        while True:
            try:
                unique_id = self.path.read_bytes()
            except FileNotFoundError:
                unique_id = b""
            if len(unique_id) == UNIQUE_ID_BYTES:
                return unique_id
            if time.monotonic() >= end:
                raise ShmemTimeoutError(
                    "init",
                    f"PE 0 did not write {self.path} within {self.timeout:g} s; is it running, and "
                    "does it see the same file? HIPGRAPH_SHMEM_TIMEOUT allows more time",
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def withdraw(self) -> None:
        """Remove the id: everyone has it."""
        self.path.unlink(missing_ok=True)


def file_of(place: Launched, named: Path | None, generation: int) -> Path:
    """Return the file through which the PEs of one launch meet for their n-th `init`.

    Without a named one it is in a folder of this user's among the node's temporary files, and is
    named after the launch.

    Raises:
        ValueError: The folder belongs to someone else, who could send the PEs elsewhere.
    """
    if named is None:
        folder = Path(tempfile.gettempdir()) / f"hipgraph_shmem-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
            raise ValueError(
                f"{folder} is not a folder of this user's alone: remove it, or set "
                "HIPGRAPH_SHMEM_RENDEZVOUS"
            )
        named = folder / hashlib.sha256(place.job.encode()).hexdigest()[:16]
    return named.with_name(f"{named.name}.{generation}")


def broadcast_by_mpi(make: Callable[[], bytes], pe: int) -> bytes:
    """Send PE 0's id to all by mpi4py: PEs of several nodes share no temporary folder.

    Raises:
        ValueError: mpi4py is not installed.
    """
    try:
        from mpi4py import MPI
    except ImportError:
        raise ValueError(
            "PEs on several nodes need mpi4py, or HIPGRAPH_SHMEM_RENDEZVOUS: a file that all see"
        ) from None
    received: bytes = MPI.COMM_WORLD.bcast(make() if pe == 0 else None, root=0)
    return received
