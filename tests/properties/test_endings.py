"""A process may end at any moment: in every order of teardown nothing crashes, nothing is said."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.process import child_environment, on_this_library, run_python

pytestmark = pytest.mark.usefixtures("emulated")

PROGRAM = Path(__file__).parent / "programs" / "endings.py"
NAMES = ("stream", "graph", "exec", "buffer", "module")
ORDERS = list(itertools.permutations(NAMES))
STATES = ("idle", "flight", "hung", "capturing")
TEARDOWNS = ("globals", "del", "close", "atexit", "finalizer", "cycle")
PART = 40

#: How else a process ends, in which states, and with which status.
OTHERS = {
    "exit": (STATES, 3),
    "os_exit": (STATES, 4),
    "error": (("idle", "flight", "hung"), 1),
    "exit_in_a_block": (("idle", "flight", "hung"), 5),
    "os_exit_in_a_block": (("idle", "flight", "hung"), 6),
    "daemon_replay": (("idle", "flight"), 0),
    "daemon_wait": (("idle", "flight", "hung"), 0),
    "daemon_capture": (STATES, 0),
    "thread": (("idle", "flight"), 0),
    "callback": (("idle", "flight", "hung"), 0),
    "exit_in_a_callback": (("idle", "flight"), 0),
    "os_exit_in_a_callback": (("idle", "flight"), 8),
}


def teardowns(*, every: bool) -> list[str]:
    """Every order, each in some way and state, or in all of them."""
    ways = list(itertools.product(STATES, TEARDOWNS))
    words = []
    for number, order in enumerate(ORDERS):
        for state, end in ways if every else [ways[number % len(ways)]]:
            names = list(order)
            if state == "capturing":
                names.insert(number % (len(NAMES) + 1), "block")
            words.append(f"{state}:{end}:{','.join(names)}")
    return words


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "words" in metafunc.fixturenames:
        words = teardowns(every=metafunc.config.getoption("--long"))
        parts = [words[start : start + PART] for start in range(0, len(words), PART)]
        metafunc.parametrize("words", parts, ids=[f"from {part[0]}" for part in parts])


def endings(words: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, PROGRAM, *words],
        env=child_environment(**on_this_library()),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert list(found) == words
    return found


def is_quiet(word: str, stderr: str) -> bool:
    """Nothing on stderr, or, where closing waits for a deadlock, the report of it."""
    report = stderr.startswith("emulated device: deadlock") and "Traceback" not in stderr
    return not stderr or (word.startswith("hung:") and report)


def test_every_order_of_teardown(words: list[str]) -> None:
    for word, ended in endings(words).items():
        assert ended["status"] == 0, (word, ended)
        assert is_quiet(word, ended["stderr"]), (word, ended)


@pytest.fixture(scope="module")
def other_endings() -> dict[str, Any]:
    names = ",".join(NAMES)
    return endings(
        [
            f"{state}:{end}:{names}{',block' * (state == 'capturing')}"
            for end, (states, _) in OTHERS.items()
            for state in states
        ]
    )


@pytest.mark.parametrize("end", OTHERS)
def test_other_ways_to_end(other_endings: dict[str, Any], end: str) -> None:
    for word, ended in other_endings.items():
        if word.split(":")[1] != end:
            continue
        assert ended["status"] == OTHERS[end][1], (word, ended)
        if end == "error":
            (error,) = ended["stderr"].split("Traceback (most recent call last)")[1:]
            assert error.endswith("KeyError: 'in the block'\n")
            assert "ignored" not in error
        elif end == "exit_in_a_callback":
            assert ended["stderr"].startswith("Exception ignored on calling ctypes callback")
            assert ended["stderr"].endswith("SystemExit: 7\n")
        else:
            assert is_quiet(word, ended["stderr"]), (word, ended)


def test_no_host_function_begins_when_the_interpreter_ends() -> None:
    done = run_python(
        """
        import atexit, ctypes

        def last():
            code = hip().hipLaunchHostFunc(stream.handle, function, None)
            print(code, hip().hipStreamSynchronize(stream.handle), called)

        atexit.register(last)  # called after what is registered later
        from hipgraph_shmem import Stream
        from hipgraph_shmem.runtime import library

        hip = lambda: library().pointers
        stream, called = Stream(), []
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: called.append(1))
        assert hip().hipLaunchHostFunc(stream.handle, function, None) == 0
        stream.synchronize()
        """,
        **on_this_library(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0 4 [1]\n"  # hipErrorDeinitialized
