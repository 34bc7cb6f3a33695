"""Access of devices to each other's memory (api/peer.cpp)."""

from __future__ import annotations

import ctypes
import json

from helpers import hip_ctypes as hip
from helpers.process import run_python

INVALID, INVALID_DEVICE = 1, 101


def test_a_device_is_not_its_own_peer():
    answer = ctypes.c_int(7)
    assert hip.code("hipDeviceCanAccessPeer", ctypes.byref(answer), 0, 0) == 0
    assert answer.value == 0
    assert hip.code("hipDeviceCanAccessPeer", None, 0, 0) == INVALID
    assert hip.code("hipDeviceCanAccessPeer", ctypes.byref(answer), 0, 99) == INVALID_DEVICE
    assert hip.code("hipDeviceCanAccessPeer", ctypes.byref(answer), -1, 0) == INVALID_DEVICE
    assert hip.code("hipDeviceEnablePeerAccess", 0, 0) == INVALID_DEVICE
    assert hip.code("hipDeviceEnablePeerAccess", 0, 1) == INVALID
    assert hip.code("hipDeviceDisablePeerAccess", 0) == INVALID_DEVICE
    assert hip.code("hipDeviceEnablePeerAccess", 99, 0) == INVALID_DEVICE


def test_two_devices_are_peers():
    done = run_python(
        """
        import ctypes, json
        from helpers import hip_ctypes as hip
        answer = ctypes.c_int(0)
        hip.ok("hipDeviceCanAccessPeer", ctypes.byref(answer), 0, 1)
        on, off = "hipDeviceEnablePeerAccess", "hipDeviceDisablePeerAccess"
        codes = [hip.code(off, 1), hip.code(on, 1, 0), hip.code(on, 1, 0)]
        hip.ok("hipSetDevice", 1)
        codes += [hip.code(off, 0), hip.code(on, 0, 0)]
        hip.ok("hipSetDevice", 0)
        codes += [hip.code(off, 1), hip.code(off, 1)]
        print(json.dumps([answer.value, codes]))
        """,
        HIPGRAPH_EMU_DEVICES="2",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [1, [705, 0, 704, 705, 0, 0, 705]]
