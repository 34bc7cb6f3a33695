import numpy as np
import pytest
from helpers.pe_programs import check_program

from hipgraph_shmem import Buffer


@pytest.mark.parametrize("n_pes", [1, 2, 4])
def test_copies_atomics_and_teams_agree_with_numpy(n_pes):
    check_program(n_pes, "blocking")


def test_bad_arguments_are_named(alone):
    array = alone.zeros(8, np.int32)
    with Buffer(8, np.int32) as local:
        with pytest.raises(ValueError, match="pe=7: there are 1 PEs"):
            alone.put(array, local, 7)
        with pytest.raises(TypeError, match=r"source=.*Buffer"):
            alone.get(local, local, 0)
        with pytest.raises(ValueError, match="nbytes=16"):
            alone.put(array, local, 0, nbytes=16)
    with pytest.raises(TypeError, match="give a Team"):
        alone.barrier("all")
    array.free()
