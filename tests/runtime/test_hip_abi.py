"""The constants are compared with those compiled into AMD's hip-python."""

import pytest
from hip import hip

from hipgraph_shmem import hip_abi


def test_error_names_are_hip_pythons():
    for error in hip.hipError_t:
        if error.name != "hipErrorTbd":
            assert hip_abi.error_name(error.value) == error.name


def test_an_unknown_code_is_unknown():
    assert hip_abi.error_name(4242) == "hipErrorUnknown"


@pytest.mark.parametrize(
    "ours, theirs, prefix",
    [
        (hip_abi.CaptureMode, "hipStreamCaptureMode", "hipStreamCaptureMode"),
        (hip_abi.CaptureStatus, "hipStreamCaptureStatus", "hipStreamCaptureStatus"),
        (hip_abi.MemcpyKind, "hipMemcpyKind", "hipMemcpy"),
        (hip_abi.NodeKind, "hipGraphNodeType", "hipGraphNodeType"),
    ],
)
def test_enumerations_are_hip_pythons(ours, theirs, prefix):
    expected = {member.name.lower(): member.value for member in getattr(hip, theirs)}
    for word in ours:
        name = f"{prefix}{word.name.replace('_', '')}".lower()
        if name in expected:  # an older release lacks the newest node kind
            assert expected[name] == word.value
        else:
            assert word is hip_abi.NodeKind.BATCH_MEM_OP


def test_property_offsets_are_those_of_hip_pythons_struct():
    properties = hip.hipDeviceProp_t()
    fields = {
        "totalGlobalMem": (hip_abi.PropertyOffset.TOTAL_GLOBAL_MEM, 8),
        "sharedMemPerBlock": (hip_abi.PropertyOffset.SHARED_MEM_PER_BLOCK, 8),
        "warpSize": (hip_abi.PropertyOffset.WARP_SIZE, 4),
        "maxThreadsPerBlock": (hip_abi.PropertyOffset.MAX_THREADS_PER_BLOCK, 4),
        "multiProcessorCount": (hip_abi.PropertyOffset.MULTI_PROCESSOR_COUNT, 4),
    }
    import ctypes

    memory = (ctypes.c_char * hip_abi.PropertyOffset.SIZE).from_address(int(properties))
    for number, (name, (offset, size)) in enumerate(fields.items(), start=1):
        setattr(properties, name, number)
        assert int.from_bytes(memory.raw[offset : offset + size], "little") == number
