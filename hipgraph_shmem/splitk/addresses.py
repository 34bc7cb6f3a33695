"""Raw addresses given as operands: what HIP knows about the memory behind them."""

from __future__ import annotations

import ctypes
import enum

from ..errors import HipError
from ..hip_abi import ErrorCode
from ..runtime import call

__all__ = ["check_address"]


class _MemoryType(enum.IntEnum):
    """`hipMemoryType`."""

    UNREGISTERED = 0
    HOST = 1
    DEVICE = 2
    MANAGED = 3


class _PointerAttributes(ctypes.Structure):
    """`hipPointerAttribute_t`."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("device", ctypes.c_int),
        ("device_pointer", ctypes.c_void_p),
        ("host_pointer", ctypes.c_void_p),
        ("is_managed", ctypes.c_int),
        ("allocation_flags", ctypes.c_uint),
    )


def check_address(name: str, address: int, device: int) -> None:
    """Refuse an address that a kernel on the device could not use.

    Raises:
        ValueError: it is ordinary host memory, or memory of another device.
    """
    if address <= 0:
        raise ValueError(f"{name}={address} is no device address: give one, or an array object")
    found = _PointerAttributes()
    try:
        call("hipPointerGetAttributes", ctypes.addressof(found), address)
    except HipError as error:
        # Releases differ: some call memory that they do not know an invalid value.
        if error.code != ErrorCode.INVALID_VALUE:
            raise
        found.type = _MemoryType.UNREGISTERED
    if found.type == _MemoryType.UNREGISTERED:
        raise ValueError(
            f"{name}={address:#x} is not memory of the device: copy host data into a Buffer"
        )
    if found.type == _MemoryType.DEVICE and found.device != device:
        raise ValueError(
            f"{name}={address:#x} is memory of device {found.device}: it must be on device {device}"
        )
