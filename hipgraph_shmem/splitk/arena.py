"""Device memory handed out in ranges and taken back when their last holder is gone."""

from __future__ import annotations

import collections
import threading
import weakref
from collections.abc import Callable
from typing import Protocol

#: Ranges start at multiples of this, so that two launches never share a cache line.
ALIGNMENT = 256


class Memory(Protocol):
    """One device allocation; it ends with its last holder."""

    @property
    def address(self) -> int:
        """The first address."""


class Span:
    """A range of one device allocation; its end moves when a lease is extended or trimmed."""

    __slots__ = ("address", "allocation", "nbytes")

    def __init__(self, allocation: Memory, address: int, nbytes: int) -> None:
        self.allocation = allocation
        self.address = address
        self.nbytes = nbytes

    @property
    def end(self) -> int:
        """The address behind the last byte."""
        return self.address + self.nbytes


class Lease:
    """A range that belongs to whoever holds this object, until nobody does."""

    __slots__ = ("__weakref__", "_span")

    def __init__(self, span: Span, give_back: Callable[[Span], None]) -> None:
        self._span = span
        weakref.finalize(self, give_back, span).atexit = False

    @property
    def address(self) -> int:
        """The first address."""
        return self._span.address

    @property
    def nbytes(self) -> int:
        """Bytes in the range."""
        return self._span.nbytes


class Arena:
    """Ranges of large device allocations: first fit, neighbours merged.

    An allocation lasts as long as the arena or a lease in it.
    A lease ends in a finaliser, which may run while this very object is busy, so a finaliser only
    appends to a queue; the free list is brought up to date by the next caller.
    """

    def __init__(self, allocate: Callable[[int], Memory], chunk_bytes: int) -> None:
        """Make an empty arena.

        Args:
            allocate: Returns that many bytes of new device memory, or raises.
            chunk_bytes: Bytes asked from `allocate` at a time, more for a larger range.
        """
        self._allocate = allocate
        self._chunk_bytes = chunk_bytes
        self._lock = threading.RLock()
        self._returned: collections.deque[Span] = collections.deque()
        self._free: list[Span] = []
        self._capacity = 0

    @property
    def capacity(self) -> int:
        """Bytes obtained from the device."""
        return self._capacity

    @property
    def in_use(self) -> int:
        """Bytes leased."""
        with self._lock:
            self._collect()
            return self._capacity - sum(span.nbytes for span in self._free)

    def reserve(self, nbytes: int) -> None:
        """Grow until one free range holds `nbytes`."""
        with self._lock:
            self._collect()
            self._find(_align(nbytes))

    def take(self, nbytes: int, *, spare: int = 0) -> Lease:
        """Lease `nbytes`, and up to `spare` more where they are free behind it."""
        wanted = _align(nbytes)
        with self._lock:
            self._collect()
            place = self._find(wanted, wanted + _align(spare))
            free = self._free[place]
            nbytes = min(free.nbytes, wanted + _align(spare))
            span = Span(free.allocation, free.address, nbytes)
            self._cut(place, span.nbytes)
            return Lease(span, self._returned.append)

    def extend(self, lease: Lease, nbytes: int) -> bool:
        """Add `nbytes` to the end of a lease if they are free there."""
        wanted = _align(nbytes)
        with self._lock:
            self._collect()
            for place, free in enumerate(self._free):
                if _follows(lease._span, free) and free.nbytes >= wanted:
                    self._cut(place, wanted)
                    lease._span.nbytes += wanted
                    return True
            return False

    def trim(self, lease: Lease, nbytes: int) -> None:
        """Give back what is behind the first `nbytes` of a lease."""
        kept = _align(nbytes)
        with self._lock:
            span = lease._span
            if kept < span.nbytes:
                rest = Span(span.allocation, span.address + kept, span.nbytes - kept)
                self._returned.append(rest)
                span.nbytes = kept

    def _find(self, wanted: int, better: int = 0) -> int:
        """Return the place of a free range of `better` bytes, else of `wanted`, else a new one."""
        for enough in (max(better, wanted), wanted):
            for place, free in enumerate(self._free):
                if free.nbytes >= enough:
                    return place
        nbytes = max(wanted, self._chunk_bytes)
        memory = self._allocate(nbytes)
        self._free.append(Span(memory, memory.address, nbytes))
        self._capacity += nbytes
        return len(self._free) - 1

    def _cut(self, place: int, nbytes: int) -> None:
        free = self._free[place]
        free.address += nbytes
        free.nbytes -= nbytes
        if not free.nbytes:
            del self._free[place]

    def _collect(self) -> None:
        """Put returned ranges into the free list and merge neighbours of one allocation."""
        while self._returned:
            self._free.append(self._returned.popleft())
        self._free.sort(key=lambda span: span.address)
        merged: list[Span] = []
        for span in self._free:
            if merged and _follows(merged[-1], span):
                merged[-1].nbytes += span.nbytes
            else:
                merged.append(span)
        self._free = merged


def _align(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _follows(span: Span, other: Span) -> bool:
    return span.allocation is other.allocation and span.end == other.address
