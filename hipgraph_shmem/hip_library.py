"""The HIP library of this process: which is wanted, where it is, and that there is no other."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import env
from .errors import RuntimeLibraryError

__all__ = ["Library", "close_library", "mapped_libraries", "open_library", "refuse_others"]

FILE_NAME = "libamdhip64.so"
ROCM_FILE_NAMES = (FILE_NAME, f"{FILE_NAME}.7", f"{FILE_NAME}.6")
EMULATOR_MARK = "hipgraphEmuReport"
AVX2_FOLDER = "glibc-hwcaps/x86-64-v3"
X86_64_V3_FLAGS = frozenset({"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"})
CHOICES = ("auto", "rocm", "emu", "cuda")


@dataclass(frozen=True, slots=True)
class Library:
    """A loaded HIP library; calls through `pointers` release the GIL."""

    kind: str
    path: Path
    pointers: ctypes.CDLL


def open_library(choice: str) -> Library:
    """Load the library that a HIPGRAPH_RUNTIME value names; `auto` is resolved by the caller.

    Raises:
        RuntimeLibraryError: it cannot be loaded, or another HIP library is in the process.
    """
    if choice == "rocm":
        return _first_that_loads(choice, list(_rocm_candidates()))
    if choice in ("emu", "cuda"):
        return _first_that_loads(choice, list(_own_candidates(choice)))
    if "/" not in choice:
        tried = ((choice, "neither a known word nor a path"),)
        raise RuntimeLibraryError(choice, tried, f"use {', '.join(CHOICES)} or a path with a /")
    return _first_that_loads(choice, [choice])


def close_library(library: Library) -> bool:
    """Unload a library that turned out to be of no use; tell whether it is gone."""
    dlclose = ctypes.CDLL(None).dlclose
    dlclose.argtypes = [ctypes.c_void_p]
    dlclose(library.pointers._handle)
    return library.path.resolve() not in mapped_libraries()


def mapped_libraries() -> frozenset[Path]:
    """Return the HIP libraries that are mapped into this process."""
    with Path("/proc/self/maps").open() as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if FILE_NAME in line}
    return frozenset(path for path in map(Path, files) if path.name.startswith(FILE_NAME))


def _first_that_loads(choice: str, candidates: list[str]) -> Library:
    tried = []
    for candidate in candidates:
        if "/" in candidate:
            refuse_others(choice, Path(candidate))
        try:
            pointers = ctypes.CDLL(candidate, mode=ctypes.RTLD_GLOBAL)
            path = _path_of(pointers, candidate)
        except (OSError, AttributeError) as error:
            tried.append((candidate, str(error)))
            continue
        refuse_others(choice, path)
        return Library(_kind(choice, pointers), path, pointers)
    raise RuntimeLibraryError(choice, tuple(tried), _cure(choice))


def refuse_others(choice: str, path: Path) -> None:
    """Raise unless `path` is the only HIP library that is or would be in the process."""
    others = mapped_libraries() - {path.resolve()}
    if others:
        found = tuple((str(other), "already loaded") for other in sorted(others))
        cure = f"one process uses one HIP library, not also {path}: start a new process"
        raise RuntimeLibraryError(choice, found, cure)


def _path_of(pointers: ctypes.CDLL, candidate: str) -> Path:
    """Ask the loader which file answers; a bare name says nothing about it."""
    info = _DlInfo()
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(_DlInfo)]
    address = ctypes.cast(pointers.hipRuntimeGetVersion, ctypes.c_void_p)
    if not dladdr(address, ctypes.byref(info)) or not info.file_name:
        raise OSError(f"{candidate}: the loader does not know its file")
    return Path(info.file_name.decode()).resolve()


class _DlInfo(ctypes.Structure):
    _fields_ = (
        ("file_name", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol_name", ctypes.c_char_p),
        ("symbol_address", ctypes.c_void_p),
    )


def _kind(choice: str, pointers: ctypes.CDLL) -> str:
    if hasattr(pointers, EMULATOR_MARK):
        return "emu"
    return choice if choice in CHOICES else "path"


def _own_candidates(kind: str) -> Iterator[str]:
    # An editable install has two roots, the sources and the built files: look in each.
    spec = importlib.util.find_spec(__package__)
    roots = spec.submodule_search_locations if spec else None
    for root in roots or ():
        folder = Path(root) / "lib" / kind
        # The loader looks into glibc-hwcaps by itself, but not for a full path.
        if _has_avx2() and (folder / AVX2_FOLDER / FILE_NAME).exists():
            yield str(folder / AVX2_FOLDER / FILE_NAME)
        yield str(folder / FILE_NAME)


def _has_avx2() -> bool:
    """Tell whether this processor runs the x86-64-v3 build of a library."""
    with Path("/proc/cpuinfo").open() as lines:
        flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    return flags >= X86_64_V3_FLAGS


def _rocm_candidates() -> Iterator[str]:
    """Yield paths and names in order: loaded already, named, wheels, /opt/rocm, the loader's."""
    own = {Path(path).resolve() for kind in ("emu", "cuda") for path in _own_candidates(kind)}
    yield from (str(path) for path in sorted(mapped_libraries() - own))
    folders = [root / "lib" for root in env.rocm_roots()]
    wheel = importlib.util.find_spec("_rocm_sdk_core")
    if wheel is not None and wheel.submodule_search_locations:
        folders.extend(Path(root) / "lib" for root in wheel.submodule_search_locations)
    for folder in folders:
        names = [name for name in ROCM_FILE_NAMES if (folder / name).exists()]
        yield str(folder / (names[0] if names else FILE_NAME))
    yield from ROCM_FILE_NAMES


def _cure(choice: str) -> str:
    return {
        "rocm": "install ROCm or set ROCM_PATH, or use HIPGRAPH_RUNTIME=emu",
        "emu": "reinstall the package: its wheel holds the emulated device",
        "cuda": "this build has no CUDA library; use HIPGRAPH_RUNTIME=emu",
    }.get(choice, "check the path, and that the file is a HIP library")
