"""The rules of the house that a reader relies on: sizes, doors, directions, mirrors."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {"LICENSE", "README.md", "docs", "hipgraph_shmem", "native", "pyproject.toml", "tests"}
PYTHON_LAYERS_WITH_HIP = {"hipgraph_shmem/runtime.py"}
NATIVE_LAYERS = ["machine", "isa", "runtime", "api"]


def tracked(*suffixes: str) -> list[str]:
    """Every file of the repository with one of these suffixes, tracked or about to be."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return sorted(path for path in listing if path.endswith(suffixes) and (ROOT / path).exists())


SOURCES = [path for path in tracked(".py", ".cpp", ".h", ".hpp", ".hip") if "fixtures" not in path]


@pytest.mark.parametrize("path", SOURCES)
def test_source_file_stays_readable(path: str) -> None:
    lines = (ROOT / path).read_text().splitlines()
    assert len(lines) <= 400
    assert max(map(len, lines), default=0) <= 100


def test_top_level_holds_only_the_named_entries() -> None:
    names = {path.split("/")[0] for path in tracked("")}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def statements_by_function(text: str) -> dict[str, int]:
    """Statements (semicolons) of each outermost function body of C++ source."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "", text, flags=re.S)
    found: dict[str, int] = {}
    opening = re.compile(r"\)\s*(?:const|noexcept|override|final|\s)*(?::[^{};]*)?\{")
    position = 0
    while (match := opening.search(text, position)) is not None:
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        head = text[: match.start()].rsplit("\n", 2)[-1].strip()
        found[f"{match.start()}: {head}"] = text[match.end() : end].count(";")
        position = end
    return found


@pytest.mark.parametrize("path", [p for p in SOURCES if p.endswith((".cpp", ".h", ".hpp", ".hip"))])
def test_native_function_stays_short(path: str) -> None:
    long = {
        name: count
        for name, count in statements_by_function((ROOT / path).read_text()).items()
        if count > 40
    }
    assert not long


def package_files_matching(pattern: str) -> set[str]:
    expression = re.compile(pattern, re.M)
    return {
        path
        for path in SOURCES
        if path.startswith("hipgraph_shmem/") and expression.search((ROOT / path).read_text())
    }


def test_hip_is_imported_behind_one_door() -> None:
    assert package_files_matching(r"^\s*(?:from hip\b|import hip\b)") <= PYTHON_LAYERS_WITH_HIP


def test_the_environment_is_read_behind_one_door() -> None:
    assert package_files_matching(r"os\.environ|os\.getenv|\bgetenv\(") <= {"hipgraph_shmem/env.py"}


def test_the_package_raises_its_own_errors_and_never_asserts() -> None:
    assert not package_files_matching(r"^\s*assert\b|raise RuntimeError")


@pytest.mark.parametrize("path", [p for p in SOURCES if p.startswith("native/emu/")])
def test_native_layers_point_one_way(path: str) -> None:
    layer = path.split("/")[2]
    if layer not in NATIVE_LAYERS:
        return
    above = NATIVE_LAYERS[NATIVE_LAYERS.index(layer) + 1 :]
    includes = re.findall(r'#include "(\w+)/', (ROOT / path).read_text())
    assert not set(includes) & set(above)


def test_machine_knows_no_opcode_and_isa_no_queue() -> None:
    for path in SOURCES:
        text = (ROOT / path).read_text()
        if path.startswith("native/emu/machine/"):
            assert '"isa/' not in text, path
        if path.startswith("native/emu/isa/"):
            assert '"runtime/' not in text, path


def test_no_handler_gives_up_silently() -> None:
    for path in SOURCES:
        if path.startswith("native/emu/"):
            assert not re.search(r"default:\s*break;", (ROOT / path).read_text()), path


def test_every_source_of_the_emulated_device_is_built() -> None:
    listed = (ROOT / "native/emu/CMakeLists.txt").read_text()
    for path in SOURCES:
        if path.startswith(("native/emu/", "native/hip_abi/")) and path.endswith(".cpp"):
            assert path.removeprefix("native/").removeprefix("emu/") in listed, path


def test_every_source_of_the_local_provider_is_built() -> None:
    listed = (ROOT / "native/shmem/CMakeLists.txt").read_text()
    for path in SOURCES:
        if path.startswith("native/shmem/local/") and path.endswith(".cpp"):
            assert f"  {path.removeprefix('native/shmem/')}\n" in listed, path


FAMILY_TABLES = re.compile(r"^std::span<const Row> (\w+)\(\)", re.M)


def test_every_family_has_a_test_file() -> None:
    families = {
        name
        for path in SOURCES
        if path.startswith("native/emu/isa/") and path.endswith(".cpp")
        for name in FAMILY_TABLES.findall((ROOT / path).read_text())
    }
    tests = {Path(path).stem.removeprefix("test_") for path in SOURCES if "tests/isa/" in path}
    shared = {"global": "flat", "scratch": "flat"}  # one executor, three segments
    assert {shared.get(name, name) for name in families} <= tests


FOREIGN = re.compile(r"/work/|/tmp/brief|issue #?[1-9] of this|helper-\d", re.I)


@pytest.mark.parametrize(
    "path", tracked(".py", ".cpp", ".h", ".hpp", ".hip", ".md", ".toml", ".txt")
)
def test_the_repository_speaks_of_the_project_only(path: str) -> None:
    if path != "tests/project/test_layout.py":
        assert not FOREIGN.search((ROOT / path).read_text())
