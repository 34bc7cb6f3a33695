"""Random work on a little memory, with the order that it needs, and a model of what it does.

The memory is SEGMENTS pieces of SIZE bytes; HOST is host memory, and CONSTANT is only read.
Whatever touches the same bytes and changes them is ordered by edges, so every way of running the
work has one result.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

SEGMENTS, SIZE, WORD = 5, 128, 4
HOST, CONSTANT = 3, 4
Memory = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class Span:
    """Rows of bytes in one segment."""

    segment: int
    start: int
    width: int
    rows: int
    pitch: int

    def offsets(self) -> list[int]:
        """Where each row starts, counted from the first segment."""
        first = self.segment * SIZE + self.start
        return [first + row * self.pitch for row in range(self.rows)]

    def mask(self) -> int:
        """The bytes as bits of a number."""
        return sum(((1 << self.width) - 1) << offset for offset in self.offsets())

    def of(self, memory: Memory) -> Memory:
        """The bytes as a copy, row after row."""
        flat = memory.reshape(-1)
        return np.concatenate([flat[each : each + self.width] for each in self.offsets()])

    def put(self, memory: Memory, data: Memory) -> None:
        """Write the bytes."""
        rows = data.reshape(self.rows, self.width)
        for offset, row in zip(self.offsets(), rows, strict=True):
            memory.reshape(-1)[offset : offset + self.width] = row


@dataclass(frozen=True)
class Operation:
    """Something to do; this one does nothing.

    Attributes:
        after: Numbers of earlier operations that come before it.
    """

    after: tuple[int, ...]

    def reads(self) -> int:
        """The bytes that it reads."""
        return 0

    def writes(self) -> int:
        """The bytes that it changes."""
        return 0

    def apply(self, memory: Memory) -> None:
        """Do it to a model of the memory."""


@dataclass(frozen=True)
class Signal(Operation):
    """An event that is recorded for the host, and waited for."""


@dataclass(frozen=True)
class Fill(Operation):
    """Elements of `size` bytes set to a value."""

    to: Span
    value: int
    size: int

    def writes(self) -> int:
        return self.to.mask()

    def apply(self, memory: Memory) -> None:
        element = np.frombuffer(self.value.to_bytes(self.size, "little"), np.uint8)
        self.to.put(memory, np.tile(element, self.to.width * self.to.rows // self.size))


@dataclass(frozen=True)
class Copy(Operation):
    """Bytes copied; the two spans do not overlap."""

    to: Span
    source: Span

    def reads(self) -> int:
        return self.source.mask()

    def writes(self) -> int:
        return self.to.mask()

    def apply(self, memory: Memory) -> None:
        self.to.put(memory, self.source.of(memory))


@dataclass(frozen=True)
class Mix(Operation):
    """A kernel: each word of `to` becomes itself times `factor` plus a word of `source`."""

    to: Span
    source: Span
    factor: int

    def reads(self) -> int:
        return self.to.mask() | self.source.mask()

    def writes(self) -> int:
        return self.to.mask()

    def apply(self, memory: Memory) -> None:
        to, source = (span.of(memory).view(np.uint32) for span in (self.to, self.source))
        self.to.put(memory, (to * np.uint32(self.factor) + source).view(np.uint8))


@dataclass(frozen=True)
class Turn(Operation):
    """A host function: bits of the host's memory are turned over."""

    to: Span
    bits: int

    def reads(self) -> int:
        return self.to.mask()

    def writes(self) -> int:
        return self.to.mask()

    def apply(self, memory: Memory) -> None:
        self.to.put(memory, self.to.of(memory) ^ np.uint8(self.bits))


@dataclass(frozen=True)
class Child(Operation):
    """Work as one operation."""

    inner: tuple[Operation, ...]

    def reads(self) -> int:
        return _union(each.reads() for each in self.inner)

    def writes(self) -> int:
        return _union(each.writes() for each in self.inner)

    def apply(self, memory: Memory) -> None:
        for each in self.inner:
            each.apply(memory)


def draw_work(draw: random.Random, most: int = 14, *, nested: bool = True) -> list[Operation]:
    """Draw operations in an order in which they may run one by one."""
    work: list[Operation] = []
    for _ in range(draw.randint(1, most)):
        made = _draw_operation(draw, nested=nested)
        after = _predecessors(draw, work, made)
        object.__setattr__(made, "after", after)
        work.append(made)
    return work


def another_order(draw: random.Random, work: Sequence[Operation]) -> Iterator[int]:
    """Yield the numbers of all operations in a random order that the edges allow."""
    waiting = set(range(len(work)))
    while waiting:
        ready = sorted(each for each in waiting if waiting.isdisjoint(work[each].after))
        chosen = draw.choice(ready)
        waiting.remove(chosen)
        yield chosen


def _draw_operation(draw: random.Random, *, nested: bool) -> Operation:
    kinds = ["fill", "fill", "copy", "copy", "mix", "mix", "mix", "turn", "none", "child"]
    kind = draw.choice(kinds)
    if kind == "fill":
        size = draw.choice([1, 2, 4])
        to = _span(draw, size, rows=draw.choice([1, 1, 2, 3]))
        return Fill((), to, draw.getrandbits(8 * size), size)
    if kind == "copy":
        to = _span(draw, 1, rows=draw.choice([1, 1, 2, 3]))
        return Copy((), to, _other_span(draw, to))
    if kind == "mix":
        to = _span(draw, WORD, segments=HOST)
        return Mix((), to, _other_span(draw, to, WORD), draw.getrandbits(32))
    if kind == "turn":
        return Turn((), replace(_span(draw, 1), segment=HOST), draw.getrandbits(8))
    if kind == "child" and nested:
        return Child((), tuple(draw_work(draw, 4, nested=False)))
    return draw.choice([Operation, Signal])(())


def _span(draw: random.Random, unit: int, *, rows: int = 1, segments: int = CONSTANT) -> Span:
    """Draw a span that may be written."""
    width = draw.randint(1, SIZE // rows // unit) * unit
    pitch = draw.randint(width // unit, SIZE // rows // unit) * unit
    return Span(draw.randrange(segments), _start(draw, unit, rows * pitch), width, rows, pitch)


def _other_span(draw: random.Random, to: Span, unit: int = 1) -> Span:
    """Draw a span of the same rows in another segment."""
    segment = draw.choice([each for each in range(SEGMENTS) if each != to.segment])
    pitch = draw.randint(to.width // unit, SIZE // to.rows // unit) * unit
    return Span(segment, _start(draw, unit, to.rows * pitch), to.width, to.rows, pitch)


def _start(draw: random.Random, unit: int, room: int) -> int:
    # HIP takes rows only where the last one's whole pitch is in the allocation.
    return draw.randint(0, (SIZE - room) // unit) * unit


def _predecessors(
    draw: random.Random, work: Sequence[Operation], made: Operation
) -> tuple[int, ...]:
    """Choose edges: all that the bytes need, some that others imply, a few for no reason."""
    after, before = [], 0
    for number in reversed(range(len(work))):
        conflict = _conflict(work[number], made)
        implied = before >> number & 1
        if draw.random() < (0.1 if implied or not conflict else 1):
            after.append(number)
            before |= 1 << number | _ancestors(work, number)
    return tuple(after)


def _conflict(one: Operation, other: Operation) -> bool:
    written = one.writes() & (other.reads() | other.writes()) | one.reads() & other.writes()
    return written != 0


def _ancestors(work: Sequence[Operation], number: int) -> int:
    found = 0
    for each in work[number].after:
        found |= 1 << each | _ancestors(work, each)
    return found


def _union(masks: Iterator[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union
