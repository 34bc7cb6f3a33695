import ctypes

import pytest

from hipgraph_shmem.devices import device_info, on_device, runtime_info
from hipgraph_shmem.runtime import call
from hipgraph_shmem.target import Target


def test_device_facts_are_sane(device):
    assert device.ordinal == 0
    assert device.wavefront_size in (32, 64)
    assert device.compute_units >= 1
    assert device.lds_bytes >= 32 * 1024
    assert device.max_threads_per_block >= 256
    assert Target.parse(device.target).processor.startswith("gfx")


def test_memory_is_what_hip_reports(device):
    assert device.memory_bytes == call("hipMemGetInfo")[1]


def test_the_name_is_that_of_hip(device):
    from hipgraph_shmem.runtime import library

    name = ctypes.create_string_buffer(256)
    library().pointers.hipDeviceGetName(name, 256, 0)
    assert name.value.decode() == device.name


@pytest.mark.parametrize("ordinal", [-1, 99])
def test_a_device_that_is_not_there_is_refused(device, ordinal):
    with pytest.raises(ValueError, match=f"device={ordinal}"):
        device_info(ordinal)
    with pytest.raises(ValueError, match=f"device={ordinal}"), on_device(ordinal):
        pass


def test_the_current_device_is_restored(device):
    before = call("hipGetDevice")
    last = len(runtime_info().devices) - 1
    with on_device(last) as current:
        assert current == call("hipGetDevice") == last
    assert call("hipGetDevice") == before
    with on_device(None) as current:
        assert current == before
