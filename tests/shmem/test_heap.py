import gc

import ml_dtypes
import numpy as np
import pytest
from helpers.pe_programs import check_program

from hipgraph_shmem import CaptureError, CaptureMode, GraphError, capture
from hipgraph_shmem.array_view import foreign_view
from hipgraph_shmem.errors import SymmetricMemoryError
from hipgraph_shmem.memory import as_array_view


@pytest.mark.parametrize("n_pes", [2, 4])
def test_calls_that_differ_raise_on_every_pe_and_change_nothing(n_pes):
    check_program(n_pes, "disagree")


@pytest.mark.parametrize("n_pes", [1, 2])
def test_dropped_objects_are_reported_at_the_end(n_pes):
    check_program(n_pes, "orphans")


def test_an_array_has_shape_dtype_and_zeros(alone, stream):
    array = alone.zeros((3, 4), ml_dtypes.bfloat16)
    assert (array.shape, array.dtype, array.nbytes) == ((3, 4), ml_dtypes.bfloat16, 24)
    assert not array.to_numpy(stream).any()
    assert array.address % 16 == 0
    wanted = np.arange(12).reshape(3, 4).astype(ml_dtypes.bfloat16)
    array.copy_from(wanted, stream)
    np.testing.assert_array_equal(array.to_numpy(stream), wanted)
    array.free()


def test_parts_are_views_along_the_first_axis(alone, stream):
    array = alone.zeros((4, 5), np.int32)
    wanted = np.arange(20, dtype=np.int32).reshape(4, 5)
    array.copy_from(wanted, stream)
    for index in (0, 3, -1, slice(1, 3), slice(None), slice(2, 2), slice(-2, None)):
        np.testing.assert_array_equal(array[index].to_numpy(stream), wanted[index])
    assert array[2][1].to_numpy(stream) == 11
    with pytest.raises(IndexError, match="the first axis has 4"):
        array[4]
    with pytest.raises(ValueError, match="only step 1"):
        array[::2]
    with pytest.raises(IndexError, match="no axes"):
        array[0][0][0]
    array.free()


@pytest.mark.parametrize("alignment", [1, 64, 4096])
def test_alignment_is_kept(alone, alignment):
    first = alone.empty(3, alignment=alignment)
    second = alone.empty(3, alignment=alignment)
    assert first.address % alignment == second.address % alignment == 0
    first.free()
    second.free()


def test_other_libraries_read_it_where_it_is(alone):
    array = alone.zeros((2, 3), np.float64)
    for view in (as_array_view(array), foreign_view(_ByDlpack(array), "array"),
                 foreign_view(_ByInterface(array), "array")):  # fmt: skip
        assert (view.address, view.shape, view.dtype) == (array.address, (2, 3), np.float64)
    del view
    gc.collect()
    array.free()


class _ByDlpack:
    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


class _ByInterface:
    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_a_freed_array_is_of_no_use(alone, stream):
    array = alone.zeros(4, np.int32)
    part, peer = array[1:], array.peer(0)
    with capture(stream) as captured:
        array.fill(0, stream)
    with captured.graph.instantiate() as graph_exec:
        graph_exec.launch(stream)
        stream.synchronize()
        array.free()
        with pytest.raises(GraphError, match="named by a node"):
            graph_exec.launch(stream)
    for each in (array, part, peer):
        assert each.closed
        with pytest.raises(ValueError, match="its memory is gone"):
            each.to_numpy(stream)
    with pytest.raises(ValueError, match="its memory is gone"):
        array.free()


@pytest.mark.parametrize("mode", list(CaptureMode))
def test_collective_calls_in_a_capture_are_refused_and_it_survives(alone, stream, mode):
    array = alone.zeros(4, np.int32)
    with capture(stream, mode) as captured:
        array.fill(7, stream, width=4)
        for call in (lambda: alone.empty(4), lambda: alone.zeros(4), array.free, alone.barrier,
                     alone.finalize, lambda: alone.put(array, array, 0), alone.quiet,
                     lambda: alone.atomics.fetch(array[0], 0),
                     lambda: alone.team_world().split_strided(0, 1, 1)):  # fmt: skip
            with pytest.raises(CaptureError):
                call()
    with captured.graph.instantiate() as graph_exec:
        graph_exec.launch(stream)
        assert array.to_numpy(stream).tolist() == 4 * [7]
    array.free()


def test_no_room_and_bad_shapes_are_errors(alone):
    with pytest.raises(SymmetricMemoryError, match="1048577"):
        alone.empty((1 << 20) + 1)
    with pytest.raises(ValueError, match="extents are not negative"):
        alone.empty((2, -1))
    with pytest.raises(ValueError, match="alignment=24"):
        alone.empty(4, alignment=24)


def test_an_empty_array_needs_no_memory(alone, stream):
    array = alone.empty((0, 3), np.int32)
    assert array.nbytes == 0
    assert array.to_numpy(stream).shape == (0, 3)
    array.free()


def test_memory_is_used_again(alone):
    for _ in range(100):
        array = alone.empty(700_000)
        array.free()
