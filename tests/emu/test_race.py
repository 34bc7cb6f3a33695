"""HIPGRAPH_EMU_CHECK=race: what orders work is no finding, and its absence is one that names both.

The emulated device runs the work of most tests here one after the other: that it does is no order.
"""

from __future__ import annotations

import re

import pytest
from helpers.process import run_python
from helpers.races import Conflict, found

FILLS = "fill(a); {}; fill(b)"

#: What orders two fills of the same bytes, on streams a and b unless it says otherwise.
ORDERS = {
    "stream": "fill(a); fill(a)",
    "event": FILLS.format("order(a, b)"),
    "event that happened before the wait": (
        "fill(a); hip.ok('hipEventRecord', event, a); settle();"
        "hip.ok('hipStreamWaitEvent', b, event, 0); fill(b)"
    ),
    "events through a third stream": FILLS.format("order(a, blocking); order(blocking, b)"),
    "stream synchronised": FILLS.format("hip.ok('hipStreamSynchronize', a)"),
    "event synchronised": FILLS.format(
        "hip.ok('hipEventRecord', event, a); hip.ok('hipEventSynchronize', event)"
    ),
    "device synchronised": FILLS.format("hip.ok('hipDeviceSynchronize')"),
    "stream queried": FILLS.format("settle(); hip.ok('hipStreamQuery', a)"),
    "event queried": FILLS.format(
        "hip.ok('hipEventRecord', event, a); settle(); hip.ok('hipEventQuery', event)"
    ),
    "a blocking copy behind an event": FILLS.format("order(a, None); hip.from_device(spare, 4)"),
    "null stream behind a blocking one": "fill(blocking); fill(None)",
    "blocking stream behind the null one": "fill(None); fill(blocking)",
    "blocking streams around the null one": (
        "fill(blocking); fill(None, 512, 4); settle(); fill(other)"
    ),
    "host function before the call": FILLS.format(
        "kept = hip.HOST_FUNCTION(lambda _: None);"
        "hip.ok('hipLaunchHostFunc', a, kept, None); settle()"
    ),
    "value written and waited for": (
        "hip.ok('hipMemsetAsync', spare, 0, 4, a); hip.ok('hipStreamSynchronize', a);"
        "fill(a); hip.ok('hipStreamWriteValue32', a, spare, 1, 0);"
        "hip.ok('hipStreamWaitValue32', b, spare, 1, 0, 0xffffffff); fill(b)"
    ),
    "graph behind stream work": "fill(a); hip.ok('hipGraphLaunch', capture(fill), a)",
    "stream work behind a graph": "g = capture(fill); hip.ok('hipGraphLaunch', g, a); fill(a)",
    "two graphs on one stream": (
        "g, h = capture(fill), capture(fill);"
        "hip.ok('hipGraphLaunch', g, a); hip.ok('hipGraphLaunch', h, a)"
    ),
    "two graphs and an event": (
        "g, h = capture(fill), capture(fill);"
        "hip.ok('hipGraphLaunch', g, a); order(a, b); hip.ok('hipGraphLaunch', h, b)"
    ),
    "one graph twice on one stream": (
        "g = capture(fill); hip.ok('hipGraphLaunch', g, a); hip.ok('hipGraphLaunch', g, a)"
    ),
    "edge": (
        "graph = hip.out('hipGraphCreate', 0); one = graph_nodes.fill_node(graph, memory, 1);"
        "graph_nodes.fill_node(graph, memory, 2, one); hip.launch(hip.instantiate(graph), a)"
    ),
    "path through an empty node": (
        "graph = hip.out('hipGraphCreate', 0); one = graph_nodes.fill_node(graph, memory, 1);"
        "graph_nodes.fill_node(graph, memory, 2, graph_nodes.empty(graph, one));"
        "hip.launch(hip.instantiate(graph), a)"
    ),
    "path through a disabled node": (
        "graph = hip.out('hipGraphCreate', 0); one = graph_nodes.fill_node(graph, memory, 1);"
        "two = graph_nodes.fill_node(graph, spare, 2, one);"
        "graph_nodes.fill_node(graph, memory, 3, two); ready = hip.instantiate(graph);"
        "hip.ok('hipGraphNodeSetEnabled', ready, two, 0); hip.launch(ready, a)"
    ),
    "event node of a graph": (
        "graph = hip.out('hipGraphCreate', 0); one = graph_nodes.fill_node(graph, memory, 1);"
        "graph_nodes.add('hipGraphAddEventRecordNode', graph, event, after=(one,));"
        "hip.ok('hipGraphLaunch', hip.instantiate(graph), a);"
        "hip.ok('hipStreamWaitEvent', b, event, 0); fill(b)"
    ),
    "child graph": (
        "child, graph = hip.out('hipGraphCreate', 0), hip.out('hipGraphCreate', 0);"
        "graph_nodes.fill_node(child, memory, 1); one = graph_nodes.fill_node(graph, memory, 2);"
        "inner = graph_nodes.add('hipGraphAddChildGraphNode', graph, child, after=(one,));"
        "graph_nodes.fill_node(graph, memory, 3, inner); hip.launch(hip.instantiate(graph), a)"
    ),
}

