import gc
import weakref

import numpy as np
import pytest

from hipgraph_shmem.memory import PinnedBuffer


def test_the_array_is_the_memory(device):
    with PinnedBuffer((2, 3), np.float32) as pinned:
        assert pinned.array.shape == (2, 3)
        assert pinned.array.dtype == np.float32
        assert pinned.array.ctypes.data == pinned.address
        pinned.array[1, 2] = 7
        assert pinned.array[1, 2] == 7


def test_bfloat16_and_empty_arrays(device):
    with PinnedBuffer(4, "bfloat16") as pinned:
        pinned.array[:] = 1.5
        assert pinned.array.view(np.uint16).tolist() == [0x3FC0] * 4
    with PinnedBuffer((0, 3), np.int32) as pinned:
        assert pinned.array.shape == (0, 3)


def test_the_array_keeps_the_buffer(device):
    pinned = PinnedBuffer(4, np.int32)
    array, gone = pinned.array, weakref.ref(pinned)
    del pinned
    gc.collect()
    assert gone() is not None
    array[:] = 1
    del array
    gc.collect()
    assert gone() is None


def test_a_closed_buffer_gives_no_array(device):
    pinned = PinnedBuffer(4)
    pinned.close()
    with pytest.raises(ValueError, match="closed"):
        _ = pinned.array
