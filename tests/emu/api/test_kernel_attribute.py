"""Attributes of kernel nodes (api/kernel_attribute.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import Launch, fill_node, ref

INVALID, BAD_CONTEXT = 1, 201
STALE = 0x7_0000_0000
WINDOW, COOPERATIVE, CLUSTER, PRIORITY = 1, 2, 4, 8
NORMAL, STREAMING, PERSISTING = 0, 1, 2
GET, SET, COPY = (
    f"hipGraphKernelNode{call}" for call in ("GetAttribute", "SetAttribute", "CopyAttributes")
)


class Window(ctypes.Structure):
    """hipAccessPolicyWindow."""

    _fields_ = [
        ("base_ptr", ctypes.c_void_p),
        ("hitProp", ctypes.c_int),
        ("hitRatio", ctypes.c_float),
        ("missProp", ctypes.c_int),
        ("num_bytes", ctypes.c_size_t),
    ]


class Value(ctypes.Union):
    """hipLaunchAttributeValue."""

    _fields_ = [("pad", ctypes.c_ubyte * 64), ("window", Window), ("number", ctypes.c_int)]


@pytest.fixture
def node(graph, put, out):
    return Launch(put, out, 1).node(graph)


def read(node: int, attribute: int) -> Value:
    found = Value()
    found.pad[:] = [0xFF] * 64
    hip.ok(GET, node, attribute, ref(found))
    return found


def set_code(node: int, attribute: int, value: Value) -> int:
    return hip.code(SET, node, attribute, ref(value))


def test_what_is_set_is_read(node):
    for attribute in (WINDOW, COOPERATIVE, CLUSTER, PRIORITY):
        assert bytes(read(node, attribute).window) == bytes(32), "nothing is set"
    assert set_code(node, COOPERATIVE, Value(number=1)) == 0
    assert read(node, COOPERATIVE).number == 1
    assert hip.code(GET, node, WINDOW, bytes(64)) == INVALID, "another one is set"
    window = Window(0x1000, STREAMING, 0.6, NORMAL, 0)
    assert set_code(node, WINDOW, Value(window=window)) == 0
    assert bytes(read(node, WINDOW).window) == bytes(window)
    assert hip.code(GET, node, COOPERATIVE, bytes(64)) == INVALID


def test_a_value_has_no_more_bytes_than_its_largest_member(node):
    """Programs from before HIP 7 have 32 bytes there."""
    assert bytes(read(node, WINDOW))[32:] == b"\xff" * 32
    assert set_code(node, COOPERATIVE, Value(number=1)) == 0
    assert bytes(read(node, COOPERATIVE))[32:] == b"\xff" * 32


@pytest.mark.parametrize(
    "window",
    [
        Window(0, NORMAL, 1.1, NORMAL, 0),
        Window(0, NORMAL, -0.1, NORMAL, 0),
        Window(0, NORMAL, 0.5, PERSISTING, 0),
        Window(0, NORMAL, 0.0, NORMAL, 8),
        Window(0, NORMAL, 0.5, NORMAL, 1),
    ],
)
def test_windows_that_no_target_has(node, window):
    assert set_code(node, WINDOW, Value(window=window)) == INVALID


@pytest.mark.parametrize("priority", [-1, 0, 1])
def test_no_priority_is_accepted(node, priority):
    assert set_code(node, PRIORITY, Value(number=priority)) == INVALID


def test_codes(graph, node, out):
    value = Value(number=1)
    for attribute in (0, 3, 5, 9, 99):
        assert set_code(node, attribute, value) == INVALID
        assert hip.code(GET, node, attribute, ref(value)) == INVALID
    assert hip.code(SET, node, COOPERATIVE, None) == INVALID
    assert hip.code(GET, node, COOPERATIVE, None) == INVALID
    for wrong in (None, STALE, fill_node(graph, out, 1)):
        assert set_code(wrong, COOPERATIVE, value) == INVALID
        assert hip.code(GET, wrong, COOPERATIVE, ref(value)) == INVALID
        assert hip.code(COPY, wrong, node) == INVALID
        assert hip.code(COPY, node, wrong) == INVALID


def test_copies(graph, node, put, out):
    other, third = (Launch(put, out, 2).node(graph) for _ in range(2))
    hip.ok(COPY, node, other)  # nothing to copy
    assert set_code(node, COOPERATIVE, Value(number=1)) == 0
    hip.ok(COPY, node, other)
    assert read(other, COOPERATIVE).number == 1
    assert set_code(node, COOPERATIVE, Value(number=0)) == 0
    hip.ok(COPY, node, other)
    assert read(other, COOPERATIVE).number == 0
    assert set_code(third, WINDOW, Value()) == 0
    assert hip.code(COPY, node, third) == BAD_CONTEXT
    hip.ok("hipGraphDestroyNode", third)
    plain = Launch(put, out, 3).node(graph)
    assert hip.code(COPY, plain, node) == BAD_CONTEXT, "a set one is not unset"


def test_an_attribute_outlives_new_parameters(graph, node, put, out):
    assert set_code(node, COOPERATIVE, Value(number=1)) == 0
    changed = Launch(put, out, 9)
    hip.ok("hipGraphKernelNodeSetParams", node, ref(changed.params))
    assert read(node, COOPERATIVE).number == 1
    clone = hip.out("hipGraphClone", graph)
    (twin,) = hip.nodes(clone)
    assert read(twin, COOPERATIVE).number == 1
    hip.ok("hipGraphDestroy", clone)
