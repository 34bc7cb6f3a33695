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


@pytest.mark.parametrize(
    "call, value, dtype",
    [
        ("hipMemsetD2D8", 0x1FE, np.uint8),
        ("hipMemsetD2D16", 0xABCD, np.uint16),
        ("hipMemsetD2D32", 0x12345678, np.uint32),
    ],
)
def test_2d_of_wider_elements(out, stream, call, value, dtype):
    size = np.dtype(dtype).itemsize
    rows = np.zeros((8, 32 // size), dtype)
    rows[:3, :2] = value & ((1 << 8 * size) - 1)
    for name, extra in ((call, ()), (f"{call}Async", (stream,))):
        hip.ok("hipMemset", out, 0, 256)
        hip.ok(name, out, 32, value, 2, 3, *extra)
        hip.ok("hipStreamSynchronize", stream)
        np.testing.assert_array_equal(ints(out, dtype).reshape(rows.shape), rows)
        assert hip.code(name, out, 32, value, 33, 2, *extra) == INVALID
        assert hip.code(name, out, 32, value, 2, 9, *extra) == INVALID
        assert hip.code(name, None, 32, value, 2, 2, *extra) == INVALID
        assert hip.code(name, out, 32, value, 0, 3, *extra) == 0
        assert hip.code(name, out, 32, value, 2, 0, *extra) == 0


@pytest.mark.parametrize("form", ["blocking", "async", "captured"])
def test_3d(out, stream, form):
    to, extent = hip.PitchedPtr(out + 3, 16, 16, 5), hip.Extent(7, 3, 2)
    if form == "blocking":
        hip.ok("hipMemset3D", to, 0x1FE, extent)
    elif form == "async":
        hip.ok("hipMemset3DAsync", to, 0x1FE, extent, stream)
        hip.ok("hipStreamSynchronize", stream)
    else:
        hip.begin(stream)
        hip.ok("hipMemset3DAsync", to, 0x1FE, extent, stream)
        graph = hip.end(stream)
        assert [hip.node_type(node) for node in hip.nodes(graph)] == [hip.MEMSET]
        exec_ = hip.instantiate(graph)
        hip.launch(exec_, stream)
        hip.ok("hipGraphExecDestroy", exec_)
        hip.ok("hipGraphDestroy", graph)
    wanted = np.zeros(256, np.uint8)
    wanted[:240].reshape(3, 5, 16)[:2, :3, 3:10] = 0xFE
    np.testing.assert_array_equal(ints(out, np.uint8), wanted)


@pytest.mark.parametrize(
    "pitch, rows, extent, expected",
    [
        (16, 4, (16, 4, 4), 0),
        (16, 4, (0, 4, 4), 0),
        (16, 4, (16, 0, 4), 0),
        (16, 4, (16, 4, 0), 0),
        (16, 4, (17, 4, 4), INVALID),
        (16, 4, (16, 4, 5), INVALID),
        (16, 4, (16, 17, 1), INVALID),
        (16, 4, (16, 1 << 60, 4), INVALID),
    ],
)
def test_codes_of_3d(out, stream, pitch, rows, extent, expected):
    to = hip.PitchedPtr(out, pitch, pitch, rows)
    assert hip.code("hipMemset3D", to, 1, hip.Extent(*extent)) == expected
    assert hip.code("hipMemset3DAsync", to, 1, hip.Extent(*extent), stream) == expected
    hip.begin(stream)
    assert hip.code("hipMemset3DAsync", to, 1, hip.Extent(*extent), stream) == expected
    graph = hip.end(stream)
    assert len(hip.nodes(graph)) == (expected == 0 and 0 not in extent)
    hip.ok("hipGraphDestroy", graph)
    unknown = hip.PitchedPtr(0, 16, 16, 4)
    assert hip.code("hipMemset3D", unknown, 1, hip.Extent(4, 4, 4)) == INVALID
