import numpy as np
import pytest
from helpers.pe_programs import check_program

from hipgraph_shmem.shmem import Reduction, on_stream


@pytest.mark.parametrize("n_pes", [1, 2, 3, 4])
@pytest.mark.parametrize("operation", ["alltoall", "broadcast", "reduce"])
def test_a_collective_replays_with_fresh_inputs(operation, n_pes):
    check_program(n_pes, "replays", operation)


def test_numbers_are_those_of_rocshmem():
    assert {each.name: each.value for each in Reduction} == {
        "SUM": 0, "MAX": 1, "MIN": 2, "PROD": 3,
    }  # fmt: skip


def test_bad_arguments_are_named(alone, stream):
    x, y, z = alone.zeros(8, "f4"), alone.zeros(8, "f4"), alone.zeros(8, "i2")
    with pytest.raises(ValueError, match="must be equal"):
        on_stream.reduce(x, y[:4], Reduction.SUM, stream)
    with pytest.raises(TypeError, match="target is int16: a reduction takes arrays of float32"):
        on_stream.reduce(z, z, Reduction.SUM, stream)
    with pytest.raises(TypeError, match=r"operation=0: give one of Reduction\.SUM"):
        on_stream.reduce(x, y, 0, stream)
    with pytest.raises(ValueError, match="root=1: the team has 1 PEs"):
        on_stream.broadcast(x, y, 1, stream)
    with pytest.raises(TypeError, match="give the array"):
        on_stream.alltoall(x.address, y, stream)
    with pytest.raises(TypeError, match="team=3: give a Team"):
        on_stream.barrier(stream, 3)
    # Neither the same array nor apart: an element would be read after it was written.
    w = alone.zeros(12, "f4")
    with pytest.raises(ValueError, match="overlap"):
        on_stream.reduce(w[:8], w[4:], Reduction.SUM, stream)
    for array in (x, y, z, w):
        array.free()


def test_an_array_of_an_earlier_world_is_refused(device, stream):
    from hipgraph_shmem import shmem

    shmem.init(pe=0, n_pes=1, heap_bytes=1 << 20)
    old = shmem.zeros(4, np.int32)
    shmem.finalize()
    shmem.init(pe=0, n_pes=1, heap_bytes=1 << 20)
    with pytest.raises(ValueError, match="allocate anew"):
        on_stream.broadcast(old, old, 0, stream)
    shmem.finalize()
