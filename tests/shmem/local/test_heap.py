"""The local provider: the symmetric heap and its collective calls."""

import ctypes

import numpy as np
from helpers import hip_ctypes, pes
from helpers.pes import INVALID, MISMATCH, NO_MEMORY, OK, Pe
from hypothesis import given, settings
from hypothesis import strategies as st

ALIGNMENT = 256
HEAP = 16 * 4096


class Model:
    """First fit by brute force: which aligned unit belongs to whom."""

    def __init__(self, units: int) -> None:
        self.owners: list[int | None] = [None] * units
        self.serial = 0

    def allocate(self, nbytes: int, alignment: int) -> int | None:
        count, step = -(-nbytes // ALIGNMENT), max(alignment // ALIGNMENT, 1)
        for begin in range(0, len(self.owners) - count + 1, step):
            if all(owner is None for owner in self.owners[begin : begin + count]):
                self.serial += 1
                self.owners[begin : begin + count] = [self.serial] * count
                return begin * ALIGNMENT
        return None

    def free(self, offset: int) -> None:
        owner = self.owners[offset // ALIGNMENT]
        self.owners = [None if each == owner else each for each in self.owners]


STEP = st.one_of(
    st.tuples(st.just("malloc"), st.integers(1, 24 * 1024), st.sampled_from([8, 256, 1024, 4096])),
    st.tuples(st.just("free"), st.integers(0, 30), st.just(0)),
)


def follow_the_model(pe: Pe):
    pe.ok("hgs_init", 0, 1, None, HEAP, ctypes.c_double(5))
    base = pe.malloc(1)
    assert base % 4096 == 0
    pe.ok("hgs_free", base)

    @settings(max_examples=200, deadline=None, database=None, derandomize=True)
    @given(st.lists(STEP, max_size=60))
    def check(steps):
        model, live = Model(HEAP // ALIGNMENT), []
        for kind, number, alignment in steps:
            if kind == "malloc":
                address = ctypes.c_uint64()
                status = pe.code("hgs_align", alignment, number, ctypes.byref(address))
                offset = model.allocate(number, alignment)
                assert status == (NO_MEMORY if offset is None else OK)
                if offset is not None:
                    assert address.value - base == offset
                    live.append(address.value)
            elif live:
                address = live.pop(number % len(live))
                model.free(address - base)
                pe.ok("hgs_free", address)
        for address in live:
            pe.ok("hgs_free", address)
        whole = pe.malloc(HEAP)
        assert whole == base
        pe.ok("hgs_free", whole)

    check()


def test_the_allocator_places_as_a_brute_force_first_fit():
    pes.values(pes.run(follow_the_model, 1, timeout=240))


def same_offsets(pe: Pe):
    pe.init()
    sizes = [100, 3000, 256, 1, 70000]
    addresses = [pe.malloc(size) for size in sizes]
    pe.ok("hgs_free", addresses[1])
    addresses.append(pe.out("hgs_align", 4096, 10))
    addresses.append(pe.malloc(2000))
    theirs = [pe.out("hgs_ptr", addresses[0] + 5, peer) for peer in range(pe.n_pes)]
    assert theirs[pe.pe] == addresses[0] + 5
    outside = [
        pe.out("hgs_ptr", place, 0)
        for place in (addresses[0] - 1, addresses[0] + pes.HEAP_BYTES, 0, 12345)
    ]
    assert outside == [0] * 4
    status, text = pe.error("hgs_ptr", addresses[0], pe.n_pes, ctypes.byref(ctypes.c_uint64()))
    assert (status, text) == (INVALID, f"pe is {pe.n_pes}: pass 0 to {pe.n_pes - 1}")
    if pe.pe == 0:
        for peer, place in enumerate(theirs):
            pe.write(place, np.full(4, 40 + peer, np.uint8))
    pe.barrier()
    assert set(pe.read(addresses[0] + 5, 4, np.uint8)) == {40 + pe.pe}
    pe.ok("hgs_finalize")
    return [address - addresses[0] for address in addresses]


def test_every_pe_gets_the_same_offsets_and_reaches_the_others():
    offsets = pes.values(pes.run(same_offsets, 3))
    assert offsets[0] == offsets[1] == offsets[2]


def special_sizes(pe: Pe):
    pe.init()
    address = ctypes.c_uint64(1)
    for name, *arguments in (
        ("hgs_malloc", 0),
        ("hgs_calloc", 0, 8),
        ("hgs_calloc", 8, 0),
        ("hgs_align", 64, 0),
    ):
        pe.ok(name, *arguments, ctypes.byref(address))
        assert address.value == 0
    pe.ok("hgs_free", 0)
    dirty = pe.malloc(8192)
    pe.write(dirty, np.full(8192, 7, np.uint8))
    pe.ok("hgs_free", dirty)
    clean = pe.out("hgs_calloc", 1024, 8)
    assert clean == dirty
    assert not pe.read(clean, 8192, np.uint8).any()
    too_large = [
        pe.error("hgs_malloc", 2 * pes.HEAP_BYTES, ctypes.byref(address)),
        pe.error("hgs_calloc", 1 << 40, 1 << 40, ctypes.byref(address)),
        pe.error("hgs_align", 3, 64, ctypes.byref(address)),
        pe.error("hgs_align", 8192, 64, ctypes.byref(address)),
    ]
    assert pe.malloc(64) == clean + 8192
    pe.ok("hgs_finalize")
    return too_large


def test_no_bytes_zeroed_bytes_and_too_many():
    for seen in pes.values(pes.run(special_sizes, 2)):
        assert [status for status, _ in seen] == [NO_MEMORY, NO_MEMORY, INVALID, INVALID]
        assert seen[0][1] == (
            "hgs_malloc(bytes=2097152): the symmetric heap of every PE has 1040384 bytes free, "
            "1040384 of them in one piece, of 1048576: free some, or pass a larger heap_bytes"
        )
        assert "alignment is 3: pass a power of two, at most 4096" in seen[2][1]


def differ(pe: Pe):
    pe.init()
    address = ctypes.c_uint64()
    first, second = pe.malloc(512), pe.malloc(512)
    seen = [
        pe.error("hgs_malloc", 64 + pe.pe, ctypes.byref(address)),
        pe.error("hgs_malloc", 64, ctypes.byref(address)) if pe.pe else pe.error("hgs_barrier_all"),
        pe.error("hgs_free", second if pe.pe else first),
        pe.error("hgs_free", first + 16 if pe.pe else first),
        pe.error("hgs_free", 4096),
    ]
    # Nothing happened: the PEs go on in step.
    pe.ok("hgs_free", first)
    pe.ok("hgs_free", second)
    assert pe.malloc(pes.HEAP_BYTES) == first
    pe.ok("hgs_finalize")
    return seen


def test_what_differs_is_told_to_every_pe_with_all_values():
    for pe, seen in enumerate(pes.values(pes.run(differ, 2))):
        statuses = [status for status, _ in seen]
        assert statuses == [MISMATCH, MISMATCH, MISMATCH, INVALID, INVALID]
        assert seen[0][1].endswith(
            "; PE 0: hgs_malloc(bytes=64); PE 1: hgs_malloc(bytes=65)",
        )
        assert seen[1][1].endswith(
            "; PE 0: hgs_barrier_all(team of PEs 0, 1); PE 1: hgs_malloc(bytes=64)"
        )
        assert "not the begin of live symmetric memory" in seen[3][1]
        assert seen[3][1].startswith("address is" if pe else "on PE 1: address is")


def allocate_while_capturing(pe: Pe):
    pe.init()
    stream = hip_ctypes.stream()
    hip_ctypes.begin(stream, hip_ctypes.GLOBAL)
    hip_ctypes.in_thread(lambda: pe.ok("hgs_free", pe.out("hgs_calloc", 64, 8)))
    pe.ok("hgs_free", pe.malloc(64))
    hip_ctypes.end(stream)
    pe.ok("hgs_finalize")


def test_collective_calls_disturb_no_capture():
    pes.values(pes.run(allocate_while_capturing, 2))


def initialise_while_capturing(pe: Pe):
    stream = hip_ctypes.stream()
    hip_ctypes.begin(stream, hip_ctypes.GLOBAL)
    hip_ctypes.in_thread(lambda: (pe.init(), pe.barrier(), pe.ok("hgs_finalize")))
    hip_ctypes.end(stream)


def test_a_world_begins_and_ends_beside_a_capture():
    pes.values(pes.run(initialise_while_capturing, 2))
