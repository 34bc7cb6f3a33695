"""Files of GPU code and a graph, as a user looks at them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from helpers.kernels import assemble, compile_hip
from helpers.process import run_python

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


REFUSED_KERNEL = """
extern "C" __global__ void k(int* out) {
  if (out == nullptr) asm volatile("s_rfe_b64 s[0:1]\\n s_rfe_b64 s[2:3]");
  out[0] = 1;
}
"""
TOLD_KERNEL = """
__device__ int counters[5];
extern "C" __global__ void __launch_bounds__(512) told(int* out, float scale) {
  __attribute__((shared)) static int local[32];
  local[threadIdx_x() & 31] = counters[0]; __builtin_amdgcn_s_barrier(); out[0] = local[1] * scale;
}
""".replace("threadIdx_x()", "__builtin_amdgcn_workitem_id_x()")


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


def test_the_text_tells_what_the_metadata_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every line of the text, against what the compiler wrote as text for the assembler."""
    target = "gfx90a:sramecc+:xnack-"
    path = tmp_path / "k.co"
    path.write_bytes(compile_hip(TOLD_KERNEL, target))
    (found,) = inspect(capsys, str(path))["code_objects"]
    assert found["features"] == {"sramecc": True, "xnack": False}
    assert found["variables"] == {"counters": 20}
    (kernel,) = found["kernels"]
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        f"target    {target}, code object version 6",
        "variable  counters: 20 bytes",
        "kernel    told",
    ]
    assert f"{kernel['vgprs']} VGPRs, {kernel['agprs']} AGPRs, {kernel['sgprs']} SGPRs" in lines[3]
    assert "LDS 128 bytes, scratch 0 bytes a lane, wave 64, up to 512 threads" in lines[3]
    assert lines[4] == f"  {kernel['kernarg_bytes']} bytes of arguments:"
    assert lines[5].startswith("    offset   0  size  8  global_buffer")
    assert lines[6].startswith("    offset   8  size  4  by_value")
    assert len(lines) == 7


def test_without_the_emulated_device_the_instructions_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "k.co"
    path.write_bytes(compile_hip(LDS_KERNEL, "gfx942"))
    code = f"from hipgraph_shmem.cli import main; main(['inspect', {str(path)!r}])"
    done = run_python(code, HIPGRAPH_RUNTIME="/nonexistent/libamdhip64.so")
    assert "kernel    k\n" in done.stdout, done.stderr
    assert "were not checked" in done.stdout


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
    path.write_bytes(compile_hip(REFUSED_KERNEL, "gfx942"))
    (kernel,) = inspect(capsys, str(path))["code_objects"][0]["kernels"]
    assert kernel["without_meaning"] == {"s_rfe_b64": 2}
    assert main(["inspect", str(path)]) == 0
    assert "no meaning for: s_rfe_b64 (2)\n" in capsys.readouterr().out
    s_endpgm, no_instruction = bytes.fromhex("000081bf"), bytes.fromhex("ffffffff")
    literal = bytes.fromhex("ff0080be") + no_instruction  # s_mov_b32 s0, 0xffffffff
    assert decoder.without_meaning("gfx942", literal + s_endpgm) == {}
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
    first, second, edge = capsys.readouterr().out.splitlines()
    assert first.startswith("node 0  memset ") and first.endswith(" (counters)")
    assert second.startswith("node 1  kernel splitk_gemm_") and not second.endswith(")")
    assert edge == "edge    0 -> 1"


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
