"""Memory that graphs allocate and free (api/graph_memory.cpp, runtime/graph_memory.cpp)."""

from __future__ import annotations

import ctypes
import itertools
import json

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import memory

INVALID, OUT_OF_MEMORY, INVALID_DEVICE, ILLEGAL_ADDRESS, NOT_SUPPORTED = 1, 2, 101, 700, 801
USED, USED_HIGH, RESERVED, RESERVED_HIGH = range(4)
NBYTES, PAGE = 256, 4096
AUTO_FREE = 1


def parameters(nbytes: int = NBYTES) -> hip.MemAllocNodeParams:
    return memory(nbytes)


def attribute(kind: int) -> int:
    value = ctypes.c_uint64()
    hip.ok("hipDeviceGetGraphMemAttribute", 0, kind, ctypes.byref(value))
    return value.value


def reset(kind: int, value: int = 0) -> int:
    data = ctypes.c_uint64(value)
    return hip.code("hipDeviceSetGraphMemAttribute", 0, kind, ctypes.byref(data))


def available() -> int:
    value = ctypes.c_size_t()
    hip.ok("hipMemGetInfo", ctypes.byref(value), None)
    return value.value


@pytest.fixture(autouse=True)
def nothing_stays():
    """Every test frees what its graphs allocated."""
    yield
    hip.ok("hipDeviceSynchronize")
    assert attribute(USED) == 0
    hip.ok("hipDeviceGraphMemTrim", 0)
    assert attribute(RESERVED) == 0


@pytest.fixture
def graphs():
    """Give a maker of graphs and execs, destroyed after the test."""

    class Graphs:
        def __init__(self):
            self.made, self.execs = [], []

        def own(self, graph: int) -> int:
            self.made.append(graph)
            return graph

        def new(self) -> int:
            return self.own(hip.out("hipGraphCreate", 0))

        def exec(self, graph: int, flags: int = 0) -> int:
            self.execs.append(hip.out("hipGraphInstantiateWithFlags", graph, flags))
            return self.execs[-1]

    made = Graphs()
    yield made
    for exec_ in made.execs:
        hip.ok("hipGraphExecDestroy", exec_)
    for graph in made.made:
        hip.ok("hipGraphDestroy", graph)


def add_alloc(graph: int, params: hip.MemAllocNodeParams, after=()) -> int:
    call = ("hipGraphAddMemAllocNode", graph, hip.array(after), len(after), ctypes.byref(params))
    return hip.out(*call)


def add_free(graph: int, pointer: int, after=()) -> int:
    return hip.out("hipGraphAddMemFreeNode", graph, hip.array(after), len(after), pointer)


def captured(stream: int, out: int, value: int, *, freed: bool = True) -> tuple[int, int]:
    """A graph that fills memory of its own and copies it to `out`; and that memory's address."""
    hip.begin(stream)
    pointer = hip.out("hipMallocAsync", NBYTES, stream)
    hip.ok("hipMemsetAsync", pointer, value, NBYTES, stream)
    hip.ok("hipMemcpyAsync", out, pointer, NBYTES, hip.D2D, stream)
    if freed:
        hip.ok("hipFreeAsync", pointer, stream)
    return hip.end(stream), pointer


def test_a_capture_records_a_chain_of_both_nodes(stream, out, graphs):
    graph, pointer = captured(stream, out, 3)
    graphs.own(graph)
    order = hip.nodes(graph)
    kinds = [hip.node_type(node) for node in order]
    assert kinds == [hip.MEM_ALLOC, hip.MEMSET, hip.MEMCPY, hip.MEM_FREE]
    assert hip.edges(graph) == list(itertools.pairwise(order))
    params, freed = hip.MemAllocNodeParams(), ctypes.c_uint64()
    hip.ok("hipGraphMemAllocNodeGetParams", order[0], ctypes.byref(params))
    assert (params.bytesize, params.dptr) == (NBYTES, pointer)
    props = params.poolProps
    assert (props.allocType, props.location.type, props.location.id) == (1, 1, 0)
    hip.ok("hipGraphMemFreeNodeGetParams", order[3], ctypes.byref(freed))
    assert freed.value == pointer


def test_addresses_are_stable_over_replays(stream, out, graphs):
    graph, pointer = captured(stream, out, 3)
    exec_ = graphs.exec(graphs.own(graph))
    for _ in range(3):
        hip.ok("hipMemset", out, 0, NBYTES)
        hip.launch(exec_, stream)
        assert hip.from_device(out, NBYTES) == b"\3" * NBYTES
    attributes = hip.PointerAttributes()
    hip.ok("hipPointerGetAttributes", ctypes.byref(attributes), pointer)
    assert (attributes.type, attributes.devicePointer) == (2, pointer)


