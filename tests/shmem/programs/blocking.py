"""Blocking copies, atomics, teams and raw addresses, each against NumPy."""

import numpy as np

from hipgraph_shmem import Buffer, Stream, shmem
from hipgraph_shmem.shmem import atomics, on_stream

WORDS = 300
ADDS = 50


def copies(stream):
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    after, before = (pe + 1) % n_pes, (pe - 1) % n_pes
    target = shmem.zeros((3, 100), np.int32)
    with Buffer((3, 100), np.int32) as local:
        local.copy_from(np.arange(WORDS, dtype=np.int32).reshape(3, 100) * (pe + 1), stream)
        stream.synchronize()
        shmem.put(target, local, after)
        shmem.barrier()
        expected = np.arange(WORDS, dtype=np.int32).reshape(3, 100) * (before + 1)
        np.testing.assert_array_equal(target.to_numpy(stream), expected)
        local.fill(0, stream)
        stream.synchronize()
        shmem.get(local, target, after)
        twice = np.arange(WORDS, dtype=np.int32).reshape(3, 100) * (pe + 1)
        np.testing.assert_array_equal(local.to_numpy(stream), twice)
        shmem.barrier()
        # One row by address: row 0 of this PE becomes row 2 of the next.
        shmem.put(target[2].address, local.address, after, nbytes=400)
        shmem.fence()
        shmem.quiet()
        shmem.barrier()
        np.testing.assert_array_equal(target[2].to_numpy(stream), np.arange(100) * (before + 1))
    shmem.barrier()
    target.free()


def counting(stream):
    n_pes = shmem.n_pes()
    words = {kind: shmem.zeros(4, kind) for kind in ("i4", "i8", "u4", "u8", "f4", "f8")}
    for kind in ("i4", "i8", "u4", "u8"):
        for _ in range(ADDS):
            atomics.add(words[kind][1], 3, 0)
            atomics.inc(words[kind][1], 0)
    shmem.barrier()
    for kind in ("i4", "i8", "u4", "u8"):
        assert atomics.fetch(words[kind][1], 0) == 4 * ADDS * n_pes
        assert words[kind].to_numpy(stream)[[0, 2, 3]].tolist() == [0, 0, 0]
    shmem.barrier()
    if shmem.my_pe() == n_pes - 1:
        for kind in ("f4", "f8"):
            atomics.set_(words[kind][2], 1.5, 0)
            assert atomics.swap(words[kind][2], -2.25, 0) == 1.5
            assert atomics.fetch(words[kind][2], 0) == -2.25
        for kind in ("u4", "u8"):
            word = words[kind][3]
            atomics.set_(word, 0b1100, 0)
            assert atomics.fetch_or(word, 0b0011, 0) == 0b1100
            assert atomics.fetch_and(word, 0b0110, 0) == 0b1111
            assert atomics.fetch_xor(word, 0b1111, 0) == 0b0110
            atomics.or_(word, 0b10000, 0)
            atomics.and_(word, 0b11000, 0)
            atomics.xor(word, 0b1, 0)
            assert atomics.fetch_inc(word, 0) == 0b11001
            assert atomics.compare_swap(word, 1, 5, 0) == 0b11010
            assert atomics.compare_swap(word, 0b11010, 5, 0) == 0b11010
            assert atomics.fetch_add(word, 2, 0) == 5
            assert atomics.fetch(word, 0) == 7
    shmem.barrier()
    for array in words.values():
        array.free()


def teams(stream):
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    world = shmem.team_world()
    assert (world.my_pe, world.n_pes) == (pe, n_pes)
    odd = world.split_strided(1, 2, n_pes // 2) if n_pes > 1 else None
    assert (odd is not None) == bool(pe % 2)
    if odd is not None:
        # PE 0 is busy elsewhere: it takes no part in the team's barriers.
        assert (odd.my_pe, odd.n_pes) == (pe // 2, n_pes // 2)
        assert odd.translate(odd.my_pe) == pe
        shmem.barrier(odd)
        on_stream.barrier(stream, odd)
        stream.synchronize()
    if n_pes == 4:
        row, column = world.split_2d(2)
        assert (row.my_pe, row.n_pes, column.my_pe, column.n_pes) == (pe % 2, 2, pe // 2, 2)
        assert row.translate(0, column) == (None if pe % 2 else pe // 2)
        total = shmem.zeros(8, np.int32)
        total.copy_from(np.full(8, pe, np.int32), stream)
        on_stream.reduce(total, total, shmem.Reduction.SUM, stream, column)
        assert total.to_numpy(stream).tolist() == 8 * [pe % 2 + pe % 2 + 2]
        shmem.barrier()
        total.free()
        row.destroy()
        column.destroy()
    if odd is not None:
        odd.destroy()


def main():
    shmem.init()
    with Stream() as stream:
        copies(stream)
        counting(stream)
        teams(stream)
    assert not shmem.finalize(strict=True)


main()
