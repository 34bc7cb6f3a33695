"""hipGraphInstantiateWithParams and per-thread launches (api/graph_exec.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import empty, fill_node, ints, ref

INVALID, DESTROYED = 1, 709
STALE = 0x7_0000_0000
UPLOAD, DEVICE_LAUNCH = 2, 4
SUCCESS, ERROR = 0, 1


class InstantiateParams(ctypes.Structure):
    """hipGraphInstantiateParams."""

    _fields_ = [
        ("errNode_out", ctypes.c_void_p),
        ("flags", ctypes.c_ulonglong),
        ("result_out", ctypes.c_int),
        ("uploadStream", ctypes.c_void_p),
    ]


def instantiate(graph: int, flags: int, stream: int = 0) -> tuple[int, int, InstantiateParams]:
    """The error number, the exec, and the parameters as the call left them."""
    params = InstantiateParams(7, flags, 7, stream)
    exec_ = ctypes.c_uint64(7)
    code = hip.code("hipGraphInstantiateWithParams", ref(exec_), graph, ref(params))
    return code, exec_.value, params


@pytest.mark.parametrize("flags", [0, 1, UPLOAD, DEVICE_LAUNCH, 8])
def test_each_flag_is_kept(graph, stream, out, flags):
    fill_node(graph, out, 1)
    code, exec_, params = instantiate(graph, flags, stream)
    assert (code, params.result_out, params.errNode_out) == (0, SUCCESS, None)
    found = ctypes.c_ulonglong(99)
    hip.ok("hipGraphExecGetFlags", exec_, ref(found))
    assert found.value == flags
    hip.launch(exec_, stream)
    assert ints(out) == [1] * 64
    hip.ok("hipGraphExecDestroy", exec_)


@pytest.mark.parametrize("flags", [3, 5, 9, 16, 1 << 40])
def test_no_other_flags(graph, flags):
    code, exec_, params = instantiate(graph, flags)
    assert (code, exec_, params.result_out) == (INVALID, 0, ERROR)


def test_codes(graph, stream):
    room = InstantiateParams()
    call = "hipGraphInstantiateWithParams"
    assert hip.code(call, None, graph, ref(room)) == INVALID
    assert hip.code(call, bytes(8), graph, None) == INVALID
    for wrong in (None, STALE):
        code, exec_, params = instantiate(wrong, 0)
        assert (code, exec_, params.result_out) == (INVALID, 0, ERROR)
    code, exec_, params = instantiate(graph, UPLOAD, STALE)
    assert (code, exec_, params.result_out) == (DESTROYED, 0, ERROR)
    a, b = empty(graph), empty(graph)
    hip.ok("hipGraphAddDependencies", graph, hip.array([a, b]), hip.array([b, a]), 2)
    code, exec_, params = instantiate(graph, 0)
    assert (code, exec_, params.result_out) == (INVALID, 0, ERROR)
    exec_ = hip.code("hipGraphExecGetFlags", None, ref(ctypes.c_ulonglong()))
    assert exec_ == INVALID


@pytest.mark.parametrize("handle", [0, hip.LEGACY, hip.PER_THREAD])
def test_a_per_thread_launch(graph, out, handle):
    fill_node(graph, out, 6)
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphLaunch_spt", exec_, handle)
    hip.ok("hipStreamSynchronize", hip.PER_THREAD)
    assert ints(out) == [6] * 64
    hip.ok("hipGraphExecDestroy", exec_)
    assert hip.code("hipGraphLaunch_spt", exec_, handle) == INVALID
    assert hip.code("hipGraphLaunch_spt", None, handle) == INVALID
