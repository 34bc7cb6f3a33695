from hipgraph_shmem.routes import ROUTES
from hipgraph_shmem.runtime import state
from hipgraph_shmem.self_test import self_test


def test_the_library_and_this_hip_python_fit(device):
    self_test()
    assert set(ROUTES) <= set(state.calls)
