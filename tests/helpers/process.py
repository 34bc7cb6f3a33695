"""Python code run in a process of its own, with a chosen environment and a time limit."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import hipgraph_shmem
from hipgraph_shmem.runtime import library

TESTS = Path(__file__).resolve().parents[1]
#: Children use the package that the parent uses, wherever it is installed.
PACKAGE = Path(hipgraph_shmem.__file__).parents[1]


def child_environment(**variables: str) -> dict[str, str]:
    """The environment of a child that imports the package and the helpers."""
    environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}{os.pathsep}{TESTS}", **variables}
    return {name: value for name, value in environment.items() if value}


def on_this_library() -> dict[str, str]:
    """Variables for a child on the HIP library of this process, which it takes without a word."""
    return {"HIPGRAPH_RUNTIME": str(library().path)}


def run_python(
    code: str, timeout: float = 60, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run code; `variables` are added to the environment, an empty one is removed from it."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=child_environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