#: What does not order them.
MISSING = {
    "two streams": "fill(a); fill(b)",
    "two streams, one after the other": "fill(a); settle(); fill(b)",
    "an event of before": "order(a, b); fill(a); settle(); fill(b)",
    "the wait of a third stream": "fill(a); order(a, blocking); settle(); fill(b)",
    "another stream synchronised": FILLS.format("hip.ok('hipStreamSynchronize', blocking)"),
    "null stream and non-blocking one": "fill(None); settle(); fill(b)",
    "blocking streams": "fill(blocking); settle(); fill(other)",
    "graph on another stream": ("hip.ok('hipGraphLaunch', capture(fill), a); settle(); fill(b)"),
    "two graphs on two streams": (
        "g, h = capture(fill), capture(fill);"
        "hip.ok('hipGraphLaunch', g, a); settle(); hip.ok('hipGraphLaunch', h, b)"
    ),
    "one graph twice on two streams": (
        "g = capture(fill); hip.ok('hipGraphLaunch', g, a); hip.ok('hipGraphLaunch', g, b)"
    ),
    "no edge": (
        "graph = hip.out('hipGraphCreate', 0); graph_nodes.fill_node(graph, memory, 1);"
        "graph_nodes.fill_node(graph, memory, 2);"
        "hip.ok('hipGraphLaunch', hip.instantiate(graph), a)"
    ),
    "child graph beside a node": (
        "child, graph = hip.out('hipGraphCreate', 0), hip.out('hipGraphCreate', 0);"
        "graph_nodes.fill_node(child, memory, 1); graph_nodes.fill_node(graph, memory, 2);"
        "graph_nodes.add('hipGraphAddChildGraphNode', graph, child);"
        "hip.ok('hipGraphLaunch', hip.instantiate(graph), a)"
    ),
}


@pytest.fixture(autouse=True)
def no_leaked_handles():
    """Take the place of the package's own check: nothing here makes a handle of the package."""


@pytest.mark.parametrize("work", ORDERS.values(), ids=list(ORDERS))
def test_ordered_work_is_no_finding(race_device, work):
    assert race_device.conflicts(work) == []


@pytest.mark.parametrize("work", MISSING.values(), ids=list(MISSING))
def test_unordered_work_is_a_failure_that_names_both(race_device, work):
    (conflict,) = race_device.conflicts(work)
    names = [name for name, access in conflict.parties if access == "writes"]
    assert len(set(names)) == 2
    assert all(re.match(r"memset, (stream|graph exec \d+ node \d+ \(0x)", name) for name in names)
    ((begin, end),) = conflict.ranges
    assert end - begin in (64, 256)


def parties(conflict: Conflict) -> set[tuple[str, str]]:
    """The kinds of work, without where they came from, and how they touched the bytes."""
    return {(name.split(",")[0], access) for name, access in conflict.parties}


