import gc

import ml_dtypes
import numpy as np
import pytest

from hipgraph_shmem.errors import HipError
from hipgraph_shmem.hip_abi import ErrorCode
from hipgraph_shmem.memory import Buffer, PinnedBuffer, empty, from_numpy, zeros
from hipgraph_shmem.runtime import call, state


@pytest.mark.parametrize(
    "shape, dtype, nbytes",
    [(16, np.uint8, 16), ((2, 3), np.float32, 24), ((4,), ml_dtypes.bfloat16, 8), ((), np.int64, 8),
     ((0, 7), np.float64, 0), (5, "float16", 10), (5, "bfloat16", 10)],
)  # fmt: skip
@pytest.mark.parametrize("kind", [Buffer, PinnedBuffer])
def test_sizes(device, kind, shape, dtype, nbytes):
    with kind(shape, dtype) as memory:
        assert memory.nbytes == nbytes
        assert memory.shape == (shape if isinstance(shape, tuple) else (shape,))
        assert memory.dtype == np.dtype(dtype)
        assert memory.device == 0
        assert (memory.address != 0) is (nbytes != 0)


@pytest.mark.parametrize("shape", [-1, (2, -3)])
def test_a_negative_extent_is_refused(device, shape):
    with pytest.raises(ValueError, match="shape="):
        Buffer(shape)


def test_too_much_is_hips_error_and_leaves_nothing(device):
    before = len(state.live)
    with pytest.raises(HipError) as caught:
        Buffer(1 << 60)
    assert caught.value.code == ErrorCode.OUT_OF_MEMORY
    assert len(state.live) == before


def test_an_interface_tells_type_place_and_layout(stream):
    with Buffer((2, 3), np.float32) as buffer:
        interface = buffer.__cuda_array_interface__
        assert interface["data"] == (buffer.address, False)
        assert interface["typestr"] == "<f4"
        assert interface["shape"] == (2, 3)
        assert interface["strides"] is None
        assert interface["version"] == 3
    with Buffer(4, ml_dtypes.bfloat16) as buffer:
        assert buffer.__cuda_array_interface__["typestr"] == "<V2"
        assert buffer.dtype == ml_dtypes.bfloat16


def test_helpers(stream):
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    with empty((2, 3), np.int16) as buffer:
        assert buffer.shape == (2, 3)
    with zeros((2, 3), np.int16, stream) as buffer:
        assert not buffer.to_numpy(stream).any()
    with from_numpy(array, stream) as buffer:
        assert (buffer.to_numpy(stream) == array).all()


def test_freeing_gives_the_bytes_back(device, stream):
    stream.synchronize()
    free = call("hipMemGetInfo")[0]
    for _ in range(50):
        with Buffer(1 << 16) as buffer:
            buffer.fill(0, stream)
            stream.synchronize()
    gc.collect()
    assert call("hipMemGetInfo")[0] == free
