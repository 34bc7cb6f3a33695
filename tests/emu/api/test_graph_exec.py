"""Instantiate, launch, edit and destroy (api/graph_exec.cpp, api/graph_params.cpp)."""

from __future__ import annotations

import ctypes
import struct
import textwrap
import time

import pytest
from helpers import hip_ctypes as hip
from helpers.kernels import compile_hip
from helpers.process import run_python

INVALID, BAD_FUNCTION, NOT_READY, DESTROYED = 1, 98, 600, 709
STALE = 0x7_0000_0000


def ref(value):
    return ctypes.byref(value)


def ints(address: int, count: int = 64) -> list[int]:
    return list(struct.unpack(f"{count}i", hip.from_device(address, 4 * count)))


@pytest.fixture
def graph():
    made = hip.out("hipGraphCreate", 0)
    yield made
    hip.code("hipGraphDestroy", made)


@pytest.fixture
def execs():
    """Give a maker of execs, destroyed after the test."""
    made = []

    def make(graph: int) -> int:
        made.append(hip.instantiate(graph))
        return made[-1]

    yield make
    for exec_ in made:
        hip.code("hipGraphExecDestroy", exec_)
    hip.last_error()


def kernel(function: int, *values) -> tuple[hip.KernelNodeParams, object]:
    params, kept = hip.parameters(*values)
    one, block = hip.Dim3(1, 1, 1), hip.Dim3(64, 1, 1)
    made = hip.KernelNodeParams(block, None, function, one, ctypes.addressof(params), 0)
    return made, (params, kept)


def put_node(graph: int, put: int, out: int, value: int) -> int:
    params, _kept = kernel(put, ctypes.c_uint64(out), ctypes.c_int(value))
    return hip.out("hipGraphAddKernelNode", graph, None, 0, ref(params))


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipGraphInstantiate", (None, STALE, None, None, 0), INVALID),
        ("hipGraphInstantiate", (bytes(8), STALE, None, None, 0), INVALID),
        ("hipGraphInstantiateWithFlags", (bytes(8), None, 0), INVALID),
        ("hipGraphLaunch", (None, None), INVALID),
        ("hipGraphUpload", (None, None), INVALID),
        ("hipGraphUpload", (STALE, None), INVALID),
        ("hipGraphExecDestroy", (None,), INVALID),
        ("hipGraphExecDestroy", (STALE,), INVALID),
        ("hipGraphExecGetFlags", (STALE, bytes(8)), INVALID),
    ],
)
def test_codes(call, args, expected):
    assert hip.code(call, *args) == expected


@pytest.mark.parametrize(
    "flags, expected", [(0, 0), (1, 0), (8, 0), (2, INVALID), (4, INVALID), (9, INVALID), (16, 1)]
)
def test_instantiate_flags(graph, flags, expected):
    exec_ = ctypes.c_uint64(7)
    assert hip.code("hipGraphInstantiateWithFlags", ref(exec_), graph, flags) == expected
    assert (exec_.value != 0) == (expected == 0)
    if exec_.value:
        found = ctypes.c_uint64(99)
        hip.ok("hipGraphExecGetFlags", exec_.value, ref(found))
        assert found.value == flags
        hip.ok("hipGraphExecDestroy", exec_.value)


def test_launch_codes(graph, execs, stream):
    exec_ = execs(graph)
    assert hip.code("hipGraphLaunch", exec_, STALE) == DESTROYED
    hip.ok("hipGraphUpload", exec_, stream)
    hip.ok("hipGraphExecDestroy", exec_)
    assert hip.code("hipGraphLaunch", exec_, stream) == INVALID


def test_an_exec_lives_without_its_graph(graph, execs, stream, put, out):
    node = put_node(graph, put, out, 1)
    exec_ = execs(graph)
    params, _kept = kernel(put, ctypes.c_uint64(out), ctypes.c_int(2))
    hip.ok("hipGraphDestroy", graph)
    hip.launch(exec_, stream)
    assert ints(out) == [1] * 64
    set_params = "hipGraphExecKernelNodeSetParams"
    assert hip.code(set_params, exec_, node, ref(params)) == INVALID, "the node is gone"


