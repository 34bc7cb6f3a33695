import numpy as np
import pytest

from hipgraph_shmem.shmem import atomics


def test_bad_elements_and_values_are_named(alone):
    words = {kind: alone.zeros(2, kind) for kind in ("i2", "i4", "u4", "f4")}
    with pytest.raises(ValueError, match="one element is needed"):
        atomics.fetch(words["i4"], 0)
    with pytest.raises(TypeError, match="fetch takes int32"):
        atomics.fetch(words["i2"][0], 0)
    with pytest.raises(TypeError, match="add takes int32, int64, uint32, uint64"):
        atomics.add(words["f4"][0], 1, 0)
    with pytest.raises(TypeError, match="xor takes uint32, uint64"):
        atomics.xor(words["i4"][0], 1, 0)
    with pytest.raises(ValueError, match="value=-1: not a number of type uint32"):
        atomics.set_(words["u4"][0], -1, 0)
    with pytest.raises(ValueError, match="not a number of type int32"):
        atomics.add(words["i4"][0], 2**31, 0)
    with pytest.raises(ValueError, match="pe=1"):
        atomics.fetch(words["i4"][0], 1)
    for array in words.values():
        array.free()


@pytest.mark.parametrize("kind", ["i4", "i8", "u4", "u8"])
def test_integers_wrap_around(alone, kind):
    array = alone.zeros(1, kind)
    limits = np.iinfo(kind)
    atomics.set_(array[0], int(limits.max), 0)
    assert atomics.fetch_inc(array[0], 0) == limits.max
    assert atomics.fetch(array[0], 0) == limits.min
    array.free()
