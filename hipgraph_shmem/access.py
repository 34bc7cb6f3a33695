"""Access: which device memory a kernel launch reads and writes, where its metadata cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .allocation import PinnedBuffer
from .array_view import ArrayView
from .device_span import as_array_view

__all__ = ["Access", "Region", "reach"]


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes in memory: one row, or rows that are `pitch` bytes apart.

    Attributes:
        address: The first byte.
        row_bytes: Bytes of a row.
        rows: How many.
        pitch: Bytes from row to row; of no meaning for a single row.
    """

    address: int
    row_bytes: int
    rows: int = 1
    pitch: int = 0

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield (first byte, byte behind the last) of each row that holds any, joined if dense."""
        if not self.row_bytes:
            return
        if self.pitch == self.row_bytes:
            yield self.address, self.address + self.row_bytes * self.rows
            return
        for row in range(self.rows):
            start = self.address + row * self.pitch
            yield start, start + self.row_bytes


class Access:
    """Everything that one kernel launch reads and writes; what is not named, it does not touch.

    Each argument is a list of device arrays, PinnedBuffers, Regions, or pairs (address, bytes).

    Args:
        reads: Memory that is only read.
        writes: Memory that is written, read before or not.
        atomics: Memory that is changed by atomic operations alone, in an order that does not
            matter: two such launches need no order between them.
        counters: Words that must be zero when the launch starts; the launch changes them.
    """

    __slots__ = ("atomics", "counters", "reads", "writes")

    def __init__(
        self,
        *,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
        atomics: Iterable[Any] = (),
        counters: Iterable[Any] = (),
    ) -> None:
        self.reads = _regions("reads", reads)
        self.writes = _regions("writes", writes)
        self.atomics = _regions("atomics", atomics)
        self.counters = _regions("counters", counters)

    def __repr__(self) -> str:
        return (
            f"Access(reads={self.reads}, writes={self.writes}, atomics={self.atomics},"
            f" counters={self.counters})"
        )


def _regions(name: str, memory: Iterable[Any]) -> tuple[Region, ...]:
    return tuple(_region(f"{name}[{index}]", each) for index, each in enumerate(memory))


def _region(name: str, memory: Any) -> Region:
    if isinstance(memory, Region):
        return memory
    if isinstance(memory, PinnedBuffer):
        return Region(memory.address, memory.nbytes)
    if isinstance(memory, tuple):
        address, nbytes = memory
        return Region(address, nbytes)
    return _strided(as_array_view(memory, name))


def _strided(view: ArrayView) -> Region:
    """Return the rows of a matrix with gaps, and one stretch around anything more complicated."""
    size = view.dtype.itemsize
    if view.strides_bytes is None or view.is_contiguous:
        return Region(view.address, view.nbytes)
    shape, strides = view.shape, view.strides_bytes
    if len(shape) == 2 and strides[1] == size and strides[0] >= shape[1] * size:
        return Region(view.address, shape[1] * size, shape[0], strides[0])
    below, above = reach(shape, strides)
    return Region(view.address + below, above - below + size)


def reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return how far the first bytes of elements lie below and above the address."""
    ends = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