def test_editing_an_exec_changes_that_exec_only(graph, execs, stream, put, out):
    """C015 for a kernel node."""
    node = put_node(graph, put, out, 1)
    first = execs(graph)
    two, _kept2 = kernel(put, ctypes.c_uint64(out), ctypes.c_int(2))
    three, _kept3 = kernel(put, ctypes.c_uint64(out), ctypes.c_int(3))
    hip.ok("hipGraphExecKernelNodeSetParams", first, node, ref(two))
    second = execs(graph)
    hip.ok("hipGraphKernelNodeSetParams", node, ref(three))
    third = execs(graph)
    for exec_, value in ((first, 2), (second, 1), (third, 3), (first, 2), (second, 1)):
        hip.launch(exec_, stream)
        assert ints(out) == [value] * 64


def test_editing_a_fill_of_an_exec(graph, execs, stream, out):
    """C015 for a memset node."""

    def fill(value: int, **changes) -> hip.MemsetParams:
        fields = {"dst": out, "elementSize": 4, "height": 1, "width": 64, "value": value}
        return hip.MemsetParams(**fields | changes)

    node = hip.out("hipGraphAddMemsetNode", graph, None, 0, ref(fill(1)))
    first = execs(graph)
    hip.ok("hipGraphExecMemsetNodeSetParams", first, node, ref(fill(2)))
    second = execs(graph)
    hip.ok("hipGraphMemsetNodeSetParams", node, ref(fill(3)))
    third = execs(graph)
    for exec_, value in ((first, 2), (second, 1), (third, 3)):
        hip.launch(exec_, stream)
        assert ints(out) == [value] * 64
    hip.ok("hipGraphExecMemsetNodeSetParams", first, node, ref(fill(4, width=32)))
    hip.ok("hipMemset", out, 0, 256)
    hip.launch(first, stream)
    assert ints(out) == [4] * 32 + [0] * 32


def test_rows_of_a_2d_fill_stay_what_they_are_in_an_exec(graph, execs, out):
    def fill(width: int, height: int, size: int) -> hip.MemsetParams:
        return hip.MemsetParams(out, size, height, 32, 1, width)

    node = hip.out("hipGraphAddMemsetNode", graph, None, 0, ref(fill(8, 4, 1)))
    exec_ = execs(graph)
    call = "hipGraphExecMemsetNodeSetParams"
    for shape, expected in (((8, 3, 1), 1), ((9, 4, 1), 1), ((8, 1, 1), 1), ((2, 4, 4), 0)):
        assert hip.code(call, exec_, node, ref(fill(*shape))) == expected


def test_editing_a_copy_of_an_exec(graph, execs, stream, out):
    """C015 for a memcpy node."""
    sources = [ctypes.create_string_buffer(bytes([value]) * 256, 256) for value in range(4)]
    args = (256, hip.H2D)
    node = hip.out("hipGraphAddMemcpyNode1D", graph, None, 0, out, sources[1], *args)
    first = execs(graph)
    call = "hipGraphExecMemcpyNodeSetParams1D"
    hip.ok(call, first, node, out, sources[2], *args)
    second = execs(graph)
    hip.ok("hipGraphMemcpyNodeSetParams1D", node, out, sources[3], *args)
    third = execs(graph)
    for exec_, value in ((first, 2), (second, 1), (third, 3)):
        hip.launch(exec_, stream)
        assert hip.from_device(out, 256) == bytes([value]) * 256
    assert hip.code(call, first, node, out, sources[0], 256, hip.DEFAULT) == INVALID
    assert hip.code(call, first, node, out, sources[0], 0, hip.H2D) == INVALID
    assert hip.code(call, first, node, out, None, 256, hip.H2D) == INVALID
    assert hip.code(call, first, node, out, out, 256, hip.H2D) == INVALID


def test_a_node_of_another_graph_is_refused(graph, execs, put, out):
    put_node(graph, put, out, 1)
    other = hip.out("hipGraphCreate", 0)
    foreign = put_node(other, put, out, 1)
    params, _kept = kernel(put, ctypes.c_uint64(out), ctypes.c_int(2))
    call = "hipGraphExecKernelNodeSetParams"
    assert hip.code(call, execs(graph), foreign, ref(params)) == INVALID
    assert hip.code(call, execs(graph), STALE, ref(params)) == INVALID
    hip.ok("hipGraphDestroy", other)


