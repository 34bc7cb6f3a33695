"""The local provider: atomic operations of the host."""

import ctypes

import numpy as np
from helpers import pes
from helpers.pes import INVALID, Pe

INTEGERS = {
    "int": ctypes.c_int,
    "long": ctypes.c_long,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "size": ctypes.c_size_t,
    "ptrdiff": ctypes.c_ssize_t,
}
ROUNDS = 25


def count_together(pe: Pe):
    pe.init()
    words = pe.out("hgs_calloc", 2 * len(INTEGERS), 8)
    before = []
    for i, (name, kind) in enumerate(INTEGERS.items()):
        for _ in range(ROUNDS):
            pe.ok(f"hgs_{name}_atomic_add", words + 16 * i, kind(pe.pe + 1), 0)
            pe.ok(f"hgs_{name}_atomic_inc", words + 16 * i, 0)
            last = pe.n_pes - 1
            args = words + 16 * i + 8, kind(1), last
            before.append(pe.out(f"hgs_{name}_atomic_fetch_add", *args, kind=kind))
    pe.barrier()
    sums = [
        pe.out(f"hgs_{name}_atomic_fetch", words + 16 * i, 0, kind=kind)
        for i, (name, kind) in enumerate(INTEGERS.items())
    ]
    pe.ok("hgs_finalize")
    return sums, before


def test_sums_of_four_pes_are_exact():
    seen = pes.values(pes.run(count_together, 4, timeout=180))
    assert {sum_ for sums, _ in seen for sum_ in sums} == {ROUNDS * (1 + 2 + 3 + 4 + 4)}
    for i in range(len(INTEGERS)):
        tickets = [n for _, before in seen for n in before[i * ROUNDS : (i + 1) * ROUNDS]]
        assert sorted(tickets) == list(range(4 * ROUNDS))


def every_operation(pe: Pe):
    pe.init()
    word = pe.out("hgs_calloc", 1, 8)
    for name, kind in INTEGERS.items():

        def fetch(operation, *arguments, name=name, kind=kind):
            return pe.out(f"hgs_{name}_atomic_{operation}", word, *arguments, 0, kind=kind)

        pe.ok(f"hgs_{name}_atomic_set", word, kind(40), 0)
        assert fetch("fetch") == 40
        assert fetch("swap", kind(41)) == 40
        assert fetch("compare_swap", kind(7), kind(9)) == 41
        assert fetch("compare_swap", kind(41), kind(-1)) == 41
        assert fetch("fetch") == kind(-1).value
        assert fetch("fetch_inc") == kind(-1).value
        assert fetch("fetch_add", kind(12)) == 0
        assert fetch("fetch") == 12
        if name.startswith("uint"):
            assert fetch("fetch_and", kind(10)) == 12
            assert fetch("fetch_or", kind(3)) == 8
            assert fetch("fetch_xor", kind(6)) == 11
            pe.ok(f"hgs_{name}_atomic_and", word, kind(9), 0)
            pe.ok(f"hgs_{name}_atomic_or", word, kind(32), 0)
            pe.ok(f"hgs_{name}_atomic_xor", word, kind(1), 0)
            assert fetch("fetch") == 40
    for name, kind in (("float", ctypes.c_float), ("double", ctypes.c_double)):
        pe.ok(f"hgs_{name}_atomic_set", word, kind(1.5), 0)
        assert pe.out(f"hgs_{name}_atomic_swap", word, kind(-2.25), 0, kind=kind) == 1.5
        assert pe.out(f"hgs_{name}_atomic_fetch", word, 0, kind=kind) == -2.25
    pe.ok("hgs_longlong_atomic_set", word, 1 << 40, 0)
    pe.ok("hgs_longlong_atomic_add", word, 5, 0)
    pe.ok("hgs_longlong_atomic_inc", word, 0)
    assert pe.read(word, 1, np.int64)[0] == (1 << 40) + 6
    refused = [
        pe.error("hgs_int_atomic_add", word, 1, 1),
        pe.error("hgs_int_atomic_add", word + 2, 1, 0),
        pe.error("hgs_int_atomic_add", 64, 1, 0),
        pe.error("hgs_int_atomic_fetch", word, 0, None),
    ]
    pe.ok("hgs_finalize")
    return refused


def test_every_operation_does_what_its_name_says():
    (refused,) = pes.values(pes.run(every_operation, 1))
    assert [status for status, _ in refused] == [INVALID] * 4
    words = [
        "pe is 1",
        "align it to 4 bytes",
        "not inside this PE's symmetric heap",
        "result is null",
    ]
    for (_, text), word in zip(refused, words, strict=True):
        assert word in text
