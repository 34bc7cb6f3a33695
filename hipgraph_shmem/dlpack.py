"""DLPack tensors as C structs: made from our memory, read from the memory of others."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import ml_dtypes
import numpy as np

from .runtime import state

__all__ = ["DeviceType", "Tensor", "export_tensor", "read_tensor"]

CAPSULE_NAME = b"dltensor"
BITS_PER_BYTE = 8
_EXPORTS = "dlpack exports"


class DeviceType(IntEnum):
    """Where a tensor's memory is (DLDeviceType)."""

    CPU = 1
    CUDA = 2
    ROCM = 10
    ROCM_HOST = 11


class _TypeCode(IntEnum):
    INT = 0
    UINT = 1
    FLOAT = 2
    BFLOAT = 4
    COMPLEX = 5
    BOOL = 6


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_CapsuleDestructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as DLPack describes it; `owner` keeps its memory."""

    address: int
    device_type: int
    device: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides_bytes: tuple[int, ...] | None
    owner: object


def read_tensor(capsule: Any) -> Tensor:
    """Read an unconsumed capsule; while the result's owner lives, so does the memory.

    Raises:
        TypeError: an element type that NumPy and ml_dtypes have no name for.
    """
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    tensor = _Managed.from_address(get_pointer(capsule, CAPSULE_NAME)).tensor
    dtype = _dtype(tensor.dtype)
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = None
    if tensor.strides:
        strides = tuple(step * dtype.itemsize for step in tensor.strides[: tensor.ndim])
    return Tensor(
        address=(tensor.data or 0) + tensor.byte_offset,
        device_type=tensor.device.type,
        device=tensor.device.id,
        shape=shape,
        dtype=dtype,
        strides_bytes=strides,
        owner=capsule,
    )


def export_tensor(tensor: Tensor) -> Any:
    """Make a capsule of a C-contiguous tensor; its owner lives until the consumer is done."""
    ndim = len(tensor.shape)
    shape = (ctypes.c_int64 * ndim)(*tensor.shape)
    managed = _Managed()
    managed.tensor.data = tensor.address
    managed.tensor.device = _Device(tensor.device_type, tensor.device)
    managed.tensor.ndim = ndim
    managed.tensor.dtype = _data_type(tensor.dtype)
    managed.tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    managed.deleter = _FORGET
    address = ctypes.addressof(managed)
    state.shared.setdefault(_EXPORTS, {})[address] = (managed, shape, tensor.owner)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _CapsuleDestructor]
    return new(address, CAPSULE_NAME, _DROP_CAPSULE)


def _forget(address: int) -> None:
    state.shared.get(_EXPORTS, {}).pop(address, None)


def _drop_capsule(capsule: int) -> None:
    """Free a tensor that nobody consumed; a consumer renames the capsule and frees it itself."""
    # The capsule is being destroyed: it may be passed as an address only, never as an object.
    is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
        ("PyCapsule_IsValid", ctypes.pythonapi)
    )
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    if is_valid(capsule, CAPSULE_NAME):
        _forget(get_pointer(capsule, CAPSULE_NAME))


_FORGET = _Deleter(_forget)
_DROP_CAPSULE = _CapsuleDestructor(_drop_capsule)


def _dtype(described: Any) -> np.dtype[Any]:
    code, bits = described.code, described.bits
    if code == _TypeCode.BFLOAT and bits == 2 * BITS_PER_BYTE:
        name: Any = ml_dtypes.bfloat16
    elif code == _TypeCode.BOOL:
        name = np.bool_
    else:
        kinds = {
            _TypeCode.INT: "i",
            _TypeCode.UINT: "u",
            _TypeCode.FLOAT: "f",
            _TypeCode.COMPLEX: "c",
        }
        name = f"{kinds.get(code, '?')}{bits // BITS_PER_BYTE}"
    try:
        dtype: np.dtype[Any] | None = np.dtype(name)
    except TypeError:
        dtype = None
    if dtype is None or described.lanes != 1:
        raise TypeError(
            f"DLPack element type code {code}, {bits} bits, {described.lanes} lanes has no NumPy "
            "dtype: pass the tensor viewed as bytes"
        )
    return dtype


def _data_type(dtype: np.dtype[Any]) -> _DataType:
    codes = {
        "i": _TypeCode.INT,
        "u": _TypeCode.UINT,
        "f": _TypeCode.FLOAT,
        "c": _TypeCode.COMPLEX,
        "b": _TypeCode.BOOL,
    }
    code = _TypeCode.BFLOAT if dtype == ml_dtypes.bfloat16 else codes.get(dtype.kind)
    if code is None:
        raise BufferError(f"dtype={dtype}: DLPack has no such type; export it viewed as uint8")
    return _DataType(code, dtype.itemsize * BITS_PER_BYTE, 1)
