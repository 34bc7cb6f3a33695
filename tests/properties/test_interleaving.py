"""Two graphs replayed at once never differ from one after the other, whatever the schedule."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.process import child_environment, on_this_library

PROGRAM = Path(__file__).parent / "programs" / "interleaved.py"
#: Schedules, and pairs of graphs that each runs.
USUAL, LONG = (10, 5), (200, 20)
PART = 10


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "schedules" in metafunc.fixturenames:
        schedules, pairs = LONG if metafunc.config.getoption("--long") else USUAL
        parts = [range(start, start + PART) for start in range(0, schedules, PART)]
        ids = [f"from {part.start}" for part in parts]
        metafunc.parametrize(("schedules", "pairs"), [(part, pairs) for part in parts], ids=ids)


@pytest.mark.usefixtures("emulated")
def test_graphs_at_once_end_as_one_after_the_other(schedules: range, pairs: int) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, str(pairs), *map(str, schedules)],
        env=child_environment(**on_this_library()),
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "equal\n", "")
