"""Which HIP library the session uses, the device and stream of a test, and the check for leaks."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

FAILED = pytest.StashKey[bool]()
WAIT_FOR_FLAG = """
extern "C" __global__ void wait_for(volatile int* flag, int* out) {
  long left = 1L << 40; while (flag[0] == 0 && --left) __builtin_amdgcn_s_sleep(1);
  out[0] = flag[0]; }
"""


def pytest_addoption(parser):
    parser.addoption(
        "--runtime",
        choices=["auto", "rocm", "emu", "cuda"],
        help="HIP library of this session (default: HIPGRAPH_RUNTIME, else what auto finds)",
    )
    parser.addoption(
        "--long",
        action="store_true",
        help="tests of many cases take all of them: minutes instead of seconds",
    )


def pytest_configure(config):
    # Child processes import the installed package, not the sources in the repository's root.
    os.chdir(Path(__file__).parent)
    choice = config.getoption("--runtime")
    if choice:
        os.environ["HIPGRAPH_RUNTIME"] = choice


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Remember whether the test failed: its traceback then holds what it used."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


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


@pytest.fixture
def emulated(device):
    """Skip on a real device: what is tested would hang there, or only the emulated one tells."""
    from hipgraph_shmem.runtime import library

    if library().kind != "emu":
        pytest.skip("needs the emulated device")


@pytest.fixture
def gate(device, stream):
    """Give a function that holds a stream, and the flag that lets it go on."""
    import numpy as np
    from helpers.kernels import compile_hip

    from hipgraph_shmem.launch import LaunchConfig, launch
    from hipgraph_shmem.memory import Buffer, PinnedBuffer
    from hipgraph_shmem.module import Module

    with (
        Module(compile_hip(WAIT_FOR_FLAG, device.target.split(":")[0])) as module,
        PinnedBuffer(1, np.int32) as flag,
        Buffer(1, np.int32) as out,
    ):
        flag.array[0] = 0
        kernel = module.kernel("wait_for")
        yield lambda on: launch(on, kernel, LaunchConfig((1, 1, 1)), flag, out), flag
        flag.array[0] = 1
        stream.synchronize()


@pytest.fixture
def aiter_dir():
    """Name the user's aiter install, or skip: its kernels are not ours to ship."""
    from hipgraph_shmem.env import settings

    folder = settings().aiter_dir
    if folder is None:
        pytest.skip("HIPGRAPH_AITER_DIR names no aiter install")
    return folder


@pytest.fixture(autouse=True)
def no_leaked_handles(request):
    """Fail a test that leaves handles alive, clean-ups waiting or captures open."""
    from hipgraph_shmem.graph.retired import drain_retired
    from hipgraph_shmem.runtime import drain_postponed, state

    before = set(state.live)
    yield
    # What upper layers share in a process (loaded kernels, counter pools) is made anew when needed.
    state.shared.clear()
    if set(state.live) - before:  # collecting takes longer than most tests
        gc.collect()
    drain_retired()
    drain_postponed()
    left = [name for token, name in state.live.items() if token not in before]
    waiting, captures = list(state.postponed), dict(state.open_captures)
    state.open_captures.clear()
    if request.node.stash.get(FAILED, False):
        return
    assert not left, f"handles left alive: {left}"
    assert not waiting
    assert not captures
