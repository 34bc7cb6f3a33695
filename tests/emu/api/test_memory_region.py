"""Copies of rows and boxes of linear memory, and copies between peers (api/memory_region.cpp)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers import hip_ctypes as hip

INVALID, PITCH, DIRECTION, INVALID_DEVICE, NOT_SUPPORTED = 1, 12, 21, 101, 801
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 10, 11
SHAPE = (3, 5, 16)  # depth, height, pitch of the device's box


class Side(ctypes.Structure):
    """One side of hip_Memcpy2D."""

    _fields_ = [
        ("x", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_void_p),
        ("array", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
    ]


class Memcpy2D(ctypes.Structure):
    """hip_Memcpy2D."""

    _fields_ = [
        ("src", Side),
        ("dst", Side),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


class BoxSide(ctypes.Structure):
    """One side of HIP_MEMCPY3D."""

    _fields_ = [
        ("x", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("z", ctypes.c_size_t),
        ("level", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_void_p),
        ("array", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("rows", ctypes.c_size_t),
    ]


class Memcpy3D(ctypes.Structure):
    """HIP_MEMCPY3D."""

    _fields_ = [
        ("src", BoxSide),
        ("dst", BoxSide),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    ]


class PeerCopy(ctypes.Structure):
    """hipMemcpy3DPeerParms."""

    _fields_ = [
        ("srcArray", ctypes.c_void_p),
        ("srcPos", ctypes.c_size_t * 3),
        ("srcPtr", hip.PitchedPtr),
        ("srcDevice", ctypes.c_int),
        ("dstArray", ctypes.c_void_p),
        ("dstPos", ctypes.c_size_t * 3),
        ("dstPtr", hip.PitchedPtr),
        ("dstDevice", ctypes.c_int),
        ("extent", ctypes.c_size_t * 3),
    ]


@pytest.fixture
def box():
    """Give a box of device memory that holds its own offsets."""
    address = hip.malloc(int(np.prod(SHAPE)))
    hip.to_device(address, values().tobytes())
    yield address
    hip.ok("hipFree", address)


def values() -> np.ndarray:
    return np.arange(np.prod(SHAPE), dtype=np.uint8).reshape(SHAPE)


def box_copy(box: int, host: np.ndarray, **changes) -> hip.Memcpy3DParms:
    """The inner part [1:, 2:, 4:12] of the box, to the host."""
    parms = hip.Memcpy3DParms(kind=hip.D2H)
    parms.srcPtr = hip.PitchedPtr(box, SHAPE[2], SHAPE[2], SHAPE[1])
    parms.srcPos[:] = (4, 2, 1)
    parms.dstPtr = hip.PitchedPtr(host.ctypes.data, 8, 8, 3)
    parms.extent[:] = (8, 3, 2)
    for name, value in changes.items():
        getattr(parms, name)[:] = value
    return parms


@pytest.mark.parametrize("form", ["blocking", "async", "captured"])
def test_a_box_arrives(stream, box, form):
    host = np.zeros((2, 3, 8), np.uint8)
    parms = box_copy(box, host)
    if form == "blocking":
        hip.ok("hipMemcpy3D", ctypes.byref(parms))
    elif form == "async":
        hip.ok("hipMemcpy3DAsync", ctypes.byref(parms), stream)
        hip.ok("hipStreamSynchronize", stream)
    else:
        hip.begin(stream)
        hip.ok("hipMemcpy3DAsync", ctypes.byref(parms), stream)
        graph = hip.end(stream)
        assert [hip.node_type(node) for node in hip.nodes(graph)] == [hip.MEMCPY]
        exec_ = hip.instantiate(graph)
        hip.launch(exec_, stream)
        hip.ok("hipGraphExecDestroy", exec_)
        hip.ok("hipGraphDestroy", graph)
    np.testing.assert_array_equal(host, values()[1:, 2:, 4:12])


CODES = [
    ({}, 0),
    ({"extent": (0, 3, 2)}, 0),
    ({"extent": (8, 3, 3)}, INVALID),
    ({"srcPos": (9, 2, 1)}, INVALID),
    ({"srcPos": (4, 3, 1)}, INVALID),
    ({"extent": (17, 3, 2)}, INVALID),
]


@pytest.mark.parametrize("changes, expected", CODES)
def test_codes_of_box_copies(stream, box, changes, expected):
    host = np.zeros((4, 4, 32), np.uint8)
    parms = box_copy(box, host, **changes)
    assert hip.code("hipMemcpy3D", ctypes.byref(parms)) == expected
    assert hip.code("hipMemcpy3DAsync", ctypes.byref(parms), stream) == expected
    hip.ok("hipStreamSynchronize", stream)
    hip.begin(stream)
    assert hip.code("hipMemcpy3DAsync", ctypes.byref(parms), stream) == expected
    assert hip.status(stream) == hip.ACTIVE
    graph = hip.end(stream)
    assert len(hip.nodes(graph)) == (not changes)
    hip.ok("hipGraphDestroy", graph)


def test_other_codes_of_box_copies(box):
    host = np.zeros((4, 4, 32), np.uint8)
    assert hip.code("hipMemcpy3D", None) == INVALID
    assert hip.code("hipMemcpy3DAsync", None, None) == INVALID
    parms = box_copy(box, host)
    parms.kind = 9
    assert hip.code("hipMemcpy3D", ctypes.byref(parms)) == DIRECTION
    parms = box_copy(box, host)
    parms.kind = hip.H2D
    assert hip.code("hipMemcpy3D", ctypes.byref(parms)) == INVALID
    parms = box_copy(box, host)
    parms.srcPtr.pitch = 8
    assert hip.code("hipMemcpy3D", ctypes.byref(parms)) == PITCH
    parms = box_copy(box, host)
    parms.srcArray = 64
    assert hip.code("hipMemcpy3D", ctypes.byref(parms)) == NOT_SUPPORTED


def rows_copy(box: int, host: np.ndarray, source: int = DEVICE) -> Memcpy2D:
    """Rows 1 and 2, bytes 4 to 12."""
    copy = Memcpy2D(width=8, height=2)
    copy.src = Side(x=4, y=1, type=source, device=box, pitch=SHAPE[2])
    copy.dst = Side(type=HOST, host=host.ctypes.data)
    return copy


@pytest.mark.parametrize("call", ["hipMemcpyParam2D", "hipDrvMemcpy2DUnaligned"])
@pytest.mark.parametrize("source", [DEVICE, UNIFIED])
def test_driver_rows_arrive(box, call, source):
    host = np.zeros((2, 8), np.uint8)
    hip.ok(call, ctypes.byref(rows_copy(box, host, source)))
    np.testing.assert_array_equal(host, values()[0, 1:3, 4:12])


def test_driver_rows_in_stream_order(stream, box):
    host = np.zeros((2, 8), np.uint8)
    hip.ok("hipMemcpyParam2DAsync", ctypes.byref(rows_copy(box, host)), stream)
    hip.ok("hipStreamSynchronize", stream)
    np.testing.assert_array_equal(host, values()[0, 1:3, 4:12])


@pytest.mark.parametrize("call", ["hipDrvMemcpy3D", "hipDrvMemcpy3DAsync"])
def test_driver_boxes_arrive(box, stream, call):
    host = np.zeros((2, 3, 8), np.uint8)
    copy = Memcpy3D(width=8, height=3, depth=2)
    copy.src = BoxSide(x=4, y=2, z=1, type=DEVICE, device=box, pitch=SHAPE[2], rows=SHAPE[1])
    copy.dst = BoxSide(type=HOST, host=host.ctypes.data)
    hip.ok(call, ctypes.byref(copy), *([stream] if call.endswith("Async") else []))
    hip.ok("hipStreamSynchronize", stream)
    np.testing.assert_array_equal(host, values()[1:, 2:, 4:12])


@pytest.mark.parametrize(
    "side, field, value, expected",
    [
        ("src", "type", ARRAY, NOT_SUPPORTED),
        ("src", "type", 0, INVALID),
        ("src", "pitch", 7, PITCH),
        ("src", "pitch", 9, INVALID),
        ("src", "device", 0, INVALID),
        ("dst", "host", 0, INVALID),
    ],
)
def test_codes_of_driver_rows(box, stream, side, field, value, expected):
    copy = rows_copy(box, np.zeros((2, 8), np.uint8))
    setattr(getattr(copy, side), field, value)
    assert hip.code("hipMemcpyParam2D", ctypes.byref(copy)) == expected
    assert hip.code("hipMemcpyParam2DAsync", ctypes.byref(copy), stream) == expected


def test_driver_rows_of_nothing(box, stream):
    copy = rows_copy(box, np.zeros((2, 8), np.uint8))
    copy.height, copy.src.pitch = 0, 7
    assert hip.code("hipMemcpyParam2D", ctypes.byref(copy)) == 0
    assert hip.code("hipMemcpyParam2DAsync", ctypes.byref(copy), stream) == 0
    assert hip.code("hipMemcpyParam2D", None) == INVALID
    assert hip.code("hipMemcpyParam2DAsync", None, stream) == INVALID


def test_copies_between_peers(out, stream):
    other = hip.malloc(256)
    hip.ok("hipMemset", other, 7, 256)
    hip.ok("hipMemcpyPeer", out, 0, other, 0, 128)
    hip.ok("hipMemcpyPeerAsync", out + 128, 0, other, 0, 64, stream)
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, 256) == b"\7" * 192 + bytes(64)
    for call, extra in (("hipMemcpyPeer", ()), ("hipMemcpyPeerAsync", (stream,))):
        assert hip.code(call, out, 0, other, 99, 4, *extra) == INVALID_DEVICE
        assert hip.code(call, out, -1, other, 0, 4, *extra) == INVALID_DEVICE
        assert hip.code(call, out, 0, None, 0, 4, *extra) == INVALID
        assert hip.code(call, out, 0, other, 0, 0, *extra) == 0
    hip.ok("hipFree", other)


def test_boxes_between_peers(box, stream):
    to = hip.malloc(8 * 3 * 2)
    copy = PeerCopy()
    copy.srcPtr, copy.dstPtr = (
        hip.PitchedPtr(box, SHAPE[2], SHAPE[2], SHAPE[1]),
        hip.PitchedPtr(to, 8, 8, 3),
    )
    copy.srcPos[:], copy.extent[:] = (4, 2, 1), (8, 3, 2)
    for call, extra in (("hipMemcpy3DPeer", ()), ("hipMemcpy3DPeerAsync", (stream,))):
        hip.ok("hipMemset", to, 0, 48)
        hip.ok(call, ctypes.byref(copy), *extra)
        hip.ok("hipStreamSynchronize", stream)
        found = np.frombuffer(hip.from_device(to, 48), np.uint8).reshape(2, 3, 8)
        np.testing.assert_array_equal(found, values()[1:, 2:, 4:12])
        copy.dstDevice = 9
        assert hip.code(call, ctypes.byref(copy), *extra) == INVALID_DEVICE
        copy.dstDevice = 0
    hip.ok("hipFree", to)


def test_a_peer_copy_runs_at_once_on_a_capturing_stream(out, stream):
    other = hip.malloc(256)
    hip.ok("hipMemset", other, 9, 256)
    hip.ok("hipDeviceSynchronize")
    hip.begin(stream)
    hip.ok("hipMemcpyPeerAsync", out, 0, other, 0, 256, stream)
    graph = hip.end(stream)
    assert hip.nodes(graph) == []
    hip.ok("hipStreamSynchronize", stream)
    assert hip.from_device(out, 256) == b"\x09" * 256
    hip.ok("hipGraphDestroy", graph)
    hip.ok("hipFree", other)


def test_a_copy_that_waits_for_its_stream(out, stream, gate):
    gate.block(stream)
    data = ctypes.create_string_buffer(b"\5" * 64, 64)
    gate.open_gate()
    hip.ok("hipMemcpyWithStream", out, data, 64, hip.H2D, stream)
    assert hip.code("hipStreamQuery", stream) == 0
    assert hip.from_device(out, 64) == b"\5" * 64
    assert hip.code("hipMemcpyWithStream", out, data, 64, 9, stream) == DIRECTION
    assert hip.code("hipMemcpyWithStream", out, None, 64, hip.H2D, stream) == INVALID
