"""These tests are of the emulated device itself."""

import pytest


@pytest.fixture(autouse=True)
def emulated(device):
    """Skip where the session's HIP library is not the emulated device."""
    from hipgraph_shmem import runtime

    if runtime.library().kind != "emu":
        pytest.skip("only for the emulated device")
