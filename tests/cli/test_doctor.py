"""Each fault of the environment is found, with its cure, in a child with that very fault."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.kernels import compile_hip, zig
from helpers.process import child_environment

from hipgraph_shmem.cli import checks
from hipgraph_shmem.cli.doctor import CHECKS, _examine
from hipgraph_shmem.runtime import library

FAULTY_LIBRARY = "__attribute__((constructor)) static void end(void) { __builtin_trap(); }"
EMPTY = 'extern "C" __global__ void empty() {}'
NO_HIP_PYTHON = """
import sys
from importlib import metadata
def version(name):
    raise metadata.PackageNotFoundError(name)
metadata.version = version
sys.modules["hip"] = None
"""


def doctor(*words: str, **variables: str) -> tuple[int, str]:
    """Run the command with some variables set; return its status and output."""
    command = [sys.executable, "-m", "hipgraph_shmem", "doctor", *words]
    environment = child_environment(**variables)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def checked(**variables: str) -> dict[str, Any]:
    status, output = doctor("--json", **variables)
    result: dict[str, Any] = json.loads(output)
    assert status == (0 if result["ok"] else 1)
    assert list(result["checks"]) == list(CHECKS)
    return result


def fault(name: str, **variables: str) -> dict[str, Any]:
    """Return the one fault that is found."""
    result = checked(**variables)
    wrong = [check for check, finding in result["checks"].items() if not finding["healthy"]]
    assert name in wrong, result
    finding: dict[str, Any] = result["checks"][name]
    assert finding["cure"]
    return finding


@pytest.fixture
def faulty_library(tmp_path: Path) -> Path:
    """A library that ends the process which loads it."""
    source = tmp_path / "faulty.c"
    source.write_text(FAULTY_LIBRARY)
    path = tmp_path / "libfaulty.so"
    compiled = str(tmp_path / "faulty.o")
    zig("clang", "--target=x86_64-linux-gnu", "-c", "-fPIC", str(source), "-o", compiled)
    zig("ld.lld", "-shared", compiled, "-o", str(path))
    return path


@pytest.mark.usefixtures("emulated")
def test_a_sound_environment() -> None:
    assert checked()["ok"]
    status, text = doctor()
    assert status == 0
    assert text.endswith("nothing is wrong\n")


def test_an_unknown_variable_is_named_with_the_near_one() -> None:
    assert "HIPGRAPH_RUNTIME" in fault("variables", HIPGRAPH_RUNTME="emu")["told"]


def test_c027_a_library_that_is_not_there_lists_what_was_tried(tmp_path: Path) -> None:
    told = fault("HIP library", HIPGRAPH_RUNTIME="rocm", ROCM_PATH=str(tmp_path))["told"]
    assert str(tmp_path / "lib" / "libamdhip64.so") in told
    assert "libamdhip64.so.7" in told


def test_a_library_that_ends_the_process(faulty_library: Path) -> None:
    assert "status -" in fault("HIP library", HIPGRAPH_RUNTIME=str(faulty_library))["told"]


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "libamdhip64.so"
    path.write_text("text")
    assert str(path) in fault("HIP library", HIPGRAPH_RUNTIME=str(path))["told"]


@pytest.mark.usefixtures("emulated")
def test_hip_python_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_HIP_PYTHON)
    environment = child_environment()
    environment["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{environment['PYTHONPATH']}"
    command = [sys.executable, "-m", "hipgraph_shmem", "doctor", "--json"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1, done.stderr
    findings = json.loads(done.stdout)["checks"]
    assert "pip install hip-python" in findings["hip-python"]["cure"]
    assert not findings["HIP library"]["healthy"]


@pytest.mark.usefixtures("emulated")
def test_a_second_library_that_is_mapped(tmp_path: Path) -> None:
    copy = tmp_path / "libamdhip64.so"
    copy.write_bytes(library().path.read_bytes())
    assert str(copy) in fault("HIP library", LD_PRELOAD=str(copy))["told"]
    other = tmp_path / "libamdhip64.so.7"
    other.write_bytes(copy.read_bytes())
    told = fault("one HIP library", LD_PRELOAD=f"{copy}:{other}")["told"]
    assert told == f"{copy}, {other}"


@pytest.mark.usefixtures("emulated")
def test_c023_a_device_for_which_no_kernel_is_shipped() -> None:
    facts = {"devices": [{"ordinal": 0, "target": "gfx1100"}]}
    finding = checks.targets(facts)
    assert not finding.healthy
    assert "object is for gfx942, device is gfx1100" in finding.told
    assert checks.targets({"devices": [{"ordinal": 0, "target": "gfx90a:xnack+"}]}).healthy


@pytest.mark.usefixtures("emulated")
def test_c023_amds_kernels_for_another_xnack_setting(tmp_path: Path) -> None:
    folder = tmp_path / "hsa" / "gfx942" / "bf16gemm"
    folder.mkdir(parents=True)
    (folder / "bf16gemm_fp32bf16.csv").touch()
    (folder / "k.co").write_bytes(compile_hip(EMPTY, "gfx942:xnack+"))
    install = {"HIPGRAPH_AITER_DIR": str(tmp_path)}
    told = fault("AMD's kernels", HIPGRAPH_EMU_TARGET="gfx942:xnack-", **install)["told"]
    assert "needs xnack+, device runs xnack- (HSA_XNACK=1?)" in told
    sound = checked(HIPGRAPH_EMU_TARGET="gfx942:xnack+", **install)
    assert "runs gfx942:xnack+" in sound["checks"]["AMD's kernels"]["told"]
    assert sound["ok"]
    told = fault("AMD's kernels", HIPGRAPH_EMU_TARGET="gfx950", **install)["told"]
    assert str(tmp_path / "hsa" / "gfx950" / "bf16gemm") in told


def test_a_warning_of_the_library_is_told() -> None:
    """Without a choice the emulated device is taken, with a warning that says so."""
    finding = checked(HIPGRAPH_RUNTIME="")["checks"]["HIP library"]
    if finding["healthy"] and finding["told"].startswith("emu"):
        assert "RuntimeWarning" in finding["told"]


def test_a_library_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_CHILD_SECONDS", 0.01)
    finding = checks.probe().finding
    assert not finding.healthy
    assert "no answer" in finding.told


def test_the_text_has_each_check_with_its_cure(tmp_path: Path) -> None:
    status, text = doctor(HIPGRAPH_RUNTIME=str(tmp_path / "libamdhip64.so"))
    assert status == 1
    lines = text.splitlines()
    assert lines[-1] == "SOMETHING IS WRONG"
    for name in CHECKS:
        (at,) = (i for i, line in enumerate(lines) if line[7:].startswith(f"{name}: "))
        if lines[at].startswith("WRONG"):
            assert any(line.startswith("       cure: ") for line in lines[at + 1 :])


def test_a_check_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> checks.Finding:
        raise KeyError("mine")

    found = _examine(broken, checks.Probe(checks.Finding(healthy=True, told=""), {}))
    assert not found.healthy
    assert "mine" in found.told


def test_every_check_is_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "environment.md"
    _, _, table = page.read_text().partition("| check |")
    assert re.findall(r"^\| ([^|]+) \|", table, re.M) == list(CHECKS)


def test_c027_hip_python_of_another_major_release() -> None:
    finding = checks.hip_python({"kind": "rocm", "hip_version": 5 * 10**7})
    assert not finding.healthy
    assert "hip-python==5.*" in finding.cure
    assert checks.hip_python({"kind": "emu", "hip_version": 5 * 10**7}).healthy


def test_device_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.device_files({"kind": "emu"}, tmp_path).healthy
    assert not checks.device_files({"kind": "rocm"}, tmp_path).healthy
    (tmp_path / "kfd").touch()
    (tmp_path / "dri").mkdir()
    (tmp_path / "dri" / "renderD128").touch()
    assert checks.device_files({"kind": "rocm"}, tmp_path).healthy
    # The superuser may open every file, so the answer is given by the test.
    monkeypatch.setattr(os, "access", lambda path, _: "renderD" not in str(path))
    finding = checks.device_files({"kind": "rocm"}, tmp_path)
    assert not finding.healthy
    assert "renderD128" in finding.told
    assert "render" in finding.cure


def test_a_provider_that_does_not_load(faulty_library: Path, tmp_path: Path) -> None:
    for path in (faulty_library, tmp_path / "none.so"):
        told = fault("SHMEM provider", HIPGRAPH_SHMEM_PROVIDER=str(path))["told"]
        assert f"{path} does not load" in told


def test_the_rocshmem_shim(tmp_path: Path, faulty_library: Path) -> None:
    """Missing where it is wanted, broken, and older than the library that it was built from."""
    rocm, cache = tmp_path / "rocm", tmp_path / "cache"
    variables = {"XDG_CACHE_HOME": str(cache), "ROCM_PATH": str(rocm)}
    wanted = {**variables, "HIPGRAPH_SHMEM_PROVIDER": "rocshmem"}
    assert "build-rocshmem" in fault("SHMEM provider", **wanted)["cure"]
    shim = cache / "hipgraph_shmem" / "librocshmem_c.so"
    shim.parent.mkdir(parents=True)
    shim.write_bytes(faulty_library.read_bytes())
    assert "does not load" in fault("SHMEM provider", **wanted)["told"]
    archive = rocm / "lib" / "librocshmem.a"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"!<arch>\n")
    os.utime(shim, (1, 1))
    assert f"older than {archive}" in fault("SHMEM provider", **wanted)["told"]
