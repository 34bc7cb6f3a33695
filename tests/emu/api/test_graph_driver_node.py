"""Nodes that the driver's calls describe (api/graph_driver_node.cpp, runtime/driver_copy.cpp)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import add, empty, fill, ints, ref, run

INVALID, NOT_SUPPORTED = 1, 801
STALE = 0x7_0000_0000
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 10, 11
ADD, GET, SET = (
    f"hipDrvGraph{call}" for call in ("AddMemcpyNode", "MemcpyNodeGetParams", "MemcpyNodeSetParams")
)
EXEC_SET = "hipDrvGraphExecMemcpyNodeSetParams"

SIDE = (
    ("XInBytes", ctypes.c_size_t),
    ("Y", ctypes.c_size_t),
    ("Z", ctypes.c_size_t),
    ("LOD", ctypes.c_size_t),
    ("MemoryType", ctypes.c_int),
    ("Host", ctypes.c_void_p),
    ("Device", ctypes.c_void_p),
    ("Array", ctypes.c_void_p),
    ("Pitch", ctypes.c_size_t),
    ("Height", ctypes.c_size_t),
)


class Copy(ctypes.Structure):
    """HIP_MEMCPY3D."""

    _fields_ = [
        *((f"src{name}", kind) for name, kind in SIDE),
        *((f"dst{name}", kind) for name, kind in SIDE),
        ("WidthInBytes", ctypes.c_size_t),
        ("Height", ctypes.c_size_t),
        ("Depth", ctypes.c_size_t),
    ]


VOLUME = np.arange(256, dtype=np.uint8).reshape(4, 4, 16)


@pytest.fixture
def other():
    """Give 256 bytes of device memory that count up."""
    address = hip.malloc(256)
    hip.to_device(address, VOLUME.tobytes())
    yield address
    hip.ok("hipFree", address)


def box(out: int, other: int, **changes) -> Copy:
    """A 4x2x2 box from rows of 16 bytes in planes of 4 rows."""
    fields = {
        "srcXInBytes": 1,
        "srcY": 1,
        "srcZ": 1,
        "srcMemoryType": DEVICE,
        "srcDevice": other,
        "srcPitch": 16,
        "srcHeight": 4,
        "dstMemoryType": DEVICE,
        "dstDevice": out,
        "dstPitch": 16,
        "dstHeight": 4,
        "WidthInBytes": 4,
        "Height": 2,
        "Depth": 2,
    }
    return Copy(**fields | changes)


def volume_of(out: int) -> np.ndarray:
    return np.frombuffer(hip.from_device(out, 256), np.uint8).reshape(4, 4, 16)


def wanted(width: int) -> np.ndarray:
    made = np.zeros_like(VOLUME)
    made[:2, :2, :width] = VOLUME[1:3, 1:3, 1 : 1 + width]
    return made


@pytest.mark.parametrize("kind", [DEVICE, UNIFIED])
def test_a_box_is_copied(graph, stream, out, other, kind):
    described = box(out, other, srcMemoryType=kind, dstMemoryType=kind)
    node = add(ADD, graph, ref(described), None)
    assert hip.node_type(node) == hip.MEMCPY
    found = Copy()
    hip.ok(GET, node, ref(found))
    assert bytes(found) == bytes(described)
    exec_ = hip.instantiate(graph)
    run(graph, stream)
    np.testing.assert_array_equal(volume_of(out), wanted(4))
    wider = box(out, other, WidthInBytes=6, srcMemoryType=kind, dstMemoryType=kind)
    hip.ok(EXEC_SET, exec_, node, ref(wider), None)
    hip.launch(exec_, stream)
    np.testing.assert_array_equal(volume_of(out), wanted(6))
    hip.ok("hipMemset", out, 0, 256)
    hip.ok(SET, node, ref(box(out, other, WidthInBytes=2)))
    run(graph, stream)
    np.testing.assert_array_equal(volume_of(out), wanted(2))
    hip.ok("hipGraphExecDestroy", exec_)


def test_host_memory_at_either_end(graph, stream, out):
    source = ctypes.create_string_buffer(b"\5" * 64, 64)
    target = ctypes.create_string_buffer(64)
    rows = {"WidthInBytes": 16, "Height": 4, "Depth": 1}
    there = Copy(
        srcMemoryType=HOST,
        srcHost=ctypes.addressof(source),
        dstMemoryType=DEVICE,
        dstDevice=out,
        dstPitch=32,
        **rows,
    )
    back = Copy(
        srcMemoryType=DEVICE,
        srcDevice=out,
        srcPitch=32,
        dstMemoryType=HOST,
        dstHost=ctypes.addressof(target),
        **rows,
    )
    first = add(ADD, graph, ref(there), None)
    add(ADD, graph, ref(back), None, after=(first,))
    run(graph, stream)
    assert target.raw == source.raw
    assert hip.from_device(out, 64) == (b"\5" * 16 + bytes(16)) * 2
    found = Copy()
    hip.ok(GET, first, ref(found))
    ends = found.srcMemoryType, found.srcHost, found.dstMemoryType, found.dstDevice
    assert ends == (HOST, ctypes.addressof(source), DEVICE, out)
    assert (found.srcPitch, found.srcHeight) == (16, 4), "what 0 stood for"


def test_codes(graph, out, other):
    node = add(ADD, graph, ref(box(out, other)), None)
    exec_ = hip.instantiate(graph)
    for changes, expected in (
        ({"srcMemoryType": ARRAY}, NOT_SUPPORTED),
        ({"dstMemoryType": ARRAY}, NOT_SUPPORTED),
        ({"srcMemoryType": 0}, INVALID),
        ({"dstMemoryType": 77}, INVALID),
        ({"srcDevice": None}, INVALID),
        ({"WidthInBytes": 16}, INVALID),
        ({"Height": 0}, INVALID),
    ):
        params = ref(box(out, other, **changes))
        assert hip.code(ADD, bytes(8), graph, None, 0, params, None) == expected
        assert hip.code(SET, node, params) == expected
        assert hip.code(EXEC_SET, exec_, node, params, None) == expected
    params = ref(box(out, other))
    for wrong in (None, STALE, empty(graph)):
        assert hip.code(GET, wrong, ref(Copy())) == INVALID
        assert hip.code(SET, wrong, params) == INVALID
        assert hip.code(EXEC_SET, exec_, wrong, params, None) == INVALID
    assert hip.code(ADD, bytes(8), graph, None, 0, None, None) == INVALID
    assert hip.code(GET, node, None) == INVALID
    assert hip.code(SET, node, None) == INVALID
    assert hip.code(EXEC_SET, exec_, node, None, None) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)


def test_a_fill(graph, stream, out):
    node = add("hipDrvGraphAddMemsetNode", graph, ref(fill(out, 3)), None)
    assert hip.node_type(node) == hip.MEMSET
    exec_ = hip.instantiate(graph)
    run(graph, stream)
    assert ints(out) == [3] * 64
    call = "hipDrvGraphExecMemsetNodeSetParams"
    hip.ok(call, exec_, node, ref(fill(out, 4, width=8)), None)
    hip.launch(exec_, stream)
    assert ints(out) == [4] * 8 + [3] * 56
    for wrong in (fill(out, 1, width=0), fill(0, 1), fill(out, 1, elementSize=3)):
        assert hip.code(call, exec_, node, ref(wrong), None) == INVALID
        args = bytes(8), graph, None, 0, ref(wrong), None
        assert hip.code("hipDrvGraphAddMemsetNode", *args) == INVALID
    assert hip.code(call, exec_, node, None, None) == INVALID
    assert hip.code(call, exec_, STALE, ref(fill(out, 1)), None) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)