def test_a_node_added_later_is_not_in_the_exec(graph, execs, put, out):
    exec_ = execs(graph)
    node = put_node(graph, put, out, 1)
    params, _kept = kernel(put, ctypes.c_uint64(out), ctypes.c_int(2))
    assert hip.code("hipGraphExecKernelNodeSetParams", exec_, node, ref(params)) == INVALID


def test_a_launch_is_one_operation_of_its_stream(graph, execs, stream, add, out):
    for _ in range(3):  # three branches that only the stream orders against the rest
        params, _kept = kernel(add, ctypes.c_uint64(out), ctypes.c_int(1))
        previous = hip.nodes(graph)[-1:]
        args = hip.array(previous), len(previous), ref(params)
        hip.out("hipGraphAddKernelNode", graph, *args)
    exec_ = execs(graph)
    for value in (10, 20):
        hip.ok("hipMemsetD32Async", out, value, 64, stream)
        hip.ok("hipGraphLaunch", exec_, stream)
        hip.ok("hipMemcpyAsync", out + 128, out, 128, hip.D2D, stream)
        hip.ok("hipStreamSynchronize", stream)
        assert ints(out) == [value + 3] * 64


def held_node(graph: int, gate) -> int:
    params = hip.HostNodeParams(ctypes.cast(gate.function, ctypes.c_void_p), None)
    return hip.out("hipGraphAddHostNode", graph, None, 0, ref(params))


def stays_zero(out: int) -> bool:
    """Give the device time to do what it should not."""
    time.sleep(0.05)
    return ints(out) == [0] * 64


@pytest.mark.parametrize("held", [0, 1, 2])
def test_a_node_waits_for_each_of_its_dependencies(graph, execs, stream, put, out, gate, held):
    before = [hip.out("hipGraphAddEmptyNode", graph, None, 0) for _ in range(2)]
    before.insert(held, held_node(graph, gate))
    params, _kept = kernel(put, ctypes.c_uint64(out), ctypes.c_int(5))
    hip.out("hipGraphAddKernelNode", graph, hip.array(before), 3, ref(params))
    hip.ok("hipMemset", out, 0, 256)
    hip.ok("hipGraphLaunch", execs(graph), stream)
    assert stays_zero(out)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert ints(out) == [5] * 64


@pytest.mark.parametrize("held", [0, 1, 2])
def test_the_stream_goes_on_when_every_node_is_done(graph, execs, stream, put, out, gate, held):
    for position in range(3):
        if position == held:
            held_node(graph, gate)
        else:
            hip.out("hipGraphAddEmptyNode", graph, None, 0)
    hip.ok("hipMemset", out, 0, 256)
    hip.ok("hipGraphLaunch", execs(graph), stream)
    hip.ok("hipMemsetD32Async", out, 5, 64, stream)
    assert stays_zero(out)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert ints(out) == [5] * 64


def test_an_edit_does_not_reach_a_launch_in_flight(graph, execs, stream, put, out, gate):
    node = put_node(graph, put, out, 1)
    exec_ = execs(graph)
    gate.block(stream)
    hip.ok("hipGraphLaunch", exec_, stream)
    params, _kept = kernel(put, ctypes.c_uint64(out), ctypes.c_int(2))
    hip.ok("hipGraphExecKernelNodeSetParams", exec_, node, ref(params))
    hip.ok("hipGraphExecDestroy", exec_)
    gate.open_gate()
    hip.ok("hipStreamSynchronize", stream)
    assert ints(out) == [1] * 64


def test_launches_of_one_exec_on_two_streams_are_ordered(graph, execs, streams, add, out, gate):
    first, second = streams(), streams()
    params, _kept = kernel(add, ctypes.c_uint64(out), ctypes.c_int(1))
    hip.out("hipGraphAddKernelNode", graph, None, 0, ref(params))
    exec_ = execs(graph)
    gate.block(first)
    hip.ok("hipGraphLaunch", exec_, first)
    hip.ok("hipGraphLaunch", exec_, second)
    time.sleep(0.05)
    assert hip.code("hipStreamQuery", second) == NOT_READY
    gate.open_gate()
    for stream in (first, second):
        hip.ok("hipStreamSynchronize", stream)
    assert ints(out) == [2] * 64


