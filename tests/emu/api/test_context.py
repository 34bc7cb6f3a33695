"""Contexts, which are the devices by another name (api/context.cpp)."""

from __future__ import annotations

import ctypes
import threading

import pytest
from helpers import hip_ctypes as hip
from helpers.process import run_python

INVALID, INVALID_DEVICE, INVALID_CONTEXT, IN_USE = 1, 101, 201, 216
STALE = 0x7_0000_0000


@pytest.fixture
def context():
    made = hip.out("hipCtxCreate", 0, 0)
    yield made
    hip.code("hipCtxDestroy", made)


def current() -> int:
    return hip.out("hipCtxGetCurrent")


def test_a_device_has_one_context(context):
    assert context
    assert current() == hip.out("hipDevicePrimaryCtxRetain", 0) == hip.out("hipCtxCreate", 0, 0)
    hip.ok("hipDevicePrimaryCtxRelease", 0)
    assert hip.out("hipCtxPopCurrent") == context


def test_what_is_created_or_pushed_is_popped(context):
    hip.ok("hipCtxPushCurrent", context)
    assert hip.out("hipCtxPopCurrent") == context
    hip.ok("hipCtxPopCurrent", None)
    left = ctypes.c_uint64(7)
    assert hip.code("hipCtxPopCurrent", ctypes.byref(left)) == INVALID_CONTEXT
    assert left.value == 0
    assert current() == context, "the device goes on"


def test_destroying_the_top_takes_it_off(context):
    hip.ok("hipCtxDestroy", context)
    assert hip.code("hipCtxPopCurrent", None) == INVALID_CONTEXT
    hip.ok("hipMemset", hip.malloc(64), 0, 64)


def test_setting_replaces_the_top_and_null_only_removes_it(context):
    hip.ok("hipCtxSetCurrent", context)
    hip.ok("hipCtxSetCurrent", None)
    hip.ok("hipCtxSetCurrent", None)
    assert hip.code("hipCtxPopCurrent", None) == INVALID_CONTEXT
    hip.ok("hipCtxSetCurrent", context)
    assert hip.out("hipCtxPopCurrent") == context


def test_each_thread_has_its_own_stack(context):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(hip.code("hipCtxPopCurrent", None)))
    thread.start()
    thread.join()
    assert codes == [INVALID_CONTEXT]
    hip.ok("hipCtxPopCurrent", None)


def test_codes():
    out = ctypes.byref(ctypes.c_uint64())
    assert hip.code("hipCtxCreate", None, 0, 0) == INVALID
    for device in (99, -1):
        assert hip.code("hipCtxCreate", out, 0, device) == INVALID
        assert hip.code("hipDevicePrimaryCtxRetain", out, device) == INVALID_DEVICE
        assert hip.code("hipDevicePrimaryCtxRelease", device) == INVALID_DEVICE
        assert hip.code("hipDevicePrimaryCtxSetFlags", device, 0) == INVALID_DEVICE
    assert hip.code("hipDevicePrimaryCtxRetain", None, 0) == INVALID
    assert hip.code("hipDevicePrimaryCtxSetFlags", 0, 0) == IN_USE
    assert hip.code("hipCtxGetCurrent", None) == INVALID
    assert hip.code("hipCtxGetDevice", None) == INVALID
    assert hip.code("hipCtxGetSharedMemConfig", None) == INVALID
    assert hip.code("hipCtxDestroy", None) == INVALID
    assert hip.code("hipCtxPushCurrent", None) == INVALID_CONTEXT
    for call in ("hipCtxPushCurrent", "hipCtxSetCurrent", "hipCtxDestroy"):
        assert hip.code(call, STALE) == INVALID_CONTEXT
    assert hip.code("hipCtxEnablePeerAccess", STALE, 0) == INVALID_CONTEXT
    hip.ok("hipCtxEnablePeerAccess", current(), 0)
    hip.ok("hipCtxDisablePeerAccess", current())
    assert hip.out("hipCtxGetSharedMemConfig", kind=ctypes.c_int) == 1


def test_contexts_of_two_devices():
    """A set or pushed context changes the device; a created or popped one does not."""
    done = run_python(
        """
        import ctypes
        from helpers import hip_ctypes as hip
        device = lambda: hip.out("hipCtxGetDevice", kind=ctypes.c_int)
        first = hip.out("hipCtxGetCurrent")
        second = hip.out("hipCtxCreate", 0, 1)
        seen = [device()]
        hip.ok("hipCtxSetCurrent", second)
        seen.append(device())
        hip.ok("hipCtxPushCurrent", first)
        seen.append(device())
        assert [hip.out("hipCtxPopCurrent") for _ in range(2)] == [first, second]
        seen.append(device())
        print(first != second, seen)
        """,
        HIPGRAPH_EMU_DEVICES="2",
    )
    assert done.stdout == "True [0, 1, 0, 0]\n", done.stderr
