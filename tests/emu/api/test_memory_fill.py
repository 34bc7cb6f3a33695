"""Fills outside captures (api/memory_fill.cpp)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers import hip_ctypes as hip

INVALID = 1


def ints(address: int, dtype: type) -> np.ndarray:
    return np.frombuffer(hip.from_device(address, 256), dtype)


@pytest.mark.parametrize(
    "call, value, count, dtype, expected",
    [
        ("hipMemset", 0x1FF, 5, np.uint8, 0xFF),
        ("hipMemsetD8", 0x1FE, 5, np.uint8, 0xFE),
        ("hipMemsetD16", 0xABCD, 5, np.uint16, 0xABCD),
        ("hipMemsetD32", -2, 5, np.int32, -2),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking", "async"])
def test_values(out, stream, call, value, count, dtype, expected, asynchronous):
    if asynchronous:
        hip.ok(f"{call}Async", out, value, count, stream)
        hip.ok("hipStreamSynchronize", stream)
    else:
        hip.ok(call, out, value, count)
    wanted = np.zeros(256 // np.dtype(dtype).itemsize, dtype)
    wanted[:count] = expected
    np.testing.assert_array_equal(ints(out, dtype), wanted)


@pytest.mark.parametrize(
    "call, count, expected",
    [
        ("hipMemset", 257, INVALID),
        ("hipMemsetD16", 129, INVALID),
        ("hipMemsetD32", 65, INVALID),
        ("hipMemsetD32", 64, 0),
        ("hipMemsetD32", 1 << 62, INVALID),
        ("hipMemset", 0, 0),
    ],
)
def test_ends(out, stream, call, count, expected):
    assert hip.code(call, out, 0, count) == expected
    assert hip.code(f"{call}Async", out, 0, count, stream) == expected


def test_only_memory_of_the_device_library_is_filled(stream):
    assert hip.code("hipMemset", None, 0, 8) == INVALID
    assert hip.code("hipMemset", bytes(8), 0, 8) == INVALID
    assert hip.code("hipMemsetAsync", bytes(8), 0, 8, stream) == INVALID
    assert hip.code("hipMemset", None, 0, 0) == 0


def test_pinned_memory_is_filled_when_the_call_returns():
    pointer = hip.out("hipHostMalloc", 4096, 0)
    hip.ok("hipMemset", pointer, 7, 4096)
    assert ctypes.string_at(pointer, 4096) == b"\7" * 4096
    hip.ok("hipHostFree", pointer)


@pytest.mark.parametrize(
    "pitch, width, height, expected",
    [(32, 8, 8, 0), (32, 33, 2, INVALID), (32, 0, 4, 0), (32, 8, 0, 0), (32, 8, 9, INVALID)],
)
def test_2d(out, stream, pitch, width, height, expected):
    assert hip.code("hipMemset2DAsync", out, pitch, 6, width, height, stream) == expected
    hip.ok("hipStreamSynchronize", stream)
    rows = np.zeros((8, 32), np.uint8)
    if expected == 0:
        rows[:height, :width] = 6
    np.testing.assert_array_equal(ints(out, np.uint8).reshape(8, 32), rows)
    hip.ok("hipMemset", out, 0, 256)
    assert hip.code("hipMemset2D", out, pitch, 6, width, height) == expected
    np.testing.assert_array_equal(ints(out, np.uint8).reshape(8, 32), rows)
