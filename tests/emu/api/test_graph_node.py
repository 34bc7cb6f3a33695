"""Nodes of every kind, added by hand or recorded, and their parameters."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest
from helpers import hip_ctypes as hip

INVALID, CONFIGURATION, PITCH, BAD_FUNCTION = 1, 9, 12, 98
STALE = 0x7_0000_0000


@pytest.fixture
def graph():
    made = hip.out("hipGraphCreate", 0)
    yield made
    hip.ok("hipGraphDestroy", made)


def ref(value):
    return ctypes.byref(value)


def kernel(function: int, params, **changes) -> hip.KernelNodeParams:
    one = hip.Dim3(1, 1, 1)
    made = hip.KernelNodeParams(
        hip.Dim3(64, 1, 1), None, function, one, ctypes.addressof(params) if params else None, 0
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def add_kernel(graph: int, params: hip.KernelNodeParams, *dependencies: int) -> int:
    args = hip.array(dependencies), len(dependencies), ref(params)
    return hip.out("hipGraphAddKernelNode", graph, *args)


def add_memset(graph: int, dst: int, value: int, **changes) -> int:
    fields = {"dst": dst, "elementSize": 4, "height": 1, "pitch": 0, "value": value, "width": 64}
    params = hip.MemsetParams(**fields | changes)
    return hip.out("hipGraphAddMemsetNode", graph, None, 0, ref(params))


def run(graph: int, stream: int) -> None:
    exec_ = hip.instantiate(graph)
    hip.launch(exec_, stream)
    hip.ok("hipGraphExecDestroy", exec_)


def ints(address: int, count: int = 64) -> list[int]:
    return list(struct.unpack(f"{count}i", hip.from_device(address, 4 * count)))


def test_types(graph, nothing, out):
    child = hip.out("hipGraphCreate", 0)
    host = hip.HostNodeParams(ctypes.cast(hip.HOST_FUNCTION(lambda _: None), ctypes.c_void_p), None)
    made = {
        hip.KERNEL: add_kernel(graph, kernel(nothing, None)),
        hip.MEMSET: add_memset(graph, out, 1),
        hip.MEMCPY: hip.out("hipGraphAddMemcpyNode1D", graph, None, 0, out, out + 8, 8, hip.D2D),
        hip.HOST: hip.out("hipGraphAddHostNode", graph, None, 0, ref(host)),
        hip.EMPTY: hip.out("hipGraphAddEmptyNode", graph, None, 0),
        hip.GRAPH: hip.out("hipGraphAddChildGraphNode", graph, None, 0, child),
    }
    assert {hip.node_type(node): node for node in hip.nodes(graph)} == made
    hip.ok("hipGraphDestroy", child)


def test_a_graph_by_hand_runs_in_the_order_of_its_edges(graph, stream, add, out):
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(5))
    last = add_kernel(graph, kernel(add, params))
    first = add_memset(graph, out, 2)
    hip.ok("hipGraphAddDependencies", graph, hip.array([first]), hip.array([last]), 1)
    for _ in range(3):
        run(graph, stream)
        assert ints(out) == [7] * 64


def test_each_node_has_its_own_arguments(graph, stream, put, out):
    """C017: one kernel, two nodes."""
    for value, place in ((123, out), (321, out + 128)):
        params, _kept = hip.parameters(ctypes.c_uint64(place), ctypes.c_int(value))
        add_kernel(graph, kernel(put, params, blockDim=hip.Dim3(32, 1, 1)))
    run(graph, stream)
    assert ints(out) == [123] * 32 + [321] * 32


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"func": None}, INVALID),
        ({"func": STALE}, BAD_FUNCTION),
        ({"gridDim": hip.Dim3(0, 1, 1)}, CONFIGURATION),
        ({"blockDim": hip.Dim3(2048, 1, 1)}, CONFIGURATION),
        ({"gridDim": hip.Dim3(1 << 27, 1, 1)}, CONFIGURATION),
        ({"sharedMemBytes": 1 << 20}, INVALID),
        ({"kernelParams": None}, INVALID),
    ],
)
def test_kernel_codes(graph, put, out, changes, expected):
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(1))
    bad = kernel(put, params, **changes)
    assert hip.code("hipGraphAddKernelNode", bytes(8), graph, None, 0, ref(bad)) == expected
    assert hip.code("hipGraphAddKernelNode", bytes(8), graph, None, 0, None) == INVALID
    node = add_kernel(graph, kernel(put, params))
    assert hip.code("hipGraphKernelNodeSetParams", node, ref(bad)) == expected
    exec_ = hip.instantiate(graph)
    assert hip.code("hipGraphExecKernelNodeSetParams", exec_, node, ref(bad)) == expected
    hip.ok("hipGraphExecDestroy", exec_)


def test_kernel_parameters_read_back_can_be_used_again(graph, stream, put, out):
    """C014: what GetParams gives belongs to the node; what SetParams takes is copied."""
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(3))
    node = add_kernel(graph, kernel(put, params))
    found = hip.KernelNodeParams()
    hip.ok("hipGraphKernelNodeGetParams", node, ref(found))
    assert (found.func, found.blockDim.x, found.gridDim.x, found.extra) == (put, 64, 1, None)
    pointers = ctypes.cast(found.kernelParams, ctypes.POINTER(ctypes.c_void_p))
    assert ctypes.cast(pointers[0], ctypes.POINTER(ctypes.c_uint64))[0] == out
    assert ctypes.cast(pointers[1], ctypes.POINTER(ctypes.c_int))[0] == 3
    changed, kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(4))
    found.kernelParams = ctypes.addressof(changed)
    hip.ok("hipGraphKernelNodeSetParams", node, ref(found))
    kept[1].value = 99
    run(graph, stream)
    assert ints(out) == [4] * 64


def test_block_arguments_read_back_as_a_block(graph, put, out):
    data = struct.pack("<Qi", out, 8)
    extra, _kept = hip.block_of(data)
    node = add_kernel(graph, kernel(put, None, extra=ctypes.addressof(extra)))
    found = hip.KernelNodeParams()
    hip.ok("hipGraphKernelNodeGetParams", node, ref(found))
    assert found.kernelParams is None
    fields = ctypes.cast(found.extra, ctypes.POINTER(ctypes.c_size_t))
    assert (fields[0], fields[2], fields[4]) == (1, 2, 3)
    size = ctypes.cast(fields[3], ctypes.POINTER(ctypes.c_size_t))[0]
    assert ctypes.string_at(fields[1], size) == data


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({}, 0),
        ({"elementSize": 3}, INVALID),
        ({"elementSize": 8}, INVALID),
        ({"elementSize": 0}, INVALID),
        ({"width": 0}, INVALID),
        ({"height": 0}, INVALID),
        ({"width": 65}, INVALID),
        ({"height": 2, "width": 8, "pitch": 31}, INVALID),
        ({"height": 8, "width": 8, "pitch": 32}, 0),
        ({"height": 9, "width": 8, "pitch": 32}, INVALID),
        ({"dst": None}, INVALID),
        ({"dst": STALE}, INVALID),
        ({"width": 1 << 63}, INVALID),
        ({"height": 1 << 60, "width": 8, "pitch": 32}, INVALID),
    ],
)
def test_memset_codes(graph, out, changes, expected):
    fields = {"dst": out, "elementSize": 4, "height": 1, "pitch": 0, "value": 1, "width": 64}
    params = hip.MemsetParams(**fields | changes)
    handle = ctypes.c_uint64(7)
    args = graph, None, 0, ref(params)
    assert hip.code("hipGraphAddMemsetNode", ref(handle), *args) == expected
    assert (handle.value == 0) == (expected != 0)
    node = add_memset(graph, out, 1)
    assert hip.code("hipGraphMemsetNodeSetParams", node, ref(params)) == expected


@pytest.mark.parametrize("size, value, expected", [(1, 0x1FF, 0xFF), (2, 0x1ABCD, 0xABCD)])
def test_a_fill_value_is_cut_to_its_elements(graph, stream, out, size, value, expected):
    dtype = {1: np.uint8, 2: np.uint16}[size]
    node = add_memset(graph, out, value, elementSize=size, width=256 // size)
    run(graph, stream)
    assert set(np.frombuffer(hip.from_device(out, 256), dtype)) == {expected}
    found = hip.MemsetParams()
    hip.ok("hipGraphMemsetNodeGetParams", node, ref(found))
    assert (found.value, found.elementSize, found.width) == (value, size, 256 // size)


RECORDED = {
    "hipMemsetAsync": ((0x1FF, 16), (1, 1, 16, 0, 0x1FF)),
    "hipMemsetD8Async": ((0x7F, 16), (1, 1, 16, 0, 0x7F)),
    "hipMemsetD16Async": ((0xABCD, 16), (2, 1, 16, 0, 0xABCD)),
    "hipMemsetD32Async": ((-1, 16), (4, 1, 16, 0, 0xFFFFFFFF)),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_a_recorded_fill_stores(stream, out, name):
    (value, count), expected = RECORDED[name]
    hip.begin(stream)
    hip.ok(name, out, value, count, stream)
    hip.ok(name, out, value, 0, stream)  # nothing to fill: no node
    graph = hip.end(stream)
    (node,) = hip.nodes(graph)
    found = hip.MemsetParams()
    hip.ok("hipGraphMemsetNodeGetParams", node, ref(found))
    shape = found.elementSize, found.height, found.width, found.pitch, found.value
    assert (found.dst, shape) == (out, expected)
    hip.ok("hipGraphDestroy", graph)


def test_what_a_recorded_2d_fill_stores(stream, out):
    hip.begin(stream)
    hip.ok("hipMemset2DAsync", out, 32, 7, 8, 3, stream)
    for width, height, pitch in ((0, 3, 32), (8, 0, 32), (33, 2, 32)):
        assert hip.code("hipMemset2DAsync", out, pitch, 7, width, height, stream) == INVALID
    assert hip.status(stream) == hip.ACTIVE
    graph = hip.end(stream)
    (node,) = hip.nodes(graph)
    found = hip.MemsetParams()
    hip.ok("hipGraphMemsetNodeGetParams", node, ref(found))
    assert (found.elementSize, found.pitch, found.width, found.height) == (1, 32, 8, 3)
    run(graph, stream)
    rows = np.zeros((8, 32), np.uint8)
    rows[:3, :8] = 7
    np.testing.assert_array_equal(
        np.frombuffer(hip.from_device(out, 256), np.uint8).reshape(8, 32), rows
    )
    hip.ok("hipGraphDestroy", graph)


HOST = ctypes.create_string_buffer(256)


@pytest.mark.parametrize(
    "to_host, from_host, count, kind, expected",
    [
        (False, False, 64, hip.D2D, 0),
        (False, False, 0, hip.D2D, INVALID),
        (False, False, 257, hip.D2D, INVALID),
        (False, True, 64, hip.H2D, 0),
        (False, True, 64, hip.DEFAULT, 0),
        (False, True, 64, hip.D2D, INVALID),
        (True, False, 64, hip.D2H, 0),
        (True, False, 64, hip.H2H, INVALID),
        (True, True, 64, hip.H2H, 0),
        (True, True, 64, hip.D2D, INVALID),
    ],
)
def test_copy_codes(graph, stream, out, to_host, from_host, count, kind, expected):
    """The same for a node and for a recorded copy, where no bytes are an error."""
    other = hip.malloc(256)
    to, source = HOST if to_host else out, HOST if from_host else other
    args = to, source, count, kind
    assert hip.code("hipGraphAddMemcpyNode1D", bytes(8), graph, None, 0, *args) == expected
    hip.begin(stream)
    assert hip.code("hipMemcpyAsync", *args, stream) == expected
    assert hip.end_code(stream) == 0
    hip.ok("hipFree", other)


def test_a_recorded_copy_reads_back_and_reads_its_source_at_each_launch(stream, out):
    source = ctypes.create_string_buffer(b"\1" * 256, 256)
    hip.begin(stream)
    hip.ok("hipMemcpyAsync", out, source, 256, hip.H2D, stream)
    graph = hip.end(stream)
    (node,) = hip.nodes(graph)
    found = hip.Memcpy3DParms()
    hip.ok("hipGraphMemcpyNodeGetParams", node, ref(found))
    assert (found.dstPtr.ptr, found.srcPtr.ptr) == (out, ctypes.addressof(source))
    assert (list(found.extent), found.kind, found.dstPtr.pitch) == ([256, 1, 1], hip.H2D, 0)
    exec_ = hip.instantiate(graph)
    for value in (1, 2):
        ctypes.memset(source, value, 256)
        hip.launch(exec_, stream)
        assert hip.from_device(out, 256) == bytes([value]) * 256
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", graph)


def box(out: int, other: int, **changes) -> hip.Memcpy3DParms:
    """A 4x2x2 box from rows of 16 bytes in planes of 4 rows."""
    pointer = {"pitch": 16, "xsize": 16, "ysize": 4}
    made = hip.Memcpy3DParms(
        srcPtr=hip.PitchedPtr(other, **pointer),
        dstPtr=hip.PitchedPtr(out, **pointer),
        srcPos=(1, 1, 1),
        dstPos=(0, 0, 0),
        extent=(4, 2, 2),
        kind=hip.D2D,
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def test_a_box_is_copied(graph, stream, out):
    volume = np.arange(256, dtype=np.uint8).reshape(4, 4, 16)
    other = hip.malloc(256)
    hip.to_device(other, volume.tobytes())
    node = hip.out("hipGraphAddMemcpyNode", graph, None, 0, ref(box(out, other)))
    run(graph, stream)
    wanted = np.zeros_like(volume)
    wanted[:2, :2, :4] = volume[1:3, 1:3, 1:5]
    found = np.frombuffer(hip.from_device(out, 256), np.uint8).reshape(4, 4, 16)
    np.testing.assert_array_equal(found, wanted)
    back = hip.Memcpy3DParms()
    hip.ok("hipGraphMemcpyNodeGetParams", node, ref(back))
    assert (list(back.extent), list(back.srcPos), back.srcPtr.pitch) == ([4, 2, 2], [1, 1, 1], 16)
    hip.ok("hipFree", other)


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"extent": (16, 2, 2)}, INVALID),
        ({"extent": (4, 3, 4)}, INVALID),
        ({"extent": (0, 2, 2)}, INVALID),
        ({"extent": (1 << 62, 1, 1)}, INVALID),
        ({"extent": (4, 1 << 62, 16)}, INVALID),
        ({"extent": (4, 2, 1 << 63)}, INVALID),
        ({"kind": 9}, 21),
        ({"srcArray": 64}, 801),
    ],
)
def test_box_codes(graph, out, changes, expected):
    other = hip.malloc(256)
    params = box(out, other, **changes)
    assert hip.code("hipGraphAddMemcpyNode", bytes(8), graph, None, 0, ref(params)) == expected
    params = box(out, other)
    params.srcPtr.pitch = 8
    assert hip.code("hipGraphAddMemcpyNode", bytes(8), graph, None, 0, ref(params)) == PITCH
    assert hip.code("hipGraphAddMemcpyNode", bytes(8), graph, None, 0, None) == INVALID
    hip.ok("hipFree", other)


def test_parameters_of_another_kind_are_refused(graph, nothing, out):
    memset, node = add_memset(graph, out, 1), add_kernel(graph, kernel(nothing, None))
    room = bytes(160)
    assert hip.code("hipGraphKernelNodeGetParams", memset, room) == INVALID
    assert hip.code("hipGraphMemsetNodeGetParams", node, room) == INVALID
    assert hip.code("hipGraphMemcpyNodeGetParams", node, room) == INVALID
    assert hip.code("hipGraphKernelNodeGetParams", node, None) == INVALID
    assert hip.code("hipGraphMemsetNodeSetParams", memset, None) == INVALID


def test_host_codes(graph):
    nobody = hip.HostNodeParams(None, None)
    assert hip.code("hipGraphAddHostNode", bytes(8), graph, None, 0, ref(nobody)) == INVALID
    assert hip.code("hipGraphAddHostNode", bytes(8), graph, None, 0, None) == INVALID


def test_a_child_graph_is_cloned_when_added_and_runs_as_one_node(graph, stream, add, out):
    child = hip.out("hipGraphCreate", 0)
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(5))
    add_kernel(child, kernel(add, params))
    first = add_memset(graph, out, 1)
    args = hip.array([first]), 1, child
    middle = hip.out("hipGraphAddChildGraphNode", graph, *args)
    twice, _twice = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(10))
    add_kernel(graph, kernel(add, twice), middle)
    for node in hip.nodes(child):
        hip.ok("hipGraphDestroyNode", node)
    hip.ok("hipGraphDestroy", child)
    run(graph, stream)
    assert ints(out) == [16] * 64
    assert hip.code("hipGraphAddChildGraphNode", bytes(8), graph, None, 0, None) == INVALID


def test_a_graph_may_be_a_child_of_itself_as_it_was(graph, stream, add, out):
    """A child is a clone, so that nothing nests without end."""
    first = add_memset(graph, out, 1)
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(5))
    add_kernel(graph, kernel(add, params), first)
    both = hip.nodes(graph)
    inner = hip.out("hipGraphAddChildGraphNode", graph, None, 0, graph)
    embedded = ctypes.c_uint64()
    hip.ok("hipGraphChildGraphNodeGetGraph", inner, ctypes.byref(embedded))
    kinds = [hip.node_type(node) for node in hip.nodes(embedded.value)]
    assert kinds == [hip.MEMSET, hip.KERNEL]
    hip.ok("hipGraphAddDependencies", graph, hip.array([both[1]]), hip.array([inner]), 1)
    add_kernel(graph, kernel(add, params), inner)
    run(graph, stream)
    assert ints(out) == [11] * 64


def test_an_empty_child_still_orders(graph, stream, add, out, gate):
    first = add_memset(graph, out, 1)
    child = hip.out("hipGraphCreate", 0)
    middle = hip.out("hipGraphAddChildGraphNode", graph, hip.array([first]), 1, child)
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(5))
    add_kernel(graph, kernel(add, params), middle)
    for _ in range(3):
        run(graph, stream)
        assert ints(out) == [6] * 64
    hip.ok("hipGraphDestroy", child)
