"""Streams, kernels and gates of the tests that call the emulated device's C functions."""

from __future__ import annotations

import threading

import pytest
from helpers import hip_ctypes as hip
from helpers.kernels import compile_hip

SOURCE = """
extern "C" __device__ int counter = 41;
extern "C" __global__ void put(int* out, int value) {
  out[__builtin_amdgcn_workitem_id_x()] = value;
}
extern "C" __global__ void add(int* out, int value) {
  out[__builtin_amdgcn_workitem_id_x()] += value;
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void __launch_bounds__(128) narrow(int* out) { *out = 1; }
"""


@pytest.fixture(autouse=True)
def no_leaked_handles():
    """Take the place of the package's own check: nothing here makes a handle of the package."""


@pytest.fixture(scope="session")
def module():
    """Load the module of the test kernels."""
    return hip.module(compile_hip(SOURCE))


@pytest.fixture(scope="session")
def put(module):
    """Give a kernel that writes one int to 64 places."""
    return hip.function(module, "put")


@pytest.fixture(scope="session")
def add(module):
    """Give a kernel that adds one int to 64 places."""
    return hip.function(module, "add")


@pytest.fixture(scope="session")
def nothing(module):
    """Give a kernel without parameters."""
    return hip.function(module, "nothing")


@pytest.fixture
def streams():
    """Give a maker of non-blocking streams, all destroyed after the test."""
    made = []

    def make(flags: int = hip.NON_BLOCKING) -> int:
        made.append(hip.stream(flags))
        return made[-1]

    yield make
    for handle in made:
        hip.code("hipStreamDestroy", handle)
    hip.last_error()


@pytest.fixture
def stream(streams):
    """Give a non-blocking stream."""
    return streams()


@pytest.fixture
def graph():
    """Give an empty graph, destroyed after the test."""
    made = hip.out("hipGraphCreate", 0)
    yield made
    hip.code("hipGraphDestroy", made)
    hip.last_error()


@pytest.fixture
def out():
    """Give 64 zeroed ints of device memory."""
    address = hip.malloc(256)
    hip.to_device(address, bytes(256))
    yield address
    hip.ok("hipFree", address)


@pytest.fixture
def gate():
    """Give a host function that blocks its stream until `open_gate` is called."""

    class Gate:
        def __init__(self):
            self.opened = threading.Event()
            self.function = hip.HOST_FUNCTION(lambda _: self.opened.wait(30))

        def block(self, stream: int) -> None:
            hip.ok("hipLaunchHostFunc", stream, self.function, None)

        def open_gate(self) -> None:
            self.opened.set()

    made = Gate()
    yield made
    made.open_gate()
    hip.ok("hipDeviceSynchronize")
