"""Which HIP library the session uses, the device and stream of a test, and the check for leaks."""

from __future__ import annotations

import gc
import os

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--runtime",
        choices=["auto", "rocm", "emu", "cuda"],
        help="HIP library of this session (default: HIPGRAPH_RUNTIME, else what auto finds)",
    )


def pytest_configure(config):
    choice = config.getoption("--runtime")
    if choice:
        os.environ["HIPGRAPH_RUNTIME"] = choice


@pytest.fixture(scope="session")
def device():
    """Describe device 0 of the session's HIP library."""
    from hipgraph_shmem.devices import device_info

    return device_info(0)


@pytest.fixture
def stream(device):
    """Give a stream that does not wait for the null stream."""
    from hipgraph_shmem.stream import Stream

    with Stream(0) as made:
        yield made


@pytest.fixture(autouse=True)
def no_leaked_handles():
    """Fail a test that leaves handles alive, clean-ups waiting or captures open."""
    from hipgraph_shmem.graph.retired import drain_retired
    from hipgraph_shmem.runtime import drain_postponed, state

    gc.collect()
    before = set(state.live)
    yield
    # What upper layers share in a process (loaded kernels, counter pools) is made anew when needed.
    state.shared.clear()
    gc.collect()
    drain_retired()
    drain_postponed()
    left = [name for token, name in state.live.items() if token not in before]
    waiting, captures = list(state.postponed), dict(state.open_captures)
    state.open_captures.clear()
    assert not left, f"handles left alive: {left}"
    assert not waiting
    assert not captures
