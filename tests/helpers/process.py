"""Python code run in a process of its own, with a chosen environment and a time limit."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_python(
    code: str, timeout: float = 60, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run code; `variables` are added to the environment, an empty one is removed from it."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", **variables}
    environment = {name: value for name, value in environment.items() if value}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