def test_recorded_sizes_of_zero_and_null_are_no_nodes(stream, graphs):
    hip.begin(stream)
    assert hip.out("hipMallocAsync", 0, stream) == 0
    hip.ok("hipFreeAsync", None, stream)
    graph = graphs.own(hip.end(stream))
    assert hip.nodes(graph) == []


def test_a_recorded_free_of_other_memory_leaves_the_capture_active(stream, out, graphs):
    pooled = hip.out("hipMallocAsync", 64, stream)
    hip.begin(stream)
    assert hip.code("hipFreeAsync", out, stream) == INVALID
    assert hip.code("hipFreeAsync", pooled, stream) == INVALID
    pointer = hip.out("hipMallocAsync", 64, stream)
    assert hip.code("hipFreeAsync", pointer + 8, stream) == INVALID
    hip.ok("hipFreeAsync", pointer, stream)
    assert hip.code("hipFreeAsync", pointer, stream) == INVALID, "freed twice"
    assert hip.status(stream) == hip.ACTIVE
    graph = graphs.own(hip.end(stream))
    assert len(hip.nodes(graph)) == 2
    hip.ok("hipFreeAsync", pooled, stream)


def test_a_recorded_allocation_from_a_pool_belongs_to_the_graph(stream, graphs):
    props = parameters().poolProps
    pool = hip.out("hipMemPoolCreate", ctypes.byref(props))
    hip.begin(stream)
    pointer = hip.out("hipMallocFromPoolAsync", 64, pool, stream)
    hip.ok("hipFreeAsync", pointer, stream)
    graph = graphs.own(hip.end(stream))
    kinds = [hip.node_type(node) for node in hip.nodes(graph)]
    assert kinds == [hip.MEM_ALLOC, hip.MEM_FREE]
    hip.ok("hipMemPoolDestroy", pool)


def test_an_invalidated_capture_records_none(stream):
    hip.begin(stream)
    assert hip.code("hipMemcpy", None, None, 0, 0) == 906
    pointer = ctypes.c_uint64(7)
    assert hip.code("hipMallocAsync", ctypes.byref(pointer), 64, stream) == 901
    assert pointer.value == 0
    assert hip.code("hipFreeAsync", None, stream) == 901
    assert hip.end_code(stream) == 901


def test_nodes_added_by_hand(stream, out, graphs, add):
    graph, params = graphs.new(), parameters()
    alloc = add_alloc(graph, params)
    fill = hip.MemsetParams(params.dptr, 4, 1, 0, 5, 64)
    call = ("hipGraphAddMemsetNode", graph, hip.array([alloc]), 1, ctypes.byref(fill))
    filled = hip.out(*call)
    call = ("hipGraphAddMemcpyNode1D", graph, hip.array([filled]), 1)
    copied = hip.out(*call, out, params.dptr, NBYTES, hip.D2D)
    add_free(graph, params.dptr, [copied])
    hip.launch(graphs.exec(graph), stream)
    assert hip.from_device(out, NBYTES) == (5).to_bytes(4, "little") * 64


def changed(**fields) -> hip.MemAllocNodeParams:
    params = parameters(fields.pop("bytesize", NBYTES))
    for name, value in fields.items():
        setattr(params.poolProps, name, value)
    return params


@pytest.mark.parametrize(
    "params, expected",
    [
        (changed(bytesize=0), INVALID),
        (changed(allocType=0), INVALID),
        (changed(location=hip.MemLocation(2, 0)), INVALID),
        (changed(location=hip.MemLocation(1, 99)), INVALID),
        (changed(location=hip.MemLocation(1, -1)), INVALID),
        (changed(bytesize=1 << 50), OUT_OF_MEMORY),
        (None, INVALID),
    ],
)
def test_codes_of_allocation_nodes(graphs, params, expected):
    graph, node = graphs.new(), ctypes.c_uint64(7)
    at = None if params is None else ctypes.byref(params)
    assert hip.code("hipGraphAddMemAllocNode", ctypes.byref(node), graph, None, 0, at) == expected
    assert node.value == 0
    assert hip.nodes(graph) == []
    assert params is None or params.dptr == 0


def test_codes_of_free_nodes(graphs, out):
    graph, params, node = graphs.new(), parameters(), ctypes.c_uint64(7)
    alloc = add_alloc(graph, params)
    for call in ("hipGraphAddMemFreeNode", "hipDrvGraphAddMemFreeNode"):
        for pointer in (None, out, params.dptr + 4, bytes(8)):
            assert hip.code(call, ctypes.byref(node), graph, None, 0, pointer) == INVALID
        assert hip.code(call, ctypes.byref(node), graph, None, 1, params.dptr) == INVALID
    assert hip.nodes(graph) == [alloc]
    add_free(graph, params.dptr, [alloc])
    call = ("hipGraphAddMemFreeNode", ctypes.byref(node), graph, None, 0, params.dptr)
    assert hip.code(*call) == INVALID, "freed already"


