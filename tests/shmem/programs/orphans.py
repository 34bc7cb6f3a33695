"""Arrays and teams that are dropped, not freed: named when the world ends."""

import gc
import warnings

import numpy as np

from hipgraph_shmem import shmem
from hipgraph_shmem.errors import ShmemError


def main():
    shmem.init()
    kept = shmem.empty(16, np.float64)
    shmem.empty((3, 5), np.int16)
    shmem.team_world().duplicate()
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unfreed = shmem.finalize()
    assert [each.split()[0] for each in unfreed] == ["symmetric", "team", "symmetric"], unfreed
    assert "3x5 int16" in unfreed[0]
    assert "16 float64" in unfreed[2]
    (warning,) = [each for each in caught if each.category is ResourceWarning]
    assert "3x5 int16" in str(warning.message)
    assert "float64" not in str(warning.message)
    assert kept.closed
    shmem.init()
    shmem.empty(4)
    gc.collect()
    try:
        shmem.finalize(strict=True)
    except ShmemError as error:
        assert "4 uint8" in str(error)
    else:
        raise AssertionError("nothing was raised")
    assert not shmem.initialized()


main()
