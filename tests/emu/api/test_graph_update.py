"""hipGraphExecUpdate: every result, and what really changes (runtime/graph_update.cpp)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import Calls, Launch, add, copy, empty, fill, fill_node, ints, ref
from helpers.kernels import compile_hip
from helpers.process import run_python

INVALID, UPDATE_FAILURE = 1, 910
STALE = 0x7_0000_0000
SUCCESS, TOPOLOGY, TYPE, PARAMETERS, NOT_SUPPORTED, FUNCTION = 0, 2, 3, 5, 6, 7
UNTOUCHED = 0x77

SOURCE = """
extern "C" __global__ void mix(int* out, int a, float b, long c, short d) {
  out[__builtin_amdgcn_workitem_id_x()] += a + (int)b + (int)c + d;
}
extern "C" __global__ void twice(int* out, int value) {
  out[__builtin_amdgcn_workitem_id_x()] = 2 * value;
}
"""


@pytest.fixture(scope="module")
def kernels():
    """Give the two kernels of this file."""
    loaded = hip.module(compile_hip(SOURCE))
    return {name: hip.function(loaded, name) for name in ("mix", "twice")}


@pytest.fixture
def graphs():
    """Give a maker of graphs, all destroyed after the test."""
    made = []

    def make() -> int:
        made.append(hip.out("hipGraphCreate", 0))
        return made[-1]

    yield make
    for each in made:
        hip.code("hipGraphDestroy", each)
    hip.last_error()


@pytest.fixture
def other():
    address = hip.malloc(256)
    hip.ok("hipMemsetD32", address, 9, 64)
    yield address
    hip.code("hipFree", address)
    hip.last_error()


def update(exec_: int, graph: int) -> tuple[int, int]:
    """Update; the result and the node at fault (as it was left on success)."""
    node, result = ctypes.c_uint64(UNTOUCHED), ctypes.c_int(-1)
    code = hip.code("hipGraphExecUpdate", exec_, graph, ref(node), ref(result))
    assert code == (0 if result.value == SUCCESS else UPDATE_FAILURE)
    return result.value, node.value


def test_missing_arguments(graph):
    exec_ = hip.instantiate(graph)
    node, result = ctypes.c_uint64(), ctypes.c_int()
    for args in (
        (None, graph, ref(node), ref(result)),
        (STALE, graph, ref(node), ref(result)),
        (exec_, None, ref(node), ref(result)),
        (exec_, STALE, ref(node), ref(result)),
        (exec_, graph, None, ref(result)),
        (exec_, graph, ref(node), None),
    ):
        assert hip.code("hipGraphExecUpdate", *args) == INVALID
    a, b = empty(graph), empty(graph)
    hip.ok("hipGraphAddDependencies", graph, hip.array([a, b]), hip.array([b, a]), 2)
    args = exec_, graph, ref(node), ref(result)
    assert hip.code("hipGraphExecUpdate", *args) == INVALID, "a cycle"
    hip.ok("hipGraphExecDestroy", exec_)


class Mixture:
    """A fill, then kernels of five arguments each, one after another."""

    def __init__(self, graph: int, kernel: int, out: int, seed: int, count: int = 5):
        draw = np.random.default_rng(seed)
        self.start = int(draw.integers(100))
        self.terms = draw.integers(-1000, 1000, (count, 4))
        node = fill_node(graph, out, self.start)
        for a, b, c, d in self.terms.tolist():
            values = (ctypes.c_int(a), ctypes.c_float(b), ctypes.c_long(c), ctypes.c_short(d))
            pointers, self.kept = hip.parameters(ctypes.c_uint64(out), *values)
            launch = Launch(kernel, out, 0, kernelParams=ctypes.addressof(pointers))
            node = launch.node(graph, node)
            for value in self.kept:
                value.value = 0  # the node has its own copy

    def expected(self) -> list[int]:
        return [self.start + int(np.sum(self.terms))] * 64


def test_the_arguments_of_all_nodes_change(graphs, kernels, stream, out, other):
    """C016: by values, back and forth, with the new graph gone before the launch."""
    first = graphs()
    mixture = Mixture(first, kernels["mix"], out, 0)
    exec_ = hip.instantiate(first)
    hip.launch(exec_, stream)
    assert ints(out) == mixture.expected()
    for seed in range(1, 6):
        where = (out, other)[seed % 2]
        new = hip.out("hipGraphCreate", 0)
        mixture = Mixture(new, kernels["mix"], where, seed)
        assert update(exec_, new) == (SUCCESS, UNTOUCHED)
        hip.ok("hipGraphDestroy", new)
        before = ints((out, other)[1 - seed % 2])
        hip.launch(exec_, stream)
        assert ints(where) == mixture.expected()
        assert ints((out, other)[1 - seed % 2]) == before
    hip.ok("hipGraphExecDestroy", exec_)


def every_kind(graph: int, put: int, out: int, other: int, calls: Calls, value: int) -> int:
    """A node of every kind that can be updated, in a row; the event it records."""
    event = hip.event(0)
    child = hip.out("hipGraphCreate", 0)
    fill_node(child, out + 128, value + 1)
    node = Launch(put, out, value).node(graph)
    params = fill(out, value + 2, width=value)
    node = add("hipGraphAddMemsetNode", graph, ref(params), after=(node,))
    node = add("hipGraphAddChildGraphNode", graph, child, after=(node,))
    args = out + 252, other + 4 * value, 4, hip.D2D
    node = add("hipGraphAddMemcpyNode1D", graph, *args, after=(node,))
    box = ref(copy(out + 248, other + 4 * value, hip.D2D, 4))
    node = add("hipGraphAddMemcpyNode", graph, box, after=(node,))
    node = add("hipGraphAddHostNode", graph, ref(calls.params(value)), after=(node,))
    node = add("hipGraphAddEventRecordNode", graph, event, after=(node,))
    add("hipGraphAddEventWaitNode", graph, event, after=(empty(graph, node),))
    hip.ok("hipGraphDestroy", child)
    return event


def small_child_fill(out: int, value: int) -> list[int]:
    """What `every_kind` leaves, its child filling the last half."""
    return [value + 2] * value + [value] * (32 - value) + [value + 1] * 30 + [100 + value] * 2


def test_nodes_of_every_kind_change(graphs, stream, put, other):
    out = hip.malloc(512)
    hip.to_device(other, np.arange(100, 164, dtype=np.int32).tobytes())
    calls, first, second = Calls(), graphs(), graphs()
    events = [every_kind(first, put, out, other, calls, 3)]
    exec_ = hip.instantiate(first)
    events.append(every_kind(second, put, out, other, calls, 8))
    assert update(exec_, second) == (SUCCESS, UNTOUCHED)
    hip.launch(exec_, stream)
    assert ints(out) == small_child_fill(out, 8)
    assert calls.seen == [8]
    elapsed = ctypes.c_float()
    assert hip.code("hipEventElapsedTime", ref(elapsed), events[0], events[0]) == 400
    hip.ok("hipEventElapsedTime", ref(elapsed), events[1], events[1])
    assert update(exec_, first) == (SUCCESS, UNTOUCHED)
    hip.launch(exec_, stream)
    assert ints(out) == small_child_fill(out, 3)
    hip.ok("hipGraphExecDestroy", exec_)
    for event in events:
        hip.ok("hipEventDestroy", event)
    hip.ok("hipFree", out)


def test_another_kernel_is_no_failure(graphs, kernels, stream, put, out):
    first, second = graphs(), graphs()
    Launch(put, out, 4).node(first)
    exec_ = hip.instantiate(first)
    Launch(kernels["twice"], out, 4, blockDim=hip.Dim3(16, 1, 1)).node(second)
    assert update(exec_, second) == (SUCCESS, UNTOUCHED)
    hip.launch(exec_, stream)
    assert ints(out) == [8] * 16 + [0] * 48
    hip.ok("hipGraphExecDestroy", exec_)


def test_topology(graphs, out):
    first, fewer, looser, same = (graphs() for _ in range(4))
    for graph in (first, same):
        fill_node(graph, out, 2, fill_node(graph, out, 1))
    fill_node(fewer, out, 1)
    loose = [fill_node(looser, out, 1), fill_node(looser, out, 2)]
    exec_ = hip.instantiate(first)
    assert update(exec_, fewer) == (TOPOLOGY, 0)
    assert update(exec_, looser) == (TOPOLOGY, loose[1])
    assert update(exec_, same) == (SUCCESS, UNTOUCHED)
    hip.ok("hipGraphExecDestroy", exec_)


def test_type(graphs, out):
    first, second = graphs(), graphs()
    fill_node(first, out, 1, empty(first))
    changed = empty(second, empty(second))
    exec_ = hip.instantiate(first)
    assert update(exec_, second) == (TYPE, changed)
    hip.ok("hipGraphExecDestroy", exec_)


def test_copies_keep_their_kind(graphs, out, other):
    host = ctypes.create_string_buffer(256)
    first, second = graphs(), graphs()
    add("hipGraphAddMemcpyNode1D", first, out, other, 256, hip.D2D)
    node = add("hipGraphAddMemcpyNode1D", second, out, host, 256, hip.H2D)
    exec_ = hip.instantiate(first)
    assert update(exec_, second) == (PARAMETERS, node)
    hip.ok("hipGraphExecDestroy", exec_)


def test_memory_that_is_gone(graphs, out):
    first, second = graphs(), graphs()
    fill_node(first, out, 1)
    gone = hip.malloc(256)
    node = fill_node(second, gone, 1)
    hip.ok("hipFree", gone)
    exec_ = hip.instantiate(first)
    assert update(exec_, second) == (PARAMETERS, node)
    hip.ok("hipGraphExecDestroy", exec_)


def test_a_kernel_that_is_gone(graphs, put, out):
    first, second = graphs(), graphs()
    Launch(put, out, 1).node(first)
    loaded = hip.module(compile_hip(SOURCE))
    node = Launch(hip.function(loaded, "twice"), out, 1).node(second)
    hip.ok("hipModuleUnload", loaded)
    exec_ = hip.instantiate(first)
    assert update(exec_, second) == (FUNCTION, node)
    hip.ok("hipGraphExecDestroy", exec_)


def test_children_must_be_alike(graphs, out):
    first, second, small, large = (graphs() for _ in range(4))
    fill_node(small, out, 1)
    fill_node(large, out, 1, fill_node(large, out, 2))
    add("hipGraphAddChildGraphNode", first, small)
    node = add("hipGraphAddChildGraphNode", second, large)
    exec_ = hip.instantiate(first)
    assert update(exec_, second) == (NOT_SUPPORTED, node)
    hip.ok("hipGraphExecDestroy", exec_)


def test_nodes_before_the_one_that_does_not_fit_are_updated(graphs, stream, out):
    first, second = graphs(), graphs()
    add("hipGraphAddMemsetNode", first, ref(fill(out, 1, width=32)))
    add("hipGraphAddMemsetNode", first, ref(fill(out + 128, 1, width=32)))
    add("hipGraphAddMemsetNode", second, ref(fill(out, 2, width=32)))
    node = empty(second)
    exec_ = hip.instantiate(first)
    assert update(exec_, second) == (TYPE, node)
    hip.ok("hipMemset", out, 0, 256)
    hip.launch(exec_, stream)
    assert ints(out)[:32] == [2] * 32
    assert ints(out)[32:] == [1] * 32
    hip.ok("hipGraphExecDestroy", exec_)


def test_what_is_disabled_stays_disabled(graphs, stream, out):
    first, second = graphs(), graphs()
    node = fill_node(first, out, 1)
    fill_node(second, out, 2)
    exec_ = hip.instantiate(first)
    hip.ok("hipGraphNodeSetEnabled", exec_, node, 0)
    assert update(exec_, second) == (SUCCESS, UNTOUCHED)
    hip.launch(exec_, stream)
    assert ints(out) == [0] * 64
    hip.ok("hipGraphNodeSetEnabled", exec_, node, 1)
    hip.launch(exec_, stream)
    assert ints(out) == [2] * 64
    hip.ok("hipGraphExecDestroy", exec_)


def test_launches_in_flight_are_as_they_were(graphs, stream, gate, put, out, other):
    first, second = graphs(), graphs()
    Launch(put, out, 1).node(first)
    Launch(put, other, 2).node(second)
    exec_ = hip.instantiate(first)
    gate.block(stream)
    hip.ok("hipGraphLaunch", exec_, stream)
    assert update(exec_, second) == (SUCCESS, UNTOUCHED)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert (ints(out), ints(other)) == ([1] * 64, [9] * 64)
    hip.launch(exec_, stream)
    assert (ints(out), ints(other)) == ([1] * 64, [2] * 64)
    hip.ok("hipGraphExecDestroy", exec_)


def test_another_device():
    """Only host and empty nodes go from one device's graph to another's exec."""
    done = run_python(
        """
        import ctypes
        from helpers import hip_ctypes as hip
        from helpers.graph_nodes import Calls, add, empty, fill_node, ref
        calls, execs, graphs, filled = Calls(), [], [], []
        for device in range(2):
            hip.ok("hipSetDevice", device)
            for fills in (False, True):
                graphs.append(hip.out("hipGraphCreate", 0))
                node = add("hipGraphAddHostNode", graphs[-1], ref(calls.params(1)))
                node = empty(graphs[-1], node)
                if fills:
                    filled.append(fill_node(graphs[-1], hip.malloc(256), 1, node))
                execs.append(hip.instantiate(graphs[-1]))
        for exec_, graph in ((execs[0], graphs[2]), (execs[1], graphs[3])):
            node, result = ctypes.c_uint64(), ctypes.c_int(-1)
            code = hip.code("hipGraphExecUpdate", exec_, graph, ref(node), ref(result))
            print(code, result.value, node.value == filled[1])
        """,
        HIPGRAPH_EMU_DEVICES="2",
    )
    assert done.stdout == "0 0 False\n910 7 True\n", done.stderr
