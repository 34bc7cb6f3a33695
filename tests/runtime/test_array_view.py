"""Device arrays of other libraries, in the forms in which they come."""

import ml_dtypes
import numpy as np
import pytest

from hipgraph_shmem.array_view import ArrayView, device_type, foreign_view
from hipgraph_shmem.dlpack import DeviceType, Tensor, export_tensor

BASE = {"shape": (2, 3), "typestr": "<f4", "data": (0x1000, False), "version": 3}


class WithInterface:
    def __init__(self, **changes):
        self.__cuda_array_interface__ = {**BASE, **changes}


class WithDlpack:
    def __init__(self, kind, dtype=np.float32, address=0x2000):
        self.kind, self.dtype, self.address = kind, np.dtype(dtype), address

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, *, stream):
        assert stream == -1
        return export_tensor(Tensor(self.address, self.kind, 0, (4,), self.dtype, None, self))


def test_the_cuda_array_interface(device):
    array = WithInterface()
    view = foreign_view(array, "x")
    assert (view.address, view.shape, view.dtype) == (0x1000, (2, 3), np.float32)
    assert view.owner is array
    assert view.strides_bytes is None
    assert view.is_contiguous
    assert not view.readonly
    assert view.nbytes == 24


@pytest.mark.parametrize("strides", [(12, 4), [12, 4]])
def test_strides_as_tuple_or_list(device, strides):
    assert foreign_view(WithInterface(strides=strides), "x").strides_bytes == (12, 4)


def test_readonly_is_honoured(device):
    assert foreign_view(WithInterface(data=(0x1000, True)), "x").readonly


@pytest.mark.parametrize("number", [1, 2, None, 0x7000])
def test_a_stream_in_the_interface_is_not_taken_for_a_handle(device, number):
    assert foreign_view(WithInterface(stream=number), "x").address == 0x1000


def test_a_null_pointer_is_fine_only_for_no_elements(device):
    assert foreign_view(WithInterface(data=(0, False), shape=(0, 3)), "x").nbytes == 0
    assert foreign_view(WithInterface(data=(None, False), shape=(0,)), "x").address == 0
    with pytest.raises(ValueError, match="null"):
        foreign_view(WithInterface(data=(0, False)), "x")


def test_an_exporter_that_names_its_dtype_keeps_bfloat16(device):
    array = WithInterface(typestr="<V2")
    array.dtype = np.dtype(ml_dtypes.bfloat16)
    assert foreign_view(array, "x").dtype == ml_dtypes.bfloat16


def test_dlpack_comes_first(device):
    array = WithDlpack(device_type(), ml_dtypes.bfloat16)
    array.__cuda_array_interface__ = BASE
    view = foreign_view(array, "x")
    assert (view.address, view.dtype, view.shape) == (0x2000, ml_dtypes.bfloat16, (4,))


@pytest.mark.parametrize("kind", [DeviceType.CPU, DeviceType.ROCM_HOST, 7])
def test_memory_of_another_kind_is_refused(device, kind):
    with pytest.raises(ValueError, match="x: its memory is"):
        foreign_view(WithDlpack(kind), "x")


def test_the_other_vendors_memory_is_refused(device):
    other = DeviceType.ROCM if device_type() == DeviceType.CUDA else DeviceType.CUDA
    with pytest.raises(ValueError, match=other.name):
        foreign_view(WithDlpack(other), "x")


@pytest.mark.parametrize("array", [np.zeros(3), np.float32(1), b"abc", bytearray(3)])
def test_host_arrays_are_refused_as_such(array):
    with pytest.raises(TypeError, match="x: host array"):
        foreign_view(array, "x")


@pytest.mark.parametrize("array", [3, None, "text", [1, 2]])
def test_what_is_no_array_is_refused(array):
    with pytest.raises(TypeError, match="x="):
        foreign_view(array, "x")


@pytest.mark.parametrize(
    "shape, strides, contiguous",
    [
        ((2, 3), None, True),
        ((2, 3), (12, 4), True),
        ((2, 3), (4, 8), False),
        ((2, 3), (16, 4), False),
        ((1, 3), (99, 4), True),
        ((0, 3), (1, 1), True),
        ((), (), True),
    ],
)
def test_contiguous_is_judged_as_numpy_does(shape, strides, contiguous):
    view = ArrayView(0x1000, shape, np.dtype(np.float32), strides, 0, None)
    assert view.is_contiguous is contiguous
    if strides is not None and all(shape):
        like = np.lib.stride_tricks.as_strided(np.zeros(99, np.float32), shape, strides)
        assert like.flags.c_contiguous is contiguous
