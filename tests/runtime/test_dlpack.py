"""The capsules are read back by NumPy, an independent consumer, and by our own reader."""

import ctypes
import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

from hipgraph_shmem.dlpack import DeviceType, Tensor, export_tensor, read_tensor
from hipgraph_shmem.memory import Buffer, zeros
from hipgraph_shmem.runtime import library

CPU = (DeviceType.CPU, 0)


class Exported:
    """Host memory exported by our code, for NumPy to consume."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self, **_):
        return export_tensor(
            Tensor(self.array.ctypes.data, *CPU, self.array.shape, self.array.dtype, None, self)
        )


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int32, np.float16, np.float64, np.complex64]
)
def test_numpy_reads_what_we_export(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    found = np.from_dlpack(Exported(array))
    assert found.dtype == array.dtype
    assert (found == array).all()
    assert found.ctypes.data == array.ctypes.data


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, np.complex128])
def test_we_read_what_numpy_exports(dtype):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)[:, ::2, 1:]
    tensor = read_tensor(array.__dlpack__())
    assert tensor.address == array.ctypes.data
    assert (tensor.shape, tensor.dtype) == (array.shape, array.dtype)
    assert tensor.strides_bytes == array.strides
    assert (tensor.device_type, tensor.device) == CPU


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.bool_])
def test_types_that_not_every_numpy_exchanges_survive_the_round_trip(dtype):
    assert read_tensor(Exported(np.ones(3, dtype)).__dlpack__()).dtype == dtype


def test_the_memory_lives_until_the_consumer_is_done():
    exported = Exported(np.arange(3))
    gone = weakref.ref(exported)
    consumed = np.from_dlpack(exported)
    del exported
    gc.collect()
    assert gone() is not None
    assert consumed.tolist() == [0, 1, 2]
    del consumed
    gc.collect()
    assert gone() is None


def test_a_capsule_that_nobody_consumes_frees_itself():
    exported = Exported(np.arange(3))
    gone = weakref.ref(exported)
    capsule = exported.__dlpack__()
    del exported
    gc.collect()
    assert gone() is not None
    del capsule
    gc.collect()
    assert gone() is None


def test_a_type_without_a_dlpack_code_is_refused():
    with pytest.raises(BufferError, match="datetime64"):
        Exported(np.zeros(2, "datetime64[s]")).__dlpack__()


def test_a_code_without_a_numpy_type_is_refused():
    capsule = Exported(np.zeros(2, np.float32)).__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # Offset 20 of DLTensor: the type code, then bits and lanes.
    type_code = ctypes.c_uint8.from_address(get_pointer(capsule, b"dltensor") + 20)
    assert type_code.value == 2
    type_code.value = 17
    with pytest.raises(TypeError, match="code 17"):
        read_tensor(capsule)


def test_a_buffer_is_exported_as_memory_of_its_device(stream):
    with zeros((2, 3), np.float32, stream) as buffer:
        expected = DeviceType.CUDA if library().kind == "cuda" else DeviceType.ROCM
        assert buffer.__dlpack_device__() == (expected, 0)
        for consumer_stream in (None, 0, -1, stream.handle):
            tensor = read_tensor(buffer.__dlpack__(stream=consumer_stream))
            assert (tensor.address, tensor.shape) == (buffer.address, (2, 3))
            assert tensor.device_type == expected
        del tensor


@pytest.mark.parametrize("number", [1, 2])
def test_cudas_stream_numbers_are_refused(device, number):
    with Buffer(4) as buffer, pytest.raises(ValueError, match=f"stream={number}"):
        buffer.__dlpack__(stream=number)


def test_a_copy_or_another_device_is_refused(device):
    with Buffer(4) as buffer:
        with pytest.raises(BufferError):
            buffer.__dlpack__(copy=True)
        with pytest.raises(BufferError):
            buffer.__dlpack__(dl_device=CPU)