def test_what_memory_nodes_refuse(graphs):
    graph, params = graphs.new(), parameters()
    alloc = add_alloc(graph, params)
    free = add_free(graph, params.dptr, [alloc])
    clone = ctypes.c_uint64(7)
    assert hip.code("hipGraphClone", ctypes.byref(clone), graph) == NOT_SUPPORTED
    assert clone.value == 0
    assert hip.code("hipGraphDestroyNode", alloc) == NOT_SUPPORTED
    assert hip.code("hipGraphDestroyNode", free) == NOT_SUPPORTED
    other = ctypes.c_uint64()
    assert hip.code("hipGraphMemAllocNodeGetParams", free, ctypes.byref(params)) == INVALID
    assert hip.code("hipGraphMemFreeNodeGetParams", alloc, ctypes.byref(other)) == INVALID
    assert hip.code("hipGraphMemAllocNodeGetParams", alloc, None) == INVALID
    assert hip.code("hipGraphMemFreeNodeGetParams", free, None) == INVALID
    graphs.exec(graph)
    call = ("hipGraphInstantiateWithFlags", ctypes.byref(clone), graph, 0)
    assert hip.code(*call) == NOT_SUPPORTED, "once ever"
    assert clone.value == 0


def test_relaunching_with_memory_not_freed_is_refused(stream, out, graphs):
    graph, pointer = captured(stream, out, 3, freed=False)
    exec_ = graphs.exec(graphs.own(graph))
    hip.launch(exec_, stream)
    assert hip.code("hipGraphLaunch", exec_, stream) == INVALID
    assert hip.from_device(pointer, NBYTES) == b"\3" * NBYTES, "it is there after the launch"
    hip.ok("hipFreeAsync", pointer, stream)
    assert hip.code("hipFreeAsync", pointer, stream) == INVALID
    hip.launch(exec_, stream)
    hip.ok("hipFree", pointer)
    assert hip.code("hipFree", pointer) == INVALID


def test_free_on_launch(stream, out, graphs):
    graph, pointer = captured(stream, out, 3, freed=False)
    exec_ = graphs.exec(graphs.own(graph), AUTO_FREE)
    for _ in range(3):
        hip.launch(exec_, stream)
        assert attribute(USED) == PAGE
    hip.ok("hipFreeAsync", pointer, stream)


def test_memory_outlives_exec_and_graph_until_freed(stream, out):
    graph, pointer = captured(stream, out, 3, freed=False)
    exec_ = hip.instantiate(graph)
    hip.launch(exec_, stream)
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", graph)
    assert hip.from_device(pointer, NBYTES) == b"\3" * NBYTES
    hip.ok("hipFree", pointer)
    assert hip.code("hipMemset", pointer, 0, NBYTES) == INVALID


def test_another_graph_may_free(stream, out, graphs):
    graph, pointer = captured(stream, out, 3, freed=False)
    exec_ = graphs.exec(graphs.own(graph))
    frees = graphs.new()
    add_free(frees, pointer)
    freeing = graphs.exec(frees)
    assert hip.code("hipGraphLaunch", freeing, stream) == INVALID, "not allocated yet"
    for _ in range(2):
        hip.launch(exec_, stream)
        hip.launch(freeing, stream)
    assert hip.code("hipGraphLaunch", freeing, stream) == INVALID, "freed already"


def test_a_child_graph_may_own_memory(stream, out, graphs):
    inner, _ = captured(stream, out, 6)
    graph = graphs.new()
    hip.out("hipGraphAddChildGraphNode", graph, None, 0, graphs.own(inner))
    exec_ = graphs.exec(graph)
    for _ in range(2):
        hip.ok("hipMemset", out, 0, NBYTES)
        hip.launch(exec_, stream)
        assert hip.from_device(out, NBYTES) == b"\6" * NBYTES


def test_what_graphs_use_and_keep(stream, out, graphs):
    before = available()
    assert reset(USED_HIGH) == reset(RESERVED_HIGH) == 0
    graph, pointer = captured(stream, out, 3, freed=False)
    exec_ = graphs.exec(graphs.own(graph))
    assert [attribute(kind) for kind in range(4)] == [0, 0, 0, 0], "nothing before a launch"
    hip.launch(exec_, stream)
    assert [attribute(kind) for kind in range(4)] == [PAGE] * 4
    hip.ok("hipFree", pointer)
    assert [attribute(kind) for kind in range(4)] == [0, PAGE, PAGE, PAGE]
    assert before - available() == PAGE
    hip.ok("hipDeviceGraphMemTrim", 0)
    assert attribute(RESERVED) == 0
    assert available() == before
    assert reset(USED_HIGH) == reset(RESERVED_HIGH) == 0
    assert (attribute(USED_HIGH), attribute(RESERVED_HIGH)) == (0, 0)


