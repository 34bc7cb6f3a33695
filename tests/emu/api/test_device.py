"""Devices, versions and properties (api/device.cpp, runtime/device*.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip


def test_both_versions_are_those_of_hip_7_15():
    assert hip.out("hipRuntimeGetVersion", kind=ctypes.c_int) == 71526333
    assert hip.out("hipDriverGetVersion", kind=ctypes.c_int) == 71526333


@pytest.mark.parametrize(
    "call, args, expected",
    [
        ("hipInit", (1,), 1),
        ("hipInit", (0,), 0),
        ("hipGetDeviceCount", (None,), 1),
        ("hipGetDevice", (None,), 1),
        ("hipSetDevice", (1,), 101),
        ("hipSetDevice", (-1,), 101),
        ("hipRuntimeGetVersion", (None,), 1),
        ("hipGetDevicePropertiesR0600", (None, 0), 1),
        ("hipGetDevicePropertiesR0600", (bytes(1472), 1), 101),
        ("hipDeviceGetAttribute", (None, 87, 0), 1),
        ("hipDeviceGetAttribute", (bytes(4), 87, 1), 101),
        ("hipDeviceGetAttribute", (bytes(4), 96, 0), 1),
        ("hipDeviceGetAttribute", (bytes(4), 64, 0), 1),
        ("hipDeviceGetAttribute", (bytes(4), 10023, 0), 1),
        ("hipDeviceGetName", (None, 8, 5), 101),
        ("hipDeviceGetName", (None, 8, 0), 1),
        ("hipDeviceGetName", (bytes(8), 0, 0), 1),
        ("hipDeviceGetPCIBusId", (bytes(16), 12, 0), 1),
        ("hipDeviceGet", (bytes(4), 7), 101),
        ("hipDeviceGetByPCIBusId", (bytes(4), b"0000:ff:00.0"), 1),
    ],
)
def test_codes(call, args, expected):
    assert hip.code(call, *args) == expected


def test_the_current_device_is_the_threads_own():
    assert hip.in_thread(lambda: hip.out("hipGetDevice", kind=ctypes.c_int)) == 0


def test_a_name_is_cut_with_a_nul():
    name = ctypes.create_string_buffer(b"x" * 16, 16)
    hip.ok("hipDeviceGetName", name, 5, 0)
    assert name.raw[:6] == b"Emul\0x"


def test_a_pci_bus_id_finds_its_device():
    text = ctypes.create_string_buffer(13)
    hip.ok("hipDeviceGetPCIBusId", text, 13, 0)
    assert text.value == b"0000:01:00.0"
    assert hip.out("hipDeviceGetByPCIBusId", text, kind=ctypes.c_int) == 0


def test_the_suffixed_symbol_fills_the_new_layout_and_the_plain_one_the_old():
    """C028: architecture names at 1160 and 396, warp sizes at 308 and 276."""
    new, old = ctypes.create_string_buffer(1472), ctypes.create_string_buffer(1472)
    hip.ok("hipGetDevicePropertiesR0600", new, 0)
    hip.ok("hipGetDeviceProperties", old, 0)
    assert ctypes.string_at(ctypes.addressof(new) + 1160).startswith(b"gfx942:")
    assert ctypes.string_at(ctypes.addressof(old) + 396).startswith(b"gfx942:")
    assert ctypes.c_int.from_buffer(new, 308).value == 64
    assert ctypes.c_int.from_buffer(old, 276).value == 64
    assert old.raw[1200:] == bytes(272), "the old struct is shorter"
    again = ctypes.create_string_buffer(1472)
    hip.ok("hipGetDevicePropertiesR0000", again, 0)
    assert again.raw == old.raw


def test_attributes_agree_with_the_struct_of_hip_python():
    binding = pytest.importorskip("hip").hip
    struct = binding.hipDeviceProp_t()
    hip.ok("hipGetDevicePropertiesR0600", int(struct), 0)
    pairs = {
        "WarpSize": struct.warpSize,
        "MultiprocessorCount": struct.multiProcessorCount,
        "MaxThreadsPerBlock": struct.maxThreadsPerBlock,
        "MaxSharedMemoryPerBlock": struct.sharedMemPerBlock,
        "ComputeCapabilityMajor": struct.major,
        "ComputeCapabilityMinor": struct.minor,
        "MaxThreadsPerMultiProcessor": struct.maxThreadsPerMultiProcessor,
        "L2CacheSize": struct.l2CacheSize,
        "UnifiedAddressing": struct.unifiedAddressing,
        "ManagedMemory": struct.managedMemory,
        "IsLargeBar": struct.isLargeBar,
        "ConcurrentKernels": struct.concurrentKernels,
    }
    enum = binding.hipDeviceAttribute_t
    for name, expected in pairs.items():
        number = getattr(enum, f"hipDeviceAttribute{name}").value
        assert hip.out("hipDeviceGetAttribute", number, 0, kind=ctypes.c_int) == expected, name
    assert (struct.warpSize, struct.multiProcessorCount, struct.major) == (64, 304, 9)


def test_every_attribute_of_hip_python_is_known():
    binding = pytest.importorskip("hip").hip
    for attribute in binding.hipDeviceAttribute_t:
        if attribute.name.endswith(("Begin", "End")) or "Unused" in attribute.name:
            continue
        hip.out("hipDeviceGetAttribute", attribute.value, 0, kind=ctypes.c_int)


def test_priorities_are_one_to_minus_one():
    least, greatest = ctypes.c_int(9), ctypes.c_int(9)
    hip.ok("hipDeviceGetStreamPriorityRange", ctypes.byref(least), ctypes.byref(greatest))
    assert (least.value, greatest.value) == (1, -1)
    hip.ok("hipDeviceGetStreamPriorityRange", None, None)
