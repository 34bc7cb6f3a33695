"""The single PE that in-process tests are."""

import pytest


@pytest.fixture
def alone(device):
    """Be the only PE, with a small symmetric heap."""
    from hipgraph_shmem import shmem

    shmem.init(pe=0, n_pes=1, heap_bytes=1 << 20, timeout=5)
    yield shmem
    if shmem.initialized():
        shmem.finalize()
