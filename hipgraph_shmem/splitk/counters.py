"""The split-K counters and workspaces of a device: who may use which words, and when.

Eager launches of one stream share a slot, because the stream orders them. Recorded launches lease
theirs (see recorded.py). Nothing here comes from memory that anyone else recycles.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..captures import refuse_blocking
from ..devices import device_info
from ..errors import CounterPoolError, DirtyCounterError, HipError
from ..graph.retired import drain_retired, retire
from ..hip_abi import MemcpyKind
from ..memory import Buffer
from ..runtime import call, relaxed, state
from ..stream import Event, Stream, as_stream
from .arena import ALIGNMENT, Arena, Lease
from .work import WORD

__all__ = ["CounterPool", "PoolUsage", "Scratch", "check", "pool_of", "reserve", "usage"]

#: Counters: one word a tile, so this is thousands of launches.
_COUNTER_CHUNK = 1 << 20
_WORKSPACE_CHUNK = 16 << 20


@dataclass(frozen=True, slots=True)
class Scratch:
    """Addresses that one launch may use; 0 where it needs none."""

    counters: int
    workspace: int


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """What the pool of a device holds, in bytes.

    Attributes:
        counter_capacity: Obtained from the device for counters.
        counter_in_use: Leased to streams, graphs and graph execs.
        workspace_capacity: Obtained from the device for partials.
        workspace_in_use: Leased.
    """

    counter_capacity: int
    counter_in_use: int
    workspace_capacity: int
    workspace_in_use: int


class _EagerSlot:
    """What the eager launches of one stream use, one after the other."""

    def __init__(self, device: int) -> None:
        self.event = Event(device)
        self.dirty = True
        self.counters: Lease | None = None
        self.workspace: Lease | None = None

    def fit(self, pool: CounterPool, stream: int, counter_bytes: int, workspace_bytes: int) -> None:
        """Take larger memory where the launch needs it; what is in flight keeps the old."""
        if counter_bytes > _size(self.counters):
            _retire(pool, stream, self.counters)
            self.counters, self.dirty = pool.counters.take(counter_bytes), True
        if workspace_bytes > _size(self.workspace):
            _retire(pool, stream, self.workspace)
            self.workspace = pool.workspace.take(workspace_bytes)


class CounterPool:
    """Counters and workspaces of one device.

    Attributes:
        device: The device.
        counters: Ranges of counter words.
        workspace: Ranges for partials.
    """

    def __init__(self, device: int) -> None:
        """Make an empty pool; nothing is allocated before the first use."""
        self.device = device_info(device).ordinal
        self.counters = Arena(self._allocate_zeros, _COUNTER_CHUNK)
        self.workspace = Arena(self._allocate, _WORKSPACE_CHUNK)
        self._lock = threading.RLock()
        self._slots: dict[int, _EagerSlot] = {}
        self._failures = state.device_failures
        self._error: Buffer | None = None

    @property
    def error_word(self) -> int:
        """Address of the word in which kernels report a dirty counter."""
        with self._lock:
            if self._error is None:
                self._error = self._allocate_zeros(ALIGNMENT)
            return self._error.address

    @contextlib.contextmanager
    def eager(self, stream: int, counter_words: int, workspace_bytes: int) -> Iterator[Scratch]:
        """Give the launches in the block the scratch memory of their stream, counters zero."""
        with self._lock:
            slot = self._slot(stream)
            # A handle may have been recycled: what the slot's last user left in flight comes
            # first, whichever stream that was. (An event never recorded is not waited for.)
            call("hipStreamWaitEvent", stream, slot.event.handle, 0)
            slot.fit(self, stream, counter_words * WORD, workspace_bytes)
            if slot.dirty and slot.counters is not None:
                words = slot.counters.nbytes // WORD
                call("hipMemsetD32Async", slot.counters.address, 0, words, stream)
            slot.dirty = True
            try:
                yield Scratch(_address(slot.counters), _address(slot.workspace))
                slot.dirty = False
            finally:
                slot.event.record(stream)

    def distrust(self) -> None:
        """Zero every stream's counters before their next use."""
        with self._lock:
            for slot in self._slots.values():
                slot.dirty = True

    def _slot(self, stream: int) -> _EagerSlot:
        if self._failures != state.device_failures:
            self._failures = state.device_failures
            self.distrust()
        if stream not in self._slots:
            drain_retired()
            self._slots[stream] = self._idle_slot() or _EagerSlot(self.device)
        return self._slots[stream]

    def _idle_slot(self) -> _EagerSlot | None:
        """Take the slot of a stream that has nothing in flight: streams come and go."""
        for stream, slot in self._slots.items():
            with relaxed(), contextlib.suppress(HipError):
                if slot.event.query():
                    return self._slots.pop(stream)
        return None

    def _allocate_zeros(self, nbytes: int) -> Buffer:
        try:
            memory = self._allocate(nbytes)
        except HipError as error:
            raise CounterPoolError(
                self.counters.capacity // ALIGNMENT,
                self.counters.in_use // ALIGNMENT,
                nbytes // ALIGNMENT,
                "reserve them before the capture: hipgraph_shmem.splitk.reserve(counter_words=...)"
                f" (the device said {error.name})",
            ) from error
        # The error word must be zero, and a stray launch had better find clean counters.
        with relaxed(), Stream(self.device) as stream:
            memory.fill(0, stream, width=WORD)
            call("hipStreamSynchronize", stream.handle)
        return memory

    def _allocate(self, nbytes: int) -> Buffer:
        with relaxed():
            return Buffer(nbytes, device=self.device)


