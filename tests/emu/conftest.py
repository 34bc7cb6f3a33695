"""These tests are of the emulated device itself."""

import pytest
from helpers.races import RaceDevice


@pytest.fixture(autouse=True)
def emulated(device):
    """Skip where the session's HIP library is not the emulated device."""
    from hipgraph_shmem import runtime

    if runtime.library().kind != "emu":
        pytest.skip("only for the emulated device")


@pytest.fixture(scope="session")
def race_device():
    """Give a child process that looks for races; the session's own device takes no part."""
    made = RaceDevice()
    yield made
    made.close()
