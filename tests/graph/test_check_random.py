"""Random graphs: the check agrees with a checker that looks at every byte and every path."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from helpers.checks import ONE, SOURCE, add_copy
from helpers.kernels import compile_hip
from hypothesis import given, settings
from hypothesis import strategies as st

from hipgraph_shmem import Access, Buffer, FindingKind, Graph, Module
from hipgraph_shmem.hip_abi import MemcpyKind

SIZE = 32
BUFFERS = 2
KINDS = (
    *("fill", "fill", "rows", "copy", "load", "kernel", "touch", "declared", "atomic"),
    *("counting", "counting", "empty"),
)
Bytes = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Part:
    """Some bytes of a buffer; buffer BUFFERS is host memory that is kept, the next is not."""

    buffer: int
    start: int
    size: int

    def bytes(self) -> Bytes:
        return frozenset((self.buffer, at) for at in range(self.start, self.start + self.size))


@dataclass(frozen=True)
class Made:
    """A node to make, and by the rules of its kind what it touches."""

    kind: str
    parts: tuple[Part, ...]
    value: int = 0
    after: frozenset[int] = frozenset()
    reads: Bytes = field(default=frozenset(), init=False)
    writes: Bytes = field(default=frozenset(), init=False)
    atomics: Bytes = field(default=frozenset(), init=False)
    counters: Bytes = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        pieces = [part.bytes() for part in self.parts]
        wholes = [Part(part.buffer, 0, SIZE).bytes() for part in self.parts]
        facts: dict[str, dict[str, Bytes]] = {
            "fill": {"writes": pieces[0]},
            "rows": {"writes": rows(self.parts[0])},
            "copy": {"reads": pieces[-1], "writes": pieces[0]},
            "load": {"reads": pieces[-1], "writes": pieces[0]},
            "kernel": {"reads": wholes[-1] - wholes[0], "writes": wholes[0]},
            "touch": {"writes": wholes[0]},
            "declared": {"reads": pieces[-1] - pieces[0], "writes": pieces[0]},
            "atomic": {"atomics": pieces[0]},
            "counting": {"counters": pieces[0]},
            "empty": {},
        }
        for name, value in facts[self.kind].items():
            object.__setattr__(self, name, value)

    @property
    def changes(self) -> Bytes:
        return self.writes | self.counters


def rows(part: Part) -> Bytes:
    """Rows of two bytes, eight apart, as many as fit behind the start."""
    starts = range(part.start, SIZE - 7, 8)
    return frozenset((part.buffer, start + at) for start in starts for at in range(2))


@st.composite
def parts(draw: Any, buffers: int = BUFFERS, first: int = 0) -> Part:
    start = draw(st.integers(0, SIZE - 8))
    size = draw(st.integers(1, SIZE - start))
    return Part(draw(st.integers(first, first + buffers - 1)), start, size)


@st.composite
def nodes(draw: Any, index: int) -> Made:
    kind = draw(st.sampled_from(KINDS))
    one, other = draw(parts()), draw(parts())
    if kind == "load":
        other = draw(parts(2, BUFFERS))
    if kind in ("copy", "load"):
        size = min(one.size, other.size)
        one, other = Part(one.buffer, one.start, size), Part(other.buffer, other.start, size)
        if one == other:
            kind = "fill"
    if kind == "fill" and draw(st.booleans()):
        one = Part(one.buffer, 0, SIZE)
    earlier = st.integers(0, index - 1)
    fewest = draw(st.sampled_from([0, 1, 1, 1])) if index else 0
    after = draw(st.frozensets(earlier, min_size=fewest, max_size=3)) if index else frozenset()
    return Made(kind, (one, other), draw(st.sampled_from([0, 0, 7])), after)


@st.composite
def graphs(draw: Any) -> list[Made]:
    return [draw(nodes(index)) for index in range(draw(st.integers(1, 8)))]


# --- the independent checker ---------------------------------------------------------------------


def paths(made: list[Made]) -> set[tuple[int, int]]:
    """Pairs (before, after) with a path between them, by walking from every node."""
    found = set()
    for end in range(len(made)):
        left = set(made[end].after)
        while left:
            node = left.pop()
            found.add((node, end))
            left |= {each for each in made[node].after if (each, end) not in found}
    return found


def unordered(made: list[Made]) -> dict[frozenset[int], Bytes]:
    found = {}
    path = paths(made)
    for one, other in itertools.combinations(range(len(made)), 2):
        if (one, other) in path or (other, one) in path:
            continue
        a, b = made[one], made[other]
        common = (
            (a.changes & (b.reads | b.changes | b.atomics))
            | (b.changes & (a.reads | a.atomics))
            | (a.atomics & b.reads)
            | (a.reads & b.atomics)
        )
        if common:
            found[frozenset((one, other))] = common
    return found


def dirty(made: list[Made]) -> dict[int, Bytes]:
    path = paths(made)
    found = {}
    for user, node in enumerate(made):
        bad = frozenset(byte for byte in node.counters if not zeroed(byte, user, made, path))
        if bad:
            found[user] = bad
    return found


def zeroed(byte: tuple[int, int], user: int, made: list[Made], path: set[tuple[int, int]]) -> bool:
    """Whether some zero fill before the user is behind every other change before the user."""
    changing = [
        index
        for index, node in enumerate(made)
        if byte in node.changes | node.atomics and (index, user) in path
    ]
    fills = {i for i in changing if made[i].kind in ("fill", "rows") and made[i].value == 0}
    return any(all(other in fills or (other, fill) in path for other in changing) for fill in fills)


# --- both on the same graph ----------------------------------------------------------------------


class Memory:
    """The buffers, and where each byte is."""

    def __init__(self, graph: Graph) -> None:
        self.buffers = [Buffer(SIZE) for _ in range(BUFFERS)]
        self.hosts = [np.zeros(SIZE, np.uint8) for _ in range(2)]
        graph.recording.keep(self.hosts[0])
        self.starts = [each.address for each in self.buffers]
        self.starts += [each.ctypes.data for each in self.hosts]

    def at(self, part: Part) -> int:
        return self.starts[part.buffer] + part.start

    def bytes(self, ranges: Any) -> Bytes:
        return frozenset(
            (buffer, address - start)
            for each in ranges
            for address in range(each.start, each.stop)
            for buffer, start in enumerate(self.starts)
            if start <= address < start + SIZE
        )


def build(graph: Graph, made: list[Made], memory: Memory, module: Module) -> list[int]:
    handles: list[int] = []
    for node in made:
        handle = add(graph, node, memory, module)
        handles.append(handle)
        by_handle = {each.handle: each for each in graph.nodes}
        before = [by_handle[handles[each]] for each in sorted(node.after)]
        graph.add_dependencies(before, [by_handle[handle]] * len(before))
    return handles


def add(graph: Graph, made: Made, memory: Memory, module: Module) -> int:
    one, other = made.parts
    to, of = memory.at(one), memory.at(other)
    near, far = (to, one.size), (of, other.size)
    if made.kind == "fill":
        return graph.add_memset(to, made.value, one.size).handle
    if made.kind == "rows":
        count = len(rows(one)) // 2
        return graph.add_memset(to, made.value, 2, rows=count, pitch=8).handle
    if made.kind in ("copy", "load"):
        kind = MemcpyKind.HOST_TO_DEVICE if made.kind == "load" else MemcpyKind.DEVICE_TO_DEVICE
        return add_copy(graph, to, of, one.size, kind)
    if made.kind == "kernel":
        return graph.add_kernel(module.kernel("copy"), ONE, of, to).handle
    if made.kind == "empty":
        return graph.add_empty().handle
    access = {
        "touch": None,
        "declared": Access(reads=[far], writes=[near]),
        "atomic": Access(atomics=[near]),
        "counting": Access(counters=[near]),
    }[made.kind]
    return graph.add_kernel(module.kernel("touch"), ONE, to, access=access).handle


@pytest.fixture(scope="module")
def module_of_all(device: Any) -> Iterator[Module]:
    with Module(compile_hip(SOURCE)) as made:
        yield made


@settings(max_examples=400, deadline=None)
@given(made=graphs())
def test_the_checkers_agree(module_of_all: Module, made: list[Made]) -> None:
    with Graph() as graph:
        memory = Memory(graph)
        handles = build(graph, made, memory, module_of_all)
        number = {handle: index for index, handle in enumerate(handles)}
        findings = graph.check()
        pairs = {
            frozenset(number[node.handle] for node in each.nodes): memory.bytes(each.ranges)
            for each in findings
            if each.kind is FindingKind.UNORDERED
        }
        assert pairs == unordered(made)
        counters = {
            number[each.nodes[0].handle]: memory.bytes(each.ranges)
            for each in findings
            if each.kind is FindingKind.DIRTY_COUNTER
        }
        assert counters == dirty(made)
        hosts = {
            number[each.nodes[0].handle]
            for each in findings
            if each.kind is FindingKind.HOST_MEMORY
        }
        assert hosts == {
            index
            for index, node in enumerate(made)
            if node.kind == "load" and node.parts[1].buffer == BUFFERS + 1
        }
        assert len(findings) == len(pairs) + len(counters) + len(hosts)
        for buffer in memory.buffers:
            buffer.close()
