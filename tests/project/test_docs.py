"""What the documentation says is what the package does."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import isa_coverage

import hipgraph_shmem
from hipgraph_shmem import env, errors

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
BLOCKS = [(page.name, block) for page in PAGES for block in BLOCK.findall(page.read_text())]


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[page for page, _ in BLOCKS])
def test_documented_code_runs(page: str, block: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_every_variable_is_documented() -> None:
    row = re.compile(r"^\| `(HIPGRAPH_\w+)` \| (?:`([^`|]+)` )?\|", re.M)
    table = dict(row.findall(read("environment.md")))
    assert table == {env.PREFIX + each.name: each.default for each in env.VARIABLES}


def test_every_error_is_documented() -> None:
    """Each with its facts: what it is made of, and keeps as attributes."""
    row = re.compile(r"^\| `(\w+)` \| .*\| ([^|]*) ?\| [^|]* ?\|$", re.M)
    table = {name: re.findall(r"`(\w+)`", facts) for name, facts in row.findall(read("errors.md"))}
    defined = {
        name: list(inspect.signature(value.__init__).parameters)[1:]
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.Error)
    }
    assert table == {**defined, "Error": []}


def test_instruction_coverage_is_current() -> None:
    assert read("isa-coverage.md") == isa_coverage.coverage()


def test_public_names_have_docstrings() -> None:
    for name in hipgraph_shmem.__all__:
        assert inspect.getdoc(getattr(hipgraph_shmem, name)), name


def read(page: str) -> str:
    return (ROOT / "docs" / page).read_text()


def test_every_case_names_tests_that_exist() -> None:
    rows = re.findall(r"^\| (C\d{3}) \|.*\| ([^|]+) \|$", read("cases.md"), re.M)
    assert [case for case, _ in rows] == [f"C{number:03}" for number in range(1, 31)]
    for case, cell in rows:
        names = re.findall(r"`([^`:]+)::(test_\w+)`", cell)
        assert names, case
        for path, name in names:
            assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.M), (case, name)