OVERLAP = """
    import threading
    from helpers import hip_ctypes as hip
    opened = threading.Event()
    gate = hip.HOST_FUNCTION(lambda _: opened.wait(30))
    first, second, event = hip.stream(), hip.stream(), hip.event()
    graph = hip.out("hipGraphCreate", 0)
    hip.out("hipGraphAddEmptyNode", graph, None, 0)
    exec_ = hip.instantiate(graph)
    hip.ok("hipLaunchHostFunc", first, gate, None)
    hip.ok("hipGraphLaunch", exec_, first)
    hip.ok("hipGraphLaunch", exec_, first)
    hip.ok("hipEventRecord", event, first)
    if ordered:
        hip.ok("hipStreamWaitEvent", second, event, 0)
    hip.ok("hipGraphLaunch", exec_, second)
    hip.ok("hipGraphLaunch", exec_, second)
    opened.set()
    hip.ok("hipDeviceSynchronize")
"""


@pytest.mark.parametrize("ordered", [True, False])
def test_launches_of_one_exec_that_nothing_orders_are_noted_once(ordered):
    done = run_python(f"ordered = {ordered}\n{textwrap.dedent(OVERLAP)}")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("nothing to order") == (0 if ordered else 1)


def test_a_launch_on_a_capturing_stream_runs_at_once(graph, execs, stream, put, out):
    """HIP records nothing; CUDA adds a child graph."""
    put_node(graph, put, out, 5)
    exec_ = execs(graph)
    hip.begin(stream)
    hip.ok("hipGraphLaunch", exec_, stream)
    assert hip.frontier(stream) == []
    recorded = hip.end(stream)
    hip.ok("hipStreamSynchronize", stream)
    assert ints(out) == [5] * 64
    hip.ok("hipGraphDestroy", recorded)


def test_a_launch_on_the_null_stream_follows_its_rule(graph, execs, streams, put, out, gate):
    put_node(graph, put, out, 5)
    exec_ = execs(graph)
    gate.block(streams(0))
    hip.ok("hipGraphLaunch", exec_, None)
    assert hip.code("hipStreamQuery", hip.LEGACY) == NOT_READY
    gate.open_gate()
    hip.ok("hipStreamSynchronize", None)
    assert ints(out) == [5] * 64


def test_a_graph_of_an_unloaded_module_is_refused(graph, execs, stream):
    module = hip.module(compile_hip('extern "C" __global__ void gone(int) {}'))
    params, _kept = kernel(hip.function(module, "gone"), ctypes.c_int(0))
    hip.out("hipGraphAddKernelNode", graph, None, 0, ref(params))
    exec_ = execs(graph)
    hip.launch(exec_, stream)
    hip.ok("hipModuleUnload", module)
    assert hip.code("hipGraphLaunch", exec_, stream) == BAD_FUNCTION


def test_captured_graphs_of_one_kernel_in_either_order_and_at_once(streams, put, out):
    """C017: two graphs captured from the same function."""
    first, second = streams(), streams()
    execs = []
    for value, place in ((123, out), (321, out + 128)):
        hip.begin(first)
        params, _kept = hip.parameters(ctypes.c_uint64(place), ctypes.c_int(value))
        assert hip.launch_kernel(put, first, params, block=(32, 1, 1)) == 0
        graph = hip.end(first)
        execs.append(hip.instantiate(graph))
        hip.ok("hipGraphDestroy", graph)
    for order in ((0, 1), (1, 0)):
        hip.ok("hipMemset", out, 0, 256)
        for stream, index in zip((first, second), order, strict=True):
            hip.ok("hipGraphLaunch", execs[index], stream)
        for stream in (first, second):
            hip.ok("hipStreamSynchronize", stream)
        assert ints(out) == [123] * 32 + [321] * 32
    for exec_ in execs:
        hip.ok("hipGraphExecDestroy", exec_)
