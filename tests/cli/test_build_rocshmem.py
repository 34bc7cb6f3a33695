"""The commands that `build-rocshmem` prints, and what it says when something is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.shim import archive_of, compile_units

from hipgraph_shmem.cli import main
from hipgraph_shmem.cli.shim_commands import ShimBuild
from hipgraph_shmem.cli.shim_tools import find_sources
from hipgraph_shmem.shmem.archive import Archive

UNITS = ("amo", "c", "memory", "reduce", "stream", "symbols", "team")
COMPILE = (
    "{rocm}/bin/amdclang++ -x c++ -std=c++17 -O2 -fPIC -fvisibility=hidden -I{folder}"
    " -c {sources}/rocshmem_{unit}.cpp -o {folder}/rocshmem_{unit}.o"
)
LINK = (
    "{rocm}/bin/amdclang++ -fPIC -shared -fgpu-rdc --hip-link --rocm-path={rocm}"
    " --offload-arch=gfx90a --offload-arch=gfx942 {objects}"
    " -Wl,--whole-archive {rocm}/lib/librocshmem.a -Wl,--no-whole-archive"
    " -Wl,--version-script={sources}/exports.map -Wl,-z,defs"
    " -L{rocm}/lib -Wl,-rpath,{rocm}/lib -lamdhip64 -ldl -lpthread -o {folder}/librocshmem_c.so"
)


@pytest.fixture
def rocm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ROCm tree as far as finding goes, and a cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "rocm"
    for name in ("bin", "lib", "include/rocshmem"):
        (root / name).mkdir(parents=True)
    (root / "bin/amdclang++").write_text("")
    (root / "lib/librocshmem.a").write_bytes(b"!<arch>\n")
    (root / "include/rocshmem/rocshmem_config.h").write_text('#define ROCSHMEM_VERSION "3.2.1"\n')
    return root


def test_dry_run(rocm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build-rocshmem", "--rocm", str(rocm), "--arch", "gfx90a", "gfx942", "--dry-run"]
    assert main(words) == 0
    cache = tmp_path / "cache" / "hipgraph_shmem"
    folder, sources = cache / "shim_build", find_sources()
    names = {"rocm": rocm, "folder": folder, "sources": sources}
    objects = " ".join(f"{folder}/rocshmem_{unit}.o" for unit in UNITS)
    assert capsys.readouterr().out.splitlines() == [
        *(COMPILE.format(unit=unit, **names) for unit in UNITS),
        LINK.format(objects=objects, **names),
        f"mv {folder}/librocshmem_c.so {cache}/librocshmem_c.so",
    ]
    assert not cache.exists()


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["build-rocshmem", "--dry-run", *words]) == 2
    return capsys.readouterr().err


def test_what_is_missing_is_named(
    rocm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, "--rocm", str(tmp_path))
    assert "a HIP compiler was not found" in said
    assert f"{tmp_path}/bin/hipcc" in said
    assert "--rocm DIR" in said
    said = refusal(capsys, "--rocm", str(rocm), "--rocshmem", str(tmp_path))
    assert "librocshmem.a was not found" in said
    assert f"looked for {tmp_path}/lib/librocshmem.a" in said
    assert "--rocshmem DIR" in said
    said = refusal(capsys, "--rocm", str(rocm))
    assert "--arch" in said
    said = refusal(capsys, "--rocm", str(rocm), "--rocshmem", str(rocm / "bin/amdclang++"))
    assert "no static library" in said


def test_libraries_that_the_archive_needs(
    rocm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unit = tmp_path / "needs.cpp"
    unit.write_text(
        'extern "C" { int numa_available(); int MPI_Init(void*, void*); int use(); }\n'
        "int use() { return numa_available() + MPI_Init(nullptr, nullptr); }\n"
        'const char code[] = "hip-amdgcn-amd-amdhsa--gfx950"; const char* used = code;\n'
    )
    archive_of(compile_units([unit], tmp_path), rocm / "lib/librocshmem.a")
    said = refusal(capsys, "--rocm", str(rocm))
    assert "needs MPI" in said
    words = ["build-rocshmem", "--rocm", str(rocm), "--mpi", "/opt/mpi", "--dry-run"]
    assert main(words) == 0
    link = capsys.readouterr().out.splitlines()[-2]
    assert "--offload-arch=gfx950" in link
    assert "-lnuma -L/opt/mpi/lib -Wl,-rpath,/opt/mpi/lib -lmpi" in link


def test_a_failing_compiler_ends_the_build(rocm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiler = rocm / "bin/amdclang++"
    compiler.write_text("#!/bin/sh\nexit 3\n")
    compiler.chmod(0o755)
    assert main(["build-rocshmem", "--rocm", str(rocm), "--arch", "gfx942"]) == 1
    assert "status 3" in capsys.readouterr().err


def test_version(rocm: Path) -> None:
    def version(path: Path, *defined: str) -> str:
        archive = Archive(path, frozenset(defined), frozenset(), ())
        return ShimBuild(rocm, rocm, archive, rocm).version()

    aligned = "_ZN8rocshmem14rocshmem_alignEmm"
    assert version(rocm / "lib/librocshmem.a", aligned) == "3.2.1"
    assert version(rocm / "lib/elsewhere/deep/librocshmem.a", aligned) == "3.4.0"
    assert version(rocm / "lib/elsewhere/deep/librocshmem.a") == "2.0.0"
