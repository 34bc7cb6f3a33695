"""The compile and link commands of the rocSHMEM shim, and the header that says what to compile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..shmem.archive import Archive
from ..shmem.library import SHIM_FILE
from ..shmem.releases import (
    DEVICE_SYMBOLS,
    FUNCTIONS,
    READS_ENVIRONMENT_AT_LOAD,
    alternative,
    newest_release,
)
from .shim_tools import find_sources, find_version

__all__ = ["ShimBuild"]


#: Libraries that only some builds of rocSHMEM need, by how the names that they define begin.
OPTIONAL_LIBRARIES = (
    ("hsa_", "hsa-runtime64"),
    ("numa_", "numa"),
    ("ibv_", "ibverbs"),
    ("rocprofiler_register_", "rocprofiler-register"),
)


@dataclass(frozen=True, slots=True)
class ShimBuild:
    """One build of the shim.

    Attributes:
        rocm: ROCm's folder.
        compiler: Its HIP compiler.
        archive: librocshmem.a, read.
        folder: Where objects go.
        processors: GPUs to link device code for; empty: all that the archive has code for.
        mpi: MPI's folder, where the archive needs MPI.
    """

    rocm: Path
    compiler: Path
    archive: Archive
    folder: Path
    processors: tuple[str, ...] = ()
    mpi: Path | None = None

    @property
    def header(self) -> Path:
        """The generated header."""
        return self.folder / "rocshmem_have.h"

    @property
    def library(self) -> Path:
        """The linked library."""
        return self.folder / SHIM_FILE

    def available(self) -> dict[str, int]:
        """Return each function with the alternative of its needs that the archive has, from 1."""
        found = ((name, alternative(row, self.archive.defined)) for name, row in FUNCTIONS.items())
        return {name: number for name, number in found if number}

    def version(self) -> str:
        """Return what the headers say, else the release that the functions point to."""
        told = find_version(self.archive.path)
        return told or f"{newest_release(self.available())}.0"

    def configuration(self) -> str:
        """Return the text of rocshmem_have.h."""
        available = self.available()
        defined = self.archive.defined
        lines = [
            f"// What {self.archive.path} defines.",
            "#pragma once",
            f'#define HGS_ROCSHMEM_VERSION "{self.version()}"',
            f"#define HGS_ENVIRONMENT_READ_AT_LOAD {int(READS_ENVIRONMENT_AT_LOAD in defined)}",
        ]
        lines += [f"#define HGS_HAVE_{name} {available.get(name, 0)}" for name in FUNCTIONS]
        for symbol, names in DEVICE_SYMBOLS:
            lines += [f'#define HGS_SYMBOL_{symbol} "{n}"' for n in names if n in defined][:1]
        return "\n".join(lines) + "\n"

    def commands(self) -> list[list[str]]:
        """Return the commands in order: one for each source, then the link.

        Raises:
            ValueError: the archive needs what was not given.
            FileNotFoundError: the sources are nowhere.
        """
        sources = find_sources()
        units = sorted(sources.glob("rocshmem_*.cpp"))
        objects = [self.folder / f"{unit.stem}.o" for unit in units]
        flags = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", f"-I{self.folder}"]
        compiles = [
            [str(self.compiler), "-x", "c++", *flags, "-c", str(unit), "-o", str(made)]
            for unit, made in zip(units, objects, strict=True)
        ]
        return [*compiles, self._link(objects, sources / "exports.map")]

    def summary(self) -> str:
        """Say what the shim has."""
        lacking = [name for name in FUNCTIONS if name not in self.available()]
        return f"rocSHMEM {self.version()}; without {len(lacking)} of {len(FUNCTIONS)} functions"

    def _link(self, objects: list[Path], exports: Path) -> list[str]:
        library_dir = self.rocm / "lib"
        whole = ["-Wl,--whole-archive", str(self.archive.path), "-Wl,--no-whole-archive"]
        return [
            *(str(self.compiler), "-fPIC", "-shared", "-fgpu-rdc", "--hip-link"),
            f"--rocm-path={self.rocm}",
            *(f"--offload-arch={processor}" for processor in self._targets()),
            *map(str, objects),
            *whole,
            *(f"-Wl,--version-script={exports}", "-Wl,-z,defs"),
            *(f"-L{library_dir}", f"-Wl,-rpath,{library_dir}", "-lamdhip64"),
            *self._libraries(),
            *("-ldl", "-lpthread", "-o", str(self.library)),
        ]

    def _targets(self) -> tuple[str, ...]:
        targets = self.processors or self.archive.processors
        if not targets:
            raise ValueError(
                f"{self.archive.path} has code for no GPU that can be told; name yours with --arch"
            )
        return targets

    def _libraries(self) -> list[str]:
        """Return the flags for what this build of rocSHMEM needs besides HIP."""
        needed = self.archive.undefined
        flags = [
            f"-l{library}"
            for prefix, library in OPTIONAL_LIBRARIES
            if any(name.startswith(prefix) for name in needed)
        ]
        if any(name.startswith("MPI_") for name in needed):
            if self.mpi is None:
                raise ValueError(f"{self.archive.path} needs MPI: name its folder with --mpi DIR")
            flags += [f"-L{self.mpi / 'lib'}", f"-Wl,-rpath,{self.mpi / 'lib'}", "-lmpi"]
        return flags