def pool_of(device: int) -> CounterPool:
    """Return the pool of a device, made at the first use."""
    key = (CounterPool, device)
    with state.lock:
        if key not in state.shared:
            state.shared[key] = CounterPool(device)
        pool: CounterPool = state.shared[key]
    return pool


def reserve(device: int = 0, *, counter_words: int = 0, workspace_bytes: int = 0) -> None:
    """Get device memory now, so that captures find it.

    Args:
        device: Where.
        counter_words: Words that one graph's launches use together, one a tile.
        workspace_bytes: Bytes of the largest launch's partials.
    """
    pool = pool_of(device)
    pool.counters.reserve(counter_words * WORD)
    pool.workspace.reserve(workspace_bytes)


def usage(device: int = 0) -> PoolUsage:
    """Tell what the pool of a device holds."""
    drain_retired()
    pool = pool_of(device)
    return PoolUsage(
        counter_capacity=pool.counters.capacity,
        counter_in_use=pool.counters.in_use,
        workspace_capacity=pool.workspace.capacity,
        workspace_in_use=pool.workspace.in_use,
    )


def check(stream: Any) -> None:
    """Wait for a stream, then raise if a split-K launch of its device found a dirty counter.

    Args:
        stream: A Stream, a raw handle or an object with `__cuda_stream__`.

    Raises:
        DirtyCounterError: A counter was not zero at launch: another writer, or an overlap.
    """
    waited = Stream.borrow(as_stream(stream))
    pool = pool_of(waited.device)
    found = ctypes.c_uint32()
    refuse_blocking("hipStreamSynchronize", waited.handle, "check after the capture")
    address = ctypes.addressof(found)
    copy = (address, pool.error_word, WORD, MemcpyKind.DEVICE_TO_HOST, waited.handle)
    call("hipMemcpyAsync", *copy)
    with relaxed():
        call("hipStreamSynchronize", waited.handle)
    if found.value:
        call("hipMemsetD32Async", pool.error_word, 0, 1, waited.handle)
        pool.distrust()
        raise DirtyCounterError(
            pool.device,
            "the results since the last check are not to be trusted: look for a launch that"
            " writes outside its buffers",
        )


def _retire(pool: CounterPool, stream: int, lease: Lease | None) -> None:
    if lease is not None:
        event = Event(pool.device)
        event.record(stream)
        retire(event, lease)


def _size(lease: Lease | None) -> int:
    return lease.nbytes if lease is not None else 0


def _address(lease: Lease | None) -> int:
    return lease.address if lease is not None else 0
