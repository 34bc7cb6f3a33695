"""`bench soak` finds what grows, and finds nothing in replays and capture cycles."""

from __future__ import annotations

import json
import mmap
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from hipgraph_shmem.cli.soak import soak
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import call
from hipgraph_shmem.stream import Event

pytestmark = pytest.mark.usefixtures("emulated")

PYTHON, DEVICE, HANDLES = "Python objects", "device bytes", "handles"
TIMES = 200


def test_replays_and_capture_cycles_leave_nothing() -> None:
    words = ("bench", "soak", "--replays", "20000", "--cycles", "500", "--json")
    command = [sys.executable, "-m", "hipgraph_shmem", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    result = json.loads(done.stdout)
    assert done.returncode == 0, result
    assert [(run["what"], run["times"]) for run in result["runs"]] == [
        ("replays", 20_000),
        ("capture cycles", 500),
    ]
    for run in result["runs"]:
        first, *_, last = run["after_each_part"]
        assert len(run["after_each_part"]) == 10
        assert last["resident bytes"] - first["resident bytes"] <= 2 << 20
        for name in (DEVICE, "HIP events", "HIP graph execs", "HIP graphs", "HIP streams"):
            assert last[name] == first[name], name
        assert last[PYTHON] - first[PYTHON] < 100  # some wait in queues
    assert last["HIP graphs"] == last["HIP graph execs"] == 0


def host_pages() -> mmap.mmap:
    """Return pages of their own: what malloc gives may have been resident before."""
    pages = mmap.mmap(-1, 1 << 16)
    pages.write(b"1" * (1 << 16))
    return pages


@pytest.mark.parametrize(
    ("leak", "grown"),
    [
        (lambda: [[]], {PYTHON}),
        (lambda: Buffer(1), {PYTHON, DEVICE, HANDLES}),
        (lambda: Event(), {PYTHON, HANDLES, "HIP events"}),
        (lambda: call("hipEventCreateWithFlags", 0), {"HIP events"}),
        (lambda: call("hipGraphCreate", 0), {"HIP graphs"}),
        (lambda: host_pages(), {"resident bytes"}),
    ],
    ids=["object", "buffer", "event", "raw event", "raw graph", "host memory"],
)
def test_a_leak_is_found(leak: Callable[[], Any], grown: set[str]) -> None:
    kept = []
    found = soak("leaks", TIMES, lambda _: kept.append(leak()))
    assert not found["flat"]
    assert grown <= set(found["grown"])
    for each in kept:
        if isinstance(each, Buffer | Event):
            each.close()
        elif isinstance(each, int):
            call("hipGraphDestroy" if "HIP graphs" in grown else "hipEventDestroy", each)


def test_what_is_let_go_is_no_leak() -> None:
    def step(_: int) -> None:
        with Buffer(1), Event():
            pass

    assert soak("nothing", TIMES, step)["grown"] == []