@pytest.mark.parametrize("wait", ["hipStreamSynchronize", "hipDeviceSynchronize"])
def test_whoever_waits_gives_back_what_no_graph_uses(stream, out, graphs, wait):
    before = available()
    graph, _ = captured(stream, out, 3)
    hip.ok("hipGraphLaunch", graphs.exec(graphs.own(graph)), stream)
    hip.ok(wait, *([stream] if wait == "hipStreamSynchronize" else []))
    assert (attribute(RESERVED), attribute(RESERVED_HIGH)) == (0, PAGE)
    assert available() == before


def test_a_launch_without_enough_memory_fails(stream, graphs):
    total = ctypes.c_size_t()
    hip.ok("hipMemGetInfo", None, ctypes.byref(total))
    taken = hip.malloc(NBYTES)
    graph, params = graphs.new(), parameters(total.value)
    alloc = add_alloc(graph, params)
    add_free(graph, params.dptr, [alloc])
    exec_ = graphs.exec(graph)
    hip.ok("hipGraphLaunch", exec_, stream)
    assert hip.code("hipStreamSynchronize", stream) == OUT_OF_MEMORY
    assert attribute(USED) == 0
    hip.ok("hipFree", taken)


def test_codes_of_the_attributes():
    value = ctypes.c_uint64()
    for call in ("hipDeviceGetGraphMemAttribute", "hipDeviceSetGraphMemAttribute"):
        assert hip.code(call, 99, USED_HIGH, ctypes.byref(value)) == INVALID_DEVICE
        assert hip.code(call, -1, USED_HIGH, ctypes.byref(value)) == INVALID_DEVICE
        assert hip.code(call, 0, USED_HIGH, None) == INVALID
        assert hip.code(call, 0, 4, ctypes.byref(value)) == INVALID
    for kind in (USED, RESERVED):
        assert reset(kind) == INVALID
    assert reset(USED_HIGH, 1) == INVALID
    unreadable = ctypes.c_void_p(-1)
    assert hip.code("hipDeviceSetGraphMemAttribute", 0, USED, unreadable) == INVALID
    assert hip.code("hipDeviceGraphMemTrim", 99) == INVALID_DEVICE


def failed(stream: int, exec_: int) -> dict:
    hip.ok("hipGraphLaunch", exec_, stream)
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    return json.loads(hip.library().hipgraphEmuLastReport())


def test_use_after_the_free_node_names_the_allocation(stream, out, put, graphs):
    hip.begin(stream)
    pointer = hip.out("hipMallocAsync", NBYTES, stream)
    hip.ok("hipFreeAsync", pointer, stream)
    params, _kept = hip.parameters(ctypes.c_uint64(pointer), ctypes.c_int(1))
    assert hip.launch_kernel(put, stream, params) == 0
    report = failed(stream, graphs.exec(graphs.own(hip.end(stream))))
    assert report["trap"] == "memory fault"
    assert "graph allocation " in report["text"]
    assert f"({NBYTES} bytes at {pointer:#x}), which was freed" in report["text"]


def test_use_before_any_launch_names_the_allocation(stream, out, graphs):
    graph, pointer = captured(stream, out, 3)
    graphs.own(graph)
    hip.ok("hipMemcpyAsync", out, pointer, NBYTES, hip.D2D, stream)
    assert hip.code("hipStreamSynchronize", stream) == ILLEGAL_ADDRESS
    report = json.loads(hip.library().hipgraphEmuLastReport())
    assert "which no launch has allocated yet" in report["text"]


def test_memory_stays_flat(stream, out, graphs):
    before = available()
    graph, _ = captured(stream, out, 3)
    exec_ = graphs.exec(graphs.own(graph))
    for _ in range(2000):
        hip.ok("hipGraphLaunch", exec_, stream)
    hip.ok("hipStreamSynchronize", stream)
    for round_ in range(200):
        again, _ = captured(stream, out, round_ % 256)
        short = hip.instantiate(again)
        hip.launch(short, stream)
        assert hip.from_device(out, NBYTES) == bytes([round_ % 256]) * NBYTES
        hip.ok("hipGraphExecDestroy", short)
        hip.ok("hipGraphDestroy", again)
    assert (attribute(USED), attribute(RESERVED)) == (0, 0)
    assert available() == before
