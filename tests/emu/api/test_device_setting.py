"""Limits and other settings of a device (api/device_setting.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.kernels import compile_hip

INVALID, UNSUPPORTED_LIMIT = 1, 215
STACK, PRINTF, HEAP, SCRATCH = 0, 1, 2, 0x1000
AUTO, SPIN, YIELD, BLOCKING, MAP_HOST, LMEM, UNKNOWN = 0, 1, 2, 4, 8, 16, 32


def limit(which: int) -> int:
    return hip.out("hipDeviceGetLimit", which)


@pytest.fixture
def limits():
    """Put the limits back."""
    kept = {which: limit(which) for which in (STACK, HEAP)}
    yield kept
    for which, value in kept.items():
        hip.ok("hipDeviceSetLimit", which, value)


def test_limits_are_kept(limits):
    for which, value, kept in ((STACK, 100, 112), (STACK, 2048, 2048), (HEAP, 12345, 12345)):
        hip.ok("hipDeviceSetLimit", which, value)
        assert limit(which) == kept
    hip.ok("hipDeviceSetLimit", STACK, 131056)
    assert hip.code("hipDeviceSetLimit", STACK, 131057) == INVALID
    total = ctypes.c_size_t()
    hip.ok("hipMemGetInfo", None, ctypes.byref(total))
    assert hip.code("hipDeviceSetLimit", HEAP, total.value) == INVALID
    assert limit(STACK) == 131056


def test_limits_that_are_none():
    out = ctypes.byref(ctypes.c_size_t())
    for which in (PRINTF, SCRATCH, 7):
        assert hip.code("hipDeviceGetLimit", out, which) == UNSUPPORTED_LIMIT
        assert hip.code("hipDeviceSetLimit", which, 1) == UNSUPPORTED_LIMIT
    assert hip.code("hipDeviceGetLimit", out, 0x1003) == INVALID
    assert hip.code("hipDeviceSetLimit", 0x1003, 1) == INVALID
    assert hip.code("hipDeviceGetLimit", None, STACK) == INVALID


RECURSIVE = """
__attribute__((device, noinline)) int sum(int n, int* values) {
  volatile int kept[64];
  kept[n & 63] = values[n & 63];
  return n == 0 ? kept[0] : kept[n & 63] + sum(n - 1, values);
}
extern "C" __global__ void total(int* values, int n) { values[64] = sum(n, values); }
"""


def test_the_stack_is_what_the_limit_says(limits, stream):
    """Depth 20 needs more than 5 KiB of stack."""
    total = hip.function(hip.module(compile_hip(RECURSIVE)), "total")
    values = hip.malloc(65 * 4)
    hip.to_device(values, b"\1\0\0\0" * 65)
    params, _kept = hip.parameters(ctypes.c_uint64(values), ctypes.c_int(20))
    assert hip.launch_kernel(total, stream, params) == 0
    hip.ok("hipStreamSynchronize", stream)
    assert int.from_bytes(hip.from_device(values + 256, 4), "little") == 21
    hip.ok("hipDeviceSetLimit", STACK, 1024)
    assert hip.launch_kernel(total, stream, params) == 0
    assert hip.code("hipStreamSynchronize", stream) != 0
    hip.ok("hipFree", values)


def test_flags():
    out = lambda: hip.out("hipGetDeviceFlags", kind=ctypes.c_uint)  # noqa: E731
    before = out()
    for flags in (AUTO, YIELD, BLOCKING | MAP_HOST, SPIN | LMEM):
        hip.ok("hipSetDeviceFlags", flags)
        assert out() == flags & 7
    for flags in (SPIN | YIELD, YIELD | BLOCKING, UNKNOWN):
        assert hip.code("hipSetDeviceFlags", flags) == INVALID
    assert hip.code("hipGetDeviceFlags", None) == INVALID
    hip.ok("hipSetDeviceFlags", before)


@pytest.mark.parametrize("what, most, default", [("CacheConfig", 3, 0), ("SharedMemConfig", 2, 1)])
def test_configurations_that_change_nothing(what, most, default):
    for config in range(most + 1):
        hip.ok(f"hipDeviceSet{what}", config)
        assert hip.out(f"hipDeviceGet{what}", kind=ctypes.c_int) == default
    for config in (most + 1, -1):
        assert hip.code(f"hipDeviceSet{what}", config) == INVALID
    assert hip.code(f"hipDeviceGet{what}", None) == INVALID