#: Work that meets itself on streams a and b: who races, how, and where; or nobody.
MEETINGS = {
    "two reads": ("copy(a); copy(b, to=512)", None),
    "read and write": (
        "copy(a); fill(b, 1024)",
        ({("copy", "reads"), ("memset", "writes")}, [(1024, 1088)]),
    ),
    "part of the bytes": (
        "fill(a, 0, 100); fill(b, 90, 100)",
        ({("memset", "writes")}, [(90, 100)]),
    ),
    "neighbours": ("fill(a, 0, 101); fill(b, 101, 100)", None),
    "columns of one pitch": (
        "hip.ok('hipMemset2DAsync', memory, 64, 0, 32, 4, a);"
        "hip.ok('hipMemset2DAsync', memory + 32, 64, 0, 32, 4, b)",
        None,
    ),
    "columns that overlap": (
        "hip.ok('hipMemset2DAsync', memory, 64, 0, 33, 2, a);"
        "hip.ok('hipMemset2DAsync', memory + 32, 64, 0, 32, 2, b)",
        ({("memset", "writes")}, [(32, 33), (96, 97)]),
    ),
    "many pages": (
        "fill(a, 100, 20000); fill(b, 4000, 30000)",
        ({("memset", "writes")}, [(4000, 20100)]),
    ),
    "the same value": (
        "kernel('put', a, memory, 3); kernel('put', b, memory, 3)",
        ({("kernel put", "writes")}, [(0, 256)]),
    ),
    "lanes of a kernel": (
        "kernel('put', a, memory, 3, lanes=5); fill(b, 16, 64)",
        ({("kernel put", "writes"), ("memset", "writes")}, [(16, 20)]),
    ),
    "bytes of a kernel": (
        "kernel('put_bytes', a, memory, 2); kernel('put_bytes', b, memory + 1, 2)",
        None,
    ),
    "bytes of a kernel and all between": (
        "kernel('put_bytes', a, memory, 2, lanes=2); fill(b)",
        ({("kernel put_bytes", "writes"), ("memset", "writes")}, [(0, 1), (2, 3)]),
    ),
    "vector load": (
        "kernel('get', a, memory, spare); fill(b, 8, 4)",
        ({("kernel get", "reads"), ("memset", "writes")}, [(8, 12)]),
    ),
    "scalar load": (
        "kernel('get_one', a, memory, spare); fill(b, 0, 2)",
        ({("kernel get_one", "reads"), ("memset", "writes")}, [(0, 2)]),
    ),
    "atomics": ("kernel('count', a, memory, 1); kernel('count', b, memory, 2)", None),
    "atomic load and atomic": (
        "kernel('look', a, memory, spare); kernel('count', b, memory, 2)",
        None,
    ),
    "atomic and plain write": (
        "kernel('count', a, memory, 1); fill(b, 0, 8)",
        ({("kernel count", "atomically writes"), ("memset", "writes")}, [(0, 4)]),
    ),
    "atomic and plain read": (
        "kernel('count', a, memory, 1); kernel('get', b, memory, spare)",
        ({("kernel count", "atomically writes"), ("kernel get", "reads")}, [(0, 4)]),
    ),
    "atomic load and plain read": (
        "kernel('look', a, memory, spare); kernel('get', b, memory, spare + 4096)",
        None,
    ),
    "atomic load and plain write": (
        "kernel('look', a, memory, spare); fill(b)",
        ({("kernel look", "atomically reads"), ("memset", "writes")}, [(0, 4)]),
    ),
    "a value written to a stream and a plain write": (
        "hip.ok('hipStreamWriteValue32', a, memory, 5, 0); fill(b)",
        ({("memory operations", "atomically writes"), ("memset", "writes")}, [(0, 4)]),
    ),
}


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("case", MEETINGS.values(), ids=list(MEETINGS))
def test_accesses_that_meet(race_device, case, one_by_one):
    work, expected = case
    work = "results['memory'] = memory;" + work
    answer = race_device.run(work.replace("; ", "; settle(); ") if one_by_one else work)
    conflicts = [] if answer["report"] is None else found(answer)
    if expected is None:
        assert conflicts == []
        return
    (conflict,) = conflicts
    who, where = expected
    assert parties(conflict) == who
    assert [
        (begin - answer["memory"], end - answer["memory"]) for begin, end in conflict.ranges
    ] == (where)


