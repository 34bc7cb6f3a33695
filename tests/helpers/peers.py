"""Processes of one machine that run the same code, each with a rank, and share device memory."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from helpers import emulated
from helpers.process import PACKAGE, TESTS

LAZY_PEER_ACCESS = 1
_PATIENCE = 60


class Handle(ctypes.Structure):
    """hipIpcMemHandle_t and hipIpcEventHandle_t."""

    _fields_ = [("reserved", ctypes.c_byte * 64)]


def handle_of(address: int) -> bytes:
    """Export memory."""
    handle = Handle()
    emulated.call("hipIpcGetMemHandle", ctypes.byref(handle), ctypes.c_void_p(address))
    return bytes(handle)


def open_code(handle: bytes, flags: int = LAZY_PEER_ACCESS) -> tuple[int, int | None]:
    """Import memory; the error number and the address."""
    address = ctypes.c_void_p(1)
    code = emulated.hip().hipIpcOpenMemHandle(
        ctypes.byref(address), Handle.from_buffer_copy(handle), flags
    )
    return code, address.value


def open_handle(handle: bytes) -> int:
    """Import memory that must be there."""
    code, address = open_code(handle)
    if code:
        raise emulated.HipCallError("hipIpcOpenMemHandle", code)
    return address


def close_code(address: int | None) -> int:
    """End a use of imported memory; the error number."""
    return emulated.hip().hipIpcCloseMemHandle(ctypes.c_void_p(address))


def event_handle_of(event: int) -> bytes:
    """Export an event."""
    handle = Handle()
    emulated.call("hipIpcGetEventHandle", ctypes.byref(handle), ctypes.c_void_p(event))
    return bytes(handle)


def open_event_code(handle: bytes) -> tuple[int, int | None]:
    """Import an event; the error number and the event."""
    event = ctypes.c_void_p(1)
    code = emulated.hip().hipIpcOpenEventHandle(
        ctypes.byref(event), Handle.from_buffer_copy(handle)
    )
    return code, event.value


class Peer:
    """One of the processes. What they tell each other lies in files of a common folder."""

    def __init__(self, rank: int, count: int, folder: str) -> None:
        """Know the place among the others."""
        self.rank, self.count, self.folder = rank, count, Path(folder)

    def tell(self, name: str, data: bytes = b"") -> None:
        """Publish bytes under a name."""
        unfinished = self.folder / f"{name}.{self.rank}.unfinished"
        unfinished.write_bytes(data)
        unfinished.rename(self.folder / f"{name}.{self.rank}")

    def ask(self, name: str, rank: int) -> bytes:
        """Wait for what another one publishes."""
        path = self.folder / f"{name}.{rank}"
        end = time.monotonic() + _PATIENCE
        while not path.exists():
            if time.monotonic() > end:
                raise TimeoutError(f"{path.name} never came")
            time.sleep(0.001)
        return path.read_bytes()

    def gather(self, name: str, data: bytes = b"") -> list[bytes]:
        """Publish bytes and wait for those of all: a barrier too."""
        self.tell(f"{name}-of", data)
        return [self.ask(f"{name}-of", rank) for rank in range(self.count)]

    def image(self) -> bytes:
        """The code object that the parent gave."""
        return (self.folder / "kernels").read_bytes()


def run_peers(
    code: str, count: int, *, image: bytes = b"", timeout: float = 60, **variables: str
) -> list[dict]:
    """Run code in `count` processes at once; what each printed last, as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernels").write_bytes(image)
        environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}{os.pathsep}{TESTS}", **variables}
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", _text(code, rank, count, folder)],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(count)
        ]
        return [json.loads(text.splitlines()[-1]) for text in _finish(processes, timeout)]


def _text(code: str, rank: int, count: int, folder: str) -> str:
    start = f"from helpers.peers import Peer\npeer = Peer({rank}, {count}, {folder!r})\n"
    return start + textwrap.dedent(code)


def _finish(processes: list[subprocess.Popen], timeout: float) -> list[str]:
    """Wait for all processes, or for the first that fails; end the others then."""
    end = time.monotonic() + timeout
    try:
        while any(process.poll() is None for process in processes):
            failed = any(process.poll() not in (None, 0) for process in processes)
            if failed or time.monotonic() > end:
                break
            time.sleep(0.01)
        running = [rank for rank, process in enumerate(processes) if process.poll() is None]
    finally:
        for process in processes:
            process.kill()
        outputs = [process.communicate() for process in processes]
    report = "\n".join(f"process {rank}: {err}" for rank, (_, err) in enumerate(outputs) if err)
    bad = [rank for rank, process in enumerate(processes) if process.returncode]
    assert not bad, f"processes {bad} failed, of which {running} were still running\n{report}"
    return [out for out, _ in outputs]
