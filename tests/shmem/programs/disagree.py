"""Collective calls that differ between the PEs: an error on each, and nothing has happened."""

import numpy as np

from hipgraph_shmem import Stream, shmem
from hipgraph_shmem.errors import CollectiveMismatchError, SymmetricMemoryError


def mismatch(function, *args):
    try:
        function(*args)
    except CollectiveMismatchError as error:
        return str(error)
    raise AssertionError(f"{function} raised nothing")


def main():
    shmem.init()
    pe = shmem.my_pe()
    first = shmem.empty(256, np.int32)
    text = mismatch(shmem.empty, 100 + 100 * pe)
    assert all(str(100 + 100 * other) in text for other in range(shmem.n_pes())), text
    second = shmem.zeros(256, np.int32)
    mismatch((first if pe else second).free)
    mismatch(shmem.zeros if pe else shmem.empty, 64)
    try:
        shmem.empty(1 << 40)
    except SymmetricMemoryError as error:
        assert str(1 << 40) in str(error)
    else:
        raise AssertionError("a terabyte was given")
    # All is as before: the arrays work, and all PEs have them at one place.
    with Stream() as stream:
        second.copy_from(np.full(256, pe, np.int32), stream)
        stream.synchronize()
        shmem.barrier()
        for other in range(shmem.n_pes()):
            assert np.all(second.peer(other).to_numpy(stream) == other)
        shmem.barrier()
    first.free()
    second.free()
    assert not shmem.finalize(strict=True)


main()