def test_several_conflicts_are_one_report(race_device):
    conflicts = race_device.conflicts("fill(a); fill(a, 1024); settle(); copy(b)")
    assert sorted(map(sorted, map(parties, conflicts))) == [
        [("copy", "reads"), ("memset", "writes")],
        [("copy", "writes"), ("memset", "writes")],
    ]


def test_what_depends_on_a_race_does_not_run(race_device):
    work = "fill(a); fill(b); hip.ok('hipMemsetAsync', spare, 5, 4, b)"
    assert race_device.conflicts(f"hip.to_device(spare, bytes(4)); {work}")
    assert race_device.run("results['spare'] = list(hip.from_device(spare, 4))")["spare"] == [0] * 4


def test_memory_that_is_handed_out_again_is_other_memory(race_device):
    work = """
first = hip.out("hipMallocAsync", 4096, a)
hip.ok("hipMemsetAsync", first, 1, 4096, a)
hip.ok("hipFreeAsync", first, a)
settle()
second = hip.out("hipMallocAsync", 4096, a)
hip.ok("hipMemsetAsync", second, 1, 4096, b)
results["same"] = first == second
hip.ok("hipFreeAsync", second, b)
"""
    answer = race_device.run(work)
    assert answer["same"]
    assert answer["report"] is None


def test_freed_memory_is_forgotten(race_device):
    work = """
for _ in range(2000):
    block = hip.malloc(65536)
    hip.ok("hipMemsetAsync", block, 1, 65536, a)
    hip.ok("hipFree", block)
"""
    assert race_device.conflicts(work) == []


def test_a_signal_between_running_kernels_orders_what_was_before_it(race_device):
    publish, wait = (f"kernel('{name}', {{}}, memory, spare)" for name in ("publish", "await"))
    for first, second in ((publish, wait), (wait, publish)):
        work = f"{first.format('a')}; settle(); {second.format('b')}"
        assert race_device.conflicts(f"hip.to_device(spare, bytes(4)); {work}") == []


def test_what_comes_before_the_wait_for_a_signal_is_not_ordered_by_it(race_device):
    work = "hip.to_device(spare, bytes(4)); fill(a); kernel('await', a, memory + 512, spare);"
    (conflict,) = race_device.conflicts(work + "settle(); kernel('publish', b, memory, spare)")
    assert parties(conflict) == {("memset", "writes"), ("kernel publish", "writes")}


def test_two_launches_that_count_on_one_word_are_not_ordered_by_it(race_device):
    work = "kernel('count', {0}, spare, 1); fill({0});"
    (conflict,) = race_device.conflicts(f"{work.format('a')} settle(); {work.format('b')}")
    assert parties(conflict) == {("memset", "writes")}


def test_replays_keep_no_history(race_device):
    """Thousands of ordered launches leave as much behind as one."""
    work = """
def resident():
    return int(open("/proc/self/statm").read().split()[1])
g = capture(lambda stream: [fill(stream), copy(stream), kernel("put", stream, memory, 1)])
for turn in range(2):
    before = resident()
    for _ in range(5000):
        hip.ok("hipGraphLaunch", g, b)
    hip.ok("hipStreamSynchronize", b)
results["grown"] = resident() - before
"""
    assert race_device.run(work)["grown"] < 500


def test_a_wrong_value_of_the_variable_names_the_cure():
    done = run_python(
        "from helpers import hip_ctypes as hip; print(hip.code('hipDeviceSynchronize'))",
        HIPGRAPH_EMU_CHECK="races",
    )
    assert "HIPGRAPH_EMU_CHECK='races'" in done.stderr
    assert "off or race" in done.stderr


def test_a_hang_is_looked_at_without_a_finding(race_device):
    work = "b = hip.stream(); {} kernel('count', a, memory, 1); settle(); copy(b, 512, 0)"
    assert race_device.conflicts(work.format("hip.ok('hipgraphEmuLookOn', b);")) == []
    assert race_device.conflicts(work.format(""))
