"""Copies by host symbol: illegal under capture, and no symbol is known (api/symbol.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip

INVALID, SYMBOL, DIRECTION, INVALIDATED, IMPLICIT = 1, 13, 21, 901, 906
ROOM = ctypes.create_string_buffer(8)
TO, FROM = "hipMemcpyToSymbol", "hipMemcpyFromSymbol"


def arguments(call: str, host, kind: int):
    return (ROOM, host, 4, 0, kind) if call == TO else (host, ROOM, 4, 0, kind)


CASES = [
    (TO, ROOM, hip.H2D, SYMBOL),
    (TO, ROOM, hip.D2D, SYMBOL),
    (TO, ROOM, 1024, SYMBOL),
    (TO, ROOM, hip.D2H, DIRECTION),
    (TO, ROOM, hip.H2H, DIRECTION),
    (TO, None, hip.H2D, INVALID),
    (FROM, ROOM, hip.D2H, SYMBOL),
    (FROM, ROOM, hip.D2D, SYMBOL),
    (FROM, ROOM, 1024, SYMBOL),
    (FROM, ROOM, hip.H2D, DIRECTION),
    (FROM, None, hip.D2H, INVALID),
    (TO, None, 9, DIRECTION),
]


@pytest.mark.parametrize("call, host, kind, expected", CASES)
def test_codes(stream, call, host, kind, expected):
    args = arguments(call, host, kind)
    assert hip.code(call, *args) == expected
    assert hip.code(f"{call}Async", *args, stream) == expected


@pytest.mark.parametrize("mode", [hip.GLOBAL, hip.THREAD_LOCAL, hip.RELAXED])
@pytest.mark.parametrize("call", [TO, FROM])
def test_a_blocking_symbol_copy_loses_every_capture(stream, call, mode):
    """C001: checked before direction and symbol."""
    hip.begin(stream, mode)
    assert hip.code(call, *arguments(call, None, 9)) == IMPLICIT
    assert hip.status(stream) == hip.INVALIDATED
    assert hip.end_code(stream) == INVALIDATED


@pytest.mark.parametrize("call, host, kind, expected", CASES)
def test_an_argument_error_leaves_the_capture_active(stream, call, host, kind, expected):
    hip.begin(stream)
    assert hip.code(f"{call}Async", *arguments(call, host, kind), stream) == expected
    assert hip.status(stream) == hip.ACTIVE
    assert hip.end_code(stream) == 0


def test_looking_up_a_symbol():
    address = ctypes.c_uint64(7)
    assert hip.code("hipGetSymbolAddress", ctypes.byref(address), ROOM) == SYMBOL
    assert address.value == 0
    assert hip.code("hipGetSymbolAddress", None, ROOM) == INVALID
    assert hip.code("hipGetSymbolSize", ctypes.byref(address), ROOM) == SYMBOL
