"""The command as a user runs it: its output, its verdict, its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hipgraph_shmem.cli import main


def run(*words: str) -> dict[str, Any]:
    """Run a subcommand in a process of its own and read its JSON."""
    command = [sys.executable, "-m", "hipgraph_shmem", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_info(device: Any) -> None:
    result = run("info")
    assert result["devices"][0]["target"] == device.target
    assert result["devices"][0]["compute_units"] == device.compute_units


def test_info_for_reading(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    assert device.target in capsys.readouterr().out


@pytest.mark.usefixtures("emulated")
def test_demo() -> None:
    result = run("demo", "--replays", "3")
    assert result["ok"]
    shapes = [(part["m"], part["n"], part["k"]) for part in result["gemms"][:2]]
    assert shapes == [(64, 256, 5120), (32, 512, 8192)]
    for part in result["gemms"][:2]:
        assert part["split_k"] > 1
        assert part["bitwise_equal"]
        assert 0 < part["worst_error_of_bound"] <= 1
        assert sum(node.startswith("memset") for node in part["nodes"]) == 1
        assert part["edges"] == [[0, 1]]
    own = result["deadlocks"][0]
    assert (own["stuck_waves"], own["counters"]) == (16, [2])
    assert own["seconds"] < 5


@pytest.mark.usefixtures("emulated")
def test_demo_with_the_shipped_kernels(aiter_dir: Path) -> None:
    result = run("demo", "--replays", "2", "--aiter", str(aiter_dir))
    assert [part["kernel"] for part in result["gemms"][2:]] == [
        "64x64_splitk_clean",
        "64x64_pf3_splitk",
    ]
    shipped = result["deadlocks"][1]
    assert (shipped["stuck_waves"], shipped["counters"]) == (132, [2])
    assert shipped["grid"] == [33, 1, 7]


@pytest.mark.usefixtures("emulated")
def test_bench_emu() -> None:
    result = run("bench", "emu", "--repeats", "2")
    assert result["ok"]
    assert result["runs"][0]["median_ms"] > 0
    assert result["runs"][0]["per_second_by_class"]["matrix"] > 0


def test_a_wrong_folder_ends_with_a_sentence(
    device: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["demo", "--replays", "1", "--aiter", "/nonexistent"])
    assert status == 2
    assert "directory='/nonexistent'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["bench"], ["demo", "--replays", "0"], ["nothing"]])
def test_a_wrong_command_line_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err
