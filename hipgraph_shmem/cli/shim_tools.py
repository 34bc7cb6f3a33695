"""Where a ROCm installation has what the shim is built with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..shmem.archive import Archive, read_archive

__all__ = ["find_archive", "find_compiler", "find_sources", "find_version"]

COMPILERS = ("bin/amdclang++", "llvm/bin/amdclang++", "llvm/bin/clang++", "bin/hipcc")
ARCHIVES = ("librocshmem.a", "lib/librocshmem.a", "lib64/librocshmem.a")
VERSION = re.compile(r'(?:define\s+ROCSHMEM_VERSION|VERSION\[\]\s*=)\s*"(\d+\.\d+(?:\.\d+)?)')
_PACKAGE = Path(__file__).resolve().parents[1]


def find_compiler(roots: Sequence[Path]) -> tuple[Path, Path]:
    """Return the first ROCm root that has a HIP compiler, and the compiler.

    Raises:
        FileNotFoundError: none has.
    """
    for root in roots:
        for name in COMPILERS:
            if (root / name).exists():
                return root, root / name
    places = [root / name for root in roots for name in COMPILERS]
    raise _not_found("a HIP compiler", places, "name ROCm's folder with --rocm DIR")


def find_archive(given: Path | None, roots: Sequence[Path]) -> Archive:
    """Return librocshmem.a, read: the given one or of the given folder, else of ROCm.

    Raises:
        FileNotFoundError: it is nowhere.
        ValueError: it is no static library.
    """
    if given is not None and given.is_file():
        return read_archive(given)
    folders = (given,) if given is not None else tuple(dict.fromkeys(roots))
    places = [folder / name for folder in folders for name in ARCHIVES]
    for place in places:
        if place.is_file():
            return read_archive(place)
    cure = (
        "install rocSHMEM (built with CMAKE_POSITION_INDEPENDENT_CODE=ON), or name its folder "
        "with --rocshmem DIR"
    )
    raise _not_found("librocshmem.a", places, cure)


def find_sources() -> Path:
    """Return the folder of the shim's sources: the installed package's, or the repository's.

    Raises:
        FileNotFoundError: neither is there.
    """
    places = [_PACKAGE / "shmem_sources", _PACKAGE.parent / "native" / "shmem"]
    for place in places:
        if (place / "rocshmem_c.cpp").is_file():
            return place
    raise _not_found("the shim's sources", places, "install the package again")


def find_version(archive: Path) -> str | None:
    """Return the version that the headers beside an archive tell; None where they do not."""
    for folder in (archive.parent, archive.parent.parent):
        for name in ("rocshmem_config.h", "rocshmem.hpp"):
            header = folder / "include" / "rocshmem" / name
            if header.is_file():
                match = VERSION.search(header.read_text(errors="replace"))
                if match:
                    return match[1]
    return None


def _not_found(what: str, places: Iterable[Path], cure: str) -> FileNotFoundError:
    lines = [f"{what} was not found; {cure}", *(f"  looked for {place}" for place in places)]
    return FileNotFoundError("\n".join(lines))
