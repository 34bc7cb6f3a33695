"""The devices that the HIP library reports, and the current one of this thread."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from .errors import Error
from .hip_abi import PropertyOffset as At
from .runtime import call, library, state

__all__ = ["DeviceInfo", "RuntimeInfo", "device_info", "on_device", "runtime_info"]

WAVEFRONT_SIZES = (32, 64)
TARGET_PREFIXES = ("gfx", "sm_")


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What a device is; `target` names its code objects, for example gfx942:sramecc+:xnack-."""

    ordinal: int
    name: str
    target: str
    compute_units: int
    wavefront_size: int
    lds_bytes: int
    memory_bytes: int
    max_threads_per_block: int


@dataclass(frozen=True, slots=True)
class RuntimeInfo:
    """Which HIP library this process uses, with which hip-python, on which devices."""

    kind: str
    path: str
    hip_version: int
    binding_version: str
    devices: tuple[DeviceInfo, ...]


def runtime_info() -> RuntimeInfo:
    """Describe the HIP library of this process; load it if nothing did so before."""
    loaded = library()
    return RuntimeInfo(
        kind=loaded.kind,
        path=str(loaded.path),
        hip_version=call("hipRuntimeGetVersion"),
        binding_version=metadata.version("hip-python"),
        devices=_devices(),
    )


def device_info(ordinal: int | None = None) -> DeviceInfo:
    """Describe a device, by default the current one of this thread."""
    devices = _devices()
    at = call("hipGetDevice") if ordinal is None else ordinal
    if not 0 <= at < len(devices):
        raise ValueError(f"device={at}: there are {len(devices)} devices, count from 0")
    return devices[at]


@contextlib.contextmanager
def on_device(ordinal: int | None) -> Iterator[int]:
    """Make a device the current one of this thread, None for no change; restore it after."""
    before = call("hipGetDevice")
    if ordinal is None or ordinal == before:
        yield before
        return
    call("hipSetDevice", device_info(ordinal).ordinal)
    try:
        yield ordinal
    finally:
        call("hipSetDevice", before)


def _devices() -> tuple[DeviceInfo, ...]:
    if not state.devices:
        state.devices = tuple(map(_read, range(call("hipGetDeviceCount"))))
    return state.devices


def _read(ordinal: int) -> DeviceInfo:
    properties = ctypes.create_string_buffer(At.SIZE)
    call("hipGetDevicePropertiesR0600", properties, ordinal)
    info = DeviceInfo(
        ordinal=ordinal,
        name=_text(properties, At.NAME),
        target=_text(properties, At.GCN_ARCH_NAME),
        compute_units=_integer(properties, At.MULTI_PROCESSOR_COUNT),
        wavefront_size=_integer(properties, At.WARP_SIZE),
        lds_bytes=ctypes.c_size_t.from_buffer(properties, At.SHARED_MEM_PER_BLOCK).value,
        memory_bytes=ctypes.c_size_t.from_buffer(properties, At.TOTAL_GLOBAL_MEM).value,
        max_threads_per_block=_integer(properties, At.MAX_THREADS_PER_BLOCK),
    )
    # A library with another struct layout must be found out here, not in a wrong launch size.
    if info.wavefront_size not in WAVEFRONT_SIZES or not info.target.startswith(TARGET_PREFIXES):
        raise Error(
            f"device {ordinal}: hipGetDevicePropertiesR0600 says wavefront size "
            f"{info.wavefront_size} and target {info.target!r}: not the layout of HIP 6 and later"
        )
    return info


def _integer(properties: ctypes.Array[ctypes.c_char], at: int) -> int:
    return ctypes.c_int.from_buffer(properties, at).value


def _text(properties: ctypes.Array[ctypes.c_char], at: int) -> str:
    return properties.raw[at:].split(b"\0", 1)[0].decode(errors="replace")
