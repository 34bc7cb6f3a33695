"""Leases never overlap, end with their last holder, and leave nothing behind."""

from __future__ import annotations

import gc
import itertools
import random
import weakref
from dataclasses import dataclass

import pytest

from hipgraph_shmem.splitk.arena import ALIGNMENT, Arena, Lease


@dataclass(frozen=True)
class Chunk:
    address: int
    nbytes: int


class Device:
    """Address space whose allocations touch each other, the worst case for merging."""

    def __init__(self) -> None:
        self.next = 1 << 20
        self.chunks: list[Chunk] = []

    def allocate(self, nbytes: int) -> Chunk:
        chunk = Chunk(self.next, nbytes)
        self.next += nbytes
        self.chunks.append(chunk)
        return chunk

    def holds(self, lease: Lease) -> bool:
        """Whether the range lies in one allocation."""
        end = lease.address + lease.nbytes
        return any(
            chunk.address <= lease.address and end <= chunk.address + chunk.nbytes
            for chunk in self.chunks
        )


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def arena(device: Device) -> Arena:
    return Arena(device.allocate, 1 << 14)


def test_ranges_are_aligned_and_apart(arena: Arena) -> None:
    leases = [arena.take(size) for size in (1, 255, 256, 257, 4096)]
    assert all(lease.address % ALIGNMENT == 0 for lease in leases)
    spans = sorted((lease.address, lease.nbytes) for lease in leases)
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(spans))


def test_a_lease_ends_with_its_last_holder(arena: Arena) -> None:
    lease = arena.take(1000)
    other = lease
    address = lease.address
    del lease
    assert arena.in_use == 1024
    del other
    assert arena.in_use == 0
    assert arena.take(1000).address == address


def test_extend_takes_only_what_is_free_behind(arena: Arena) -> None:
    first = arena.take(256)
    assert arena.extend(first, 256)
    assert first.nbytes == 512
    second = arena.take(256)
    assert second.address == first.address + 512
    assert not arena.extend(first, 1)


def test_spare_is_taken_and_trimmed(arena: Arena) -> None:
    lease = arena.take(256, spare=4096)
    assert lease.nbytes == 256 + 4096
    arena.trim(lease, 300)
    assert (lease.nbytes, arena.in_use) == (512, 512)


def test_reserve_makes_the_next_lease_free_of_allocation(arena: Arena, device: Device) -> None:
    arena.reserve(1 << 16)
    before = list(device.chunks)
    lease = arena.take(1 << 16)
    assert device.chunks == before
    assert device.holds(lease)


def test_an_allocation_lasts_as_long_as_a_lease_in_it() -> None:
    arena = Arena(lambda nbytes: Chunk(1 << 20, nbytes), 1 << 14)
    lease = arena.take(256)
    chunk = weakref.ref(lease._span.allocation)
    del arena
    gc.collect()
    assert chunk() is not None
    del lease
    gc.collect()
    assert chunk() is None


def test_refused_memory_changes_nothing(arena: Arena) -> None:
    def refuse(nbytes: int) -> Chunk:
        raise MemoryError(nbytes)

    full = Arena(refuse, 1 << 14)
    with pytest.raises(MemoryError):
        full.take(1)
    assert (full.capacity, full.in_use) == (0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_use(arena: Arena, device: Device, seed: int) -> None:
    chance = random.Random(seed)
    live: list[Lease] = []
    for _ in range(3000):
        act = chance.choice(("take", "drop", "extend", "trim"))
        if act == "take" or not live:
            live.append(arena.take(chance.randint(1, 5000), spare=chance.choice((0, 3000))))
        elif act == "drop":
            live.pop(chance.randrange(len(live)))
        elif act == "extend":
            arena.extend(chance.choice(live), chance.randint(1, 2000))
        else:
            place = chance.randrange(len(live))
            arena.trim(live[place], chance.randint(1, live[place].nbytes))
        if live:
            assert device.holds(live[-1])
    spans = sorted((lease.address, lease.nbytes) for lease in live)
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(spans))
    assert arena.in_use == sum(size for _, size in spans)
    live.clear()
    assert arena.in_use == 0
