"""Files of GPU code and a graph, as a user looks at them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from helpers.kernels import assemble, compile_hip

from hipgraph_shmem.cli import main
from hipgraph_shmem.cli.instructions import open_decoder

BUNDLES = Path(__file__).parents[1] / "fixtures" / "bundles"
LDS_KERNEL = """
struct Pair { float x, y; };
extern "C" __global__ void __launch_bounds__(256) k(char c, Pair pair, int* out) {
  __attribute__((shared)) static int local[32];
  local[c & 31] = pair.x; __builtin_amdgcn_s_barrier(); out[0] = local[1];
}
"""


def inspect(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["inspect", *words, "--json"]) == 0
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


def test_a_code_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.co"
    path.write_bytes(compile_hip(LDS_KERNEL, "gfx942"))
    (found,) = inspect(capsys, str(path))["code_objects"]
    (kernel,) = found["kernels"]
    assert (found["target"], found["version"]) == ("gfx942", 6)
    assert (kernel["name"], kernel["lds_bytes"]) == ("k", 128)
    assert kernel["vgprs"] > 0
    places = [(each["offset"], each["size"]) for each in kernel["explicit"]]
    assert places == [(0, 1), (4, 8), (16, 8)]


@pytest.mark.parametrize("name", ["three.bundle", "three_v2.ccob", "three_v3.ccob"])
def test_bundles_of_every_form(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name.endswith(".ccob"):
        pytest.importorskip("zstandard")
    found = inspect(capsys, str(BUNDLES / name))["code_objects"]
    assert len(found) == 3
    assert main(["inspect", str(BUNDLES / name)]) == 0
    text = capsys.readouterr().out
    assert all(f"target    {each['target']}" in text for each in found)


@pytest.mark.usefixtures("emulated")
def test_what_the_emulated_device_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decoder = open_decoder()
    assert decoder is not None
    path = tmp_path / "k.co"
    path.write_bytes(compile_hip(LDS_KERNEL, "gfx942"))
    (kernel,) = inspect(capsys, str(path))["code_objects"][0]["kernels"]
    assert kernel["without_meaning"] == {}
    s_endpgm, no_instruction = bytes.fromhex("000081bf"), bytes.fromhex("ffffffff")
    assert decoder.without_meaning("gfx942", s_endpgm) == {}
    assert decoder.without_meaning("gfx942", no_instruction + s_endpgm) == {"(no instruction)": 1}
    assert decoder.without_meaning("gfx1100", s_endpgm) is None


def test_a_file_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.co"
    path.write_text("text")
    assert main(["inspect", str(path)]) == 2
    assert str(path) in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "none")]) == 2
    assert main(["inspect", str(path), "--dot", "x"]) == 2
    assert "inspect graph" in capsys.readouterr().err


def test_a_code_object_without_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.co"
    path.write_bytes(assemble("gfx942"))
    (found,) = inspect(capsys, str(path))["code_objects"]
    assert found["kernels"] == []


def test_a_graph(device: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = inspect(capsys, "graph", "--dot", str(tmp_path / "graph.dot"))
    assert [node["kind"] for node in facts["nodes"]] == ["memset", "kernel"]
    assert [node["zeroes_counters"] for node in facts["nodes"]] == [True, False]
    assert facts["edges"] == [[0, 1]]
    assert (tmp_path / "graph.dot").read_text() == facts["dot"]
    assert main(["inspect", "graph"]) == 0
    assert "edge    0 -> 1" in capsys.readouterr().out


@pytest.mark.parametrize(("script", "status"), [('cat > "$3"', 0), ("echo bad >&2; exit 1", 2)])
def test_a_drawing_by_graphviz(
    device: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    script: str,
    status: int,
) -> None:
    """A stand-in for `dot -Tsvg -o FILE` that writes its input."""
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert main(["inspect", "graph", "--svg", str(tmp_path / "graph.svg")]) == status
    if status:
        assert "bad" in capsys.readouterr().err
    else:
        assert (tmp_path / "graph.svg").read_text().startswith("digraph")


def test_a_drawing_needs_graphviz(
    device: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert main(["inspect", "graph", "--svg", "graph.svg"]) == 2
    assert "graphviz" in capsys.readouterr().err
