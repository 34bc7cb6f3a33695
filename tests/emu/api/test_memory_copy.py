"""Copies outside captures (api/memory_copy.cpp, runtime/memory_checks.cpp)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers import hip_ctypes as hip

INVALID, PITCH, DIRECTION = 1, 12, 21
NBYTES = 256


@pytest.fixture
def other():
    """Give a second piece of device memory."""
    address = hip.malloc(NBYTES)
    yield address
    hip.ok("hipFree", address)


@pytest.fixture
def pinned():
    """Give a piece of pinned memory."""
    address = hip.out("hipHostMalloc", NBYTES, 0)
    yield address
    hip.ok("hipHostFree", address)


def copy(to, source, nbytes, kind, stream=None) -> tuple[int, int]:
    """Codes of the blocking and of the asynchronous copy."""
    both = (
        hip.code("hipMemcpy", to, source, nbytes, kind),
        hip.code("hipMemcpyAsync", to, source, nbytes, kind, stream),
    )
    hip.code("hipStreamSynchronize", stream)
    return both


HOST_IN = ctypes.create_string_buffer(NBYTES)
HOST_OUT = ctypes.create_string_buffer(NBYTES)
PLACES = {"host": HOST_IN, "null": None}


def place(name, request):
    return PLACES[name] if name in PLACES else request.getfixturevalue(name)


@pytest.mark.parametrize(
    "to, source, kind, expected",
    [
        ("out", "host", hip.H2D, 0),
        ("out", "host", hip.DEFAULT, 0),
        ("out", "host", hip.D2D, 0),
        ("out", "host", hip.D2H, INVALID),
        ("host", "out", hip.D2H, 0),
        ("host", "out", hip.DEFAULT, 0),
        ("host", "out", hip.H2D, INVALID),
        ("out", "other", hip.D2D, 0),
        ("out", "other", hip.H2D, 0),
        ("out", "other", hip.D2H, 0),
        ("out", "other", hip.H2H, 0),
        ("out", "other", 1024, 0),
        ("pinned", "pinned", hip.H2H, 0),
        ("pinned", "pinned", hip.D2D, 0),
        ("host", "host", hip.H2H, 0),
        ("host", "host", hip.DEFAULT, 0),
        ("host", "host", hip.D2D, INVALID),
        ("host", "host", hip.H2D, INVALID),
        ("null", "out", hip.D2D, INVALID),
        ("out", "null", hip.D2D, INVALID),
        ("out", "other", 5, DIRECTION),
        ("out", "other", -1, DIRECTION),
    ],
)
def test_direction(request, to, source, kind, expected):
    request.getfixturevalue("stream")
    pair = place(to, request), place(source, request)
    assert copy(*pair, NBYTES, kind) == (expected, expected)


def test_no_bytes_are_no_copy_but_an_unknown_kind_still_is_an_error(out):
    assert copy(None, None, 0, hip.H2D) == (0, 0)
    assert copy(None, None, 0, 7) == (0, DIRECTION)


@pytest.mark.parametrize("offset, nbytes", [(0, 257), (1, 256), (255, 2), (0, 1 << 63)])
def test_past_the_end(out, other, offset, nbytes):
    assert copy(out + offset, other, nbytes, hip.D2D) == (INVALID, INVALID)
    assert copy(other, out + offset, nbytes, hip.D2D) == (INVALID, INVALID)


def test_bytes_arrive(out, other, stream):
    data = np.random.default_rng(3).bytes(NBYTES)
    hip.ok("hipMemcpyHtoDAsync", out, data, NBYTES, stream)
    hip.ok("hipMemcpyDtoDAsync", other, out, NBYTES, stream)
    back = ctypes.create_string_buffer(NBYTES)
    hip.ok("hipMemcpyDtoHAsync", back, other, NBYTES, stream)
    hip.ok("hipStreamSynchronize", stream)
    assert back.raw == data


def test_pageable_host_memory_is_read_at_the_call(out, stream, gate):
    data = ctypes.create_string_buffer(b"\7" * NBYTES, NBYTES)
    gate.block(stream)
    hip.ok("hipMemcpyAsync", out, data, NBYTES, hip.H2D, stream)
    ctypes.memset(data, 9, NBYTES)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, NBYTES) == b"\7" * NBYTES


def test_a_blocking_copy_waits_for_blocking_streams(streams, out, gate):
    blocking = streams(0)
    gate.block(blocking)
    hip.ok("hipMemsetAsync", out, 3, NBYTES, blocking)
    gate.open_gate()
    assert hip.from_device(out, NBYTES) == b"\3" * NBYTES


def test_2d_copies_rows(stream):
    source = np.arange(4 * 32, dtype=np.uint8).reshape(4, 32)
    device, back = hip.malloc(4 * 64), np.zeros((4, 16), np.uint8)
    hip.ok("hipMemset", device, 0, 4 * 64)
    call = "hipMemcpy2DAsync"
    hip.ok(call, device, 64, source.ctypes.data, 32, 16, 4, hip.H2D, stream)
    hip.ok(call, back.ctypes.data, 16, device, 64, 16, 4, hip.D2H, stream)
    hip.ok("hipStreamSynchronize", stream)
    np.testing.assert_array_equal(back, source[:, :16])
    again = np.zeros_like(back)
    hip.ok("hipMemcpy2D", again.ctypes.data, 16, device, 64, 16, 4, hip.D2H)
    np.testing.assert_array_equal(again, back)
    hip.ok("hipFree", device)


@pytest.mark.parametrize(
    "pitch, width, height, expected",
    [(8, 16, 1, PITCH), (64, 0, 4, 0), (64, 16, 0, 0), (64, 16, 5, INVALID), (64, 64, 4, 0)],
)
def test_2d_codes(out, stream, pitch, width, height, expected):
    args = (out, pitch, HOST_IN, 64, width, height, hip.H2D)
    assert hip.code("hipMemcpy2D", *args) == expected
    assert hip.code("hipMemcpy2DAsync", *args, stream) == expected
