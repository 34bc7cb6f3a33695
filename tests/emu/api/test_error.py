"""Names of errors and the thread's last error (hip_abi/error_table.h, api/error.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip

INVALID_VALUE, NOT_READY, NO_DEVICE = 1, 600, 101


def test_every_name_is_hip_pythons():
    binding = pytest.importorskip("hip").hip
    for error in binding.hipError_t:
        if error.name == "hipErrorTbd":  # the first number that a release has no name for
            continue
        assert hip.library().hipGetErrorName(error.value).decode() == error.name


def test_an_unknown_code_has_the_name_of_the_unknown_error():
    assert hip.library().hipGetErrorName(4242) == b"hipErrorUnknown"
    assert hip.library().hipGetErrorString(4242) == b"unknown error"
    text = ctypes.c_char_p(b"left")
    assert hip.code("hipDrvGetErrorName", 4242, ctypes.byref(text)) == INVALID_VALUE
    assert text.value is None


def test_a_sentence():
    assert hip.library().hipGetErrorString(906).startswith(b"operation would make the legacy")
    text = ctypes.c_char_p()
    hip.ok("hipDrvGetErrorString", 2, ctypes.byref(text))
    assert text.value == b"out of memory"


def test_a_failure_stays_until_taken_and_a_success_leaves_it():
    hip.last_error()
    assert hip.code("hipGetDevice", None) == INVALID_VALUE
    hip.out("hipGetDevice", kind=ctypes.c_int)
    assert hip.code("hipPeekAtLastError") == INVALID_VALUE
    assert hip.last_error() == INVALID_VALUE
    assert hip.last_error() == 0


def test_the_latest_failure_wins():
    assert hip.code("hipGetDevice", None) == INVALID_VALUE
    assert hip.code("hipSetDevice", 99) == NO_DEVICE
    assert hip.last_error() == NO_DEVICE


def test_not_ready_is_no_error(stream, gate):
    hip.last_error()
    gate.block(stream)
    assert hip.code("hipStreamQuery", stream) == NOT_READY
    assert hip.last_error() == 0
    assert hip.code("hipExtGetLastError") == NOT_READY


def test_the_last_error_is_the_threads_own():
    assert hip.code("hipGetDevice", None) == INVALID_VALUE
    assert hip.in_thread(hip.last_error) == 0
    assert hip.last_error() == INVALID_VALUE


def test_naming_an_error_changes_nothing():
    assert hip.code("hipGetDevice", None) == INVALID_VALUE
    hip.library().hipGetErrorName(1)
    hip.library().hipGetErrorString(1)
    assert hip.last_error() == INVALID_VALUE
