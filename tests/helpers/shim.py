"""The rocSHMEM shim built without ROCm: its objects, a stand-in rocSHMEM, a stand-in compiler."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from hipgraph_shmem.cli.shim_commands import ShimBuild
from hipgraph_shmem.cli.shim_tools import find_sources
from hipgraph_shmem.shmem.archive import Archive, read_archive

RELEASES = ("2.0", "3.0", "3.1", "3.2", "3.3", "3.4", "3.8")
ZIG = (sys.executable, "-m", "ziglang")
TARGET = ("-target", "x86_64-linux-gnu.2.28", "-mcpu=x86_64_v2")
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wundef", "-Werror")
FAKE_ROCSHMEM = Path(__file__).resolve().parents[1] / "shmem" / "fake_rocshmem.cpp"
SYMBOLS = Path(__file__).resolve().parents[1] / "fixtures" / "rocshmem_symbols.tsv"

# amdclang++ as far as the shim's commands go: no device code, no C++ library to link. The test's
# own cache folder is not for ziglang, which would build the C library there.
_COMPILER = """#!{python}
import os, sys
os.environ.pop("XDG_CACHE_HOME", None)
flags = [word for word in sys.argv[1:] if not word.startswith(
    ("-fgpu-rdc", "--hip-link", "--rocm-path", "--offload-arch"))]
tool = "c++" if "-c" in flags else "cc"
os.execv("{python}", ["{python}", "-m", "ziglang", tool, *{target!r}, *flags])
"""


def order(release: str) -> tuple[int, ...]:
    """Make releases comparable."""
    return tuple(map(int, release.split(".")))


def release_symbols(release: str) -> frozenset[str]:
    """Return the listed names that a release defines."""
    lines = [line for line in SYMBOLS.read_text().splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines, delimiter="\t")
    return frozenset(
        row["name"]
        for row in rows
        if order(row["first"]) <= order(release) <= order(row["last"] or "99")
    )


def compile_units(units: Iterable[Path], folder: Path, *flags: str) -> list[Path]:
    """Compile C++ files to objects in a folder."""
    made = []
    for unit in units:
        made.append(folder / f"{unit.stem}.o")
        command = [*ZIG, "c++", *TARGET, "-std=c++17", "-O1", "-fPIC", *STRICT, *flags]
        run([*command, f"-I{find_sources()}", f"-I{folder}", "-c", str(unit), "-o", str(made[-1])])
    return made


def archive_of(objects: Sequence[Path], path: Path) -> Archive:
    """Make a static library of objects and read it."""
    run([*ZIG, "ar", "rcs", str(path), *map(str, objects)])
    return read_archive(path)


def objects_for(defined: frozenset[str], folder: Path) -> Archive:
    """Compile the shim for a rocSHMEM that defines these names; return its objects, read."""
    rocshmem = Archive(folder / "librocshmem.a", defined, frozenset(), ())
    build = ShimBuild(folder, folder / "clang++", rocshmem, folder)
    build.header.write_text(build.configuration())
    units = sorted(find_sources().glob("rocshmem_*.cpp"))
    objects = compile_units(units, folder, "-fvisibility=hidden")
    return archive_of(objects, folder / "libshim.a")


def fake_rocm(root: Path, hip_library: Path, *flags: str) -> Path:
    """Lay out a ROCm tree with the stand-in compiler and rocSHMEM, over a given HIP library."""
    for name in ("bin", "lib", "objects"):
        (root / name).mkdir(parents=True)
    compiler = root / "bin" / "amdclang++"
    compiler.write_text(_COMPILER.format(python=sys.executable, target=TARGET))
    compiler.chmod(0o755)
    (root / "lib" / "libamdhip64.so").symlink_to(hip_library)
    folder = root / "objects"
    (folder / "rocshmem_have.h").write_text("")
    archive_of(compile_units([FAKE_ROCSHMEM], folder, *flags), root / "lib" / "librocshmem.a")
    return root


def run(command: Sequence[str]) -> None:
    """Run a command; show what it said if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
