"""The table of releases against the header, the shim's objects and rocSHMEM's own names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from helpers.shim import RELEASES, STRICT, TARGET, ZIG, objects_for, order, release_symbols

from hipgraph_shmem.cli.shim_tools import find_sources
from hipgraph_shmem.shmem.releases import (
    DEVICE_SYMBOLS,
    FUNCTIONS,
    alternative,
    newest_release,
    unavailable,
)

ROOT = Path(__file__).resolve().parents[2]
DECLARATION = re.compile(r"^HGS_API int hgs_(\w+)\(")
OWN_RELEASE = re.compile(r"^/// (\d\.\d)(?::|$)")


def declared() -> dict[str, str]:
    """Each function of rocshmem_c.h with the release that its comment or its group's says."""
    found: dict[str, str] = {}
    group = own = ""
    for line in (ROOT / "native/shmem/rocshmem_c.h").read_text().splitlines():
        if line.startswith("// ----"):
            match = re.search(r"rocSHMEM (\d\.\d)", line)
            group = match[1] if match else ""
        elif match := OWN_RELEASE.match(line):
            own = match[1]
        elif match := DECLARATION.match(line):
            found[match[1]] = own or group
            own = ""
        elif not line.startswith("///"):
            own = ""
    return found


def test_every_function_of_the_header_has_a_row_with_its_release() -> None:
    from_header = declared()
    assert from_header.keys() == FUNCTIONS.keys()
    for name, since in from_header.items():
        if name.startswith("bfloat16_"):
            assert FUNCTIONS[name].since == ""
        elif since:
            assert FUNCTIONS[name].since == since, name


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_has_the_functions_of_its_age(release: str) -> None:
    defined = release_symbols(release)
    for name, row in FUNCTIONS.items():
        there = bool(row.since) and order(row.since) <= order(release)
        assert bool(alternative(row, defined)) == there, name


@pytest.mark.parametrize("release", RELEASES)
def test_the_objects_name_what_the_release_defines(release: str, tmp_path: Path) -> None:
    defined = release_symbols(release)
    objects = objects_for(defined, tmp_path)
    named = {name for name in objects.undefined if "rocshmem" in name.lower()}
    assert named == defined
    exported = {name for name in objects.defined if name.startswith("hgs_")}
    available = {name for name, row in FUNCTIONS.items() if alternative(row, defined)}
    assert exported == {f"hgs_{name}" for name in available}


def test_a_context_without_a_symbol_is_asked_for(tmp_path: Path) -> None:
    asked = "_ZN8rocshmem23rocshmem_get_device_ctxEv"
    defined = release_symbols("3.2") - {"ROCSHMEM_CTX_DEFAULT"} | {asked}
    objects = objects_for(defined, tmp_path)
    assert asked in objects.undefined
    assert "hgs_get_device_ctx" in objects.defined


def test_values_and_layouts(tmp_path: Path) -> None:
    checks = """
    #include "rocshmem_api.h"
    using namespace rocshmem;
    static_assert(sizeof(rocshmem_ctx) == 16 && sizeof(rocshmem_team_t) == 8);
    static_assert(sizeof(rocshmem_team_config_t) == 4);
    static_assert(sizeof(rocshmem_init_attr_t) == 144 && alignof(rocshmem_init_attr_t) == 8);
    static_assert(offsetof(rocshmem_init_attr_t, rank) == 0);
    static_assert(offsetof(rocshmem_init_attr_t, nranks) == 4);
    static_assert(offsetof(rocshmem_init_attr_t, uid) == 8);
    static_assert(offsetof(rocshmem_init_attr_t, mpi_comm) == 136);
    static_assert(ROCSHMEM_INIT_WITH_UNIQUEID == 1);
    static_assert(ROCSHMEM_SIGNAL_SET == 0 && ROCSHMEM_SIGNAL_ADD == 1);
    static_assert(ROCSHMEM_CMP_EQ == 0 && ROCSHMEM_CMP_LE == 5);
    """
    (tmp_path / "rocshmem_have.h").write_text("")
    command = [*ZIG, "c++", *TARGET, *STRICT, "-std=c++17", f"-I{find_sources()}"]
    subprocess.run(
        [*command, f"-I{tmp_path}", "-c", "-x", "c++", "-", "-o", str(tmp_path / "layouts.o")],
        input=checks,
        text=True,
        check=True,
    )


def test_what_is_said_of_a_missing_function() -> None:
    said = unavailable("barrier", "rocSHMEM_v3.3.0_IPC")
    assert said == "rocSHMEM has it since 3.4; this is rocSHMEM_v3.3.0_IPC"
    assert "only the local provider" in unavailable("bfloat16_sum_reduce_on_stream", "x")
    assert newest_release(["malloc", "signal_set_on_stream", "align"]) == "3.8"


def test_device_symbols_are_those_of_the_listing() -> None:
    listed = {name for release in RELEASES for name in release_symbols(release)}
    assert "ROCSHMEM_CTX_DEFAULT" in listed
    assert {names[0] for _, names in DEVICE_SYMBOLS} <= listed


def test_the_documented_releases_are_those_of_the_table() -> None:
    page = (ROOT / "docs/shmem-build.md").read_text()
    documented = {
        (release, name)
        for release, names in re.findall(r"^\| (\d\.\d) \| [\d.]+ \| (.*) \|$", page, re.M)
        for name in re.findall(r"`(\w+)`", names)
        if release != "2.0"
    }
    table = {
        (row.since, name)
        for name, row in FUNCTIONS.items()
        if row.since not in ("", "2.0") and not name.endswith("_reduce_on_stream")
    }
    assert documented == table
