"""Whether the SHMEM provider that would be taken is there, loads and is not out of date."""

from __future__ import annotations

from pathlib import Path

from ..env import cache_dir, rocm_roots, settings
from ..shmem.library import SHIM_FILE
from .checks import Finding, run_child
from .shim_tools import find_archive

__all__ = ["shmem_provider"]

_BUILD = "hipgraph-shmem build-rocshmem"
#: rocSHMEM's constructors may end the process, so a child loads it.
_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).hgs_attach"


def shmem_provider() -> Finding:
    """Check the library that HIPGRAPH_SHMEM_PROVIDER names, and rocSHMEM's shim if it is built."""
    choice, shim = settings().shmem_provider, cache_dir() / SHIM_FILE
    if "/" in choice:
        return _loads(Path(choice), "set HIPGRAPH_SHMEM_PROVIDER to a provider's library")
    if not shim.exists():
        told = f"the rocSHMEM shim {shim} is not built"
        return Finding(healthy=choice != "rocshmem", told=told, cure=_BUILD)
    newer = _newer_archive(shim)
    if newer is not None:
        told = f"{shim} is older than {newer}, which it was built from"
        return Finding(healthy=False, told=told, cure=_BUILD)
    return _loads(shim, f"{_BUILD}, with the ROCm that is installed")


def _loads(path: Path, cure: str) -> Finding:
    status, _, messages = run_child("-c", _LOAD, str(path))
    if status:
        last = (messages.strip().splitlines() or [f"its process ended with status {status}"])[-1]
        return Finding(healthy=False, told=f"{path} does not load: {last}", cure=cure)
    return Finding(healthy=True, told=f"{path} loads")


def _newer_archive(shim: Path) -> Path | None:
    try:
        archive = find_archive(None, rocm_roots()).path
    except FileNotFoundError:
        return None
    return archive if archive.stat().st_mtime > shim.stat().st_mtime else None
