"""The parameter structs of graph nodes, with the layouts that the HIP ABI fixes."""

from __future__ import annotations

import ctypes

from ..hip_abi import LaunchParam
from ..launch import LaunchConfig


class Dim3(ctypes.Structure):
    """`dim3`."""

    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))

    def as_tuple(self) -> tuple[int, int, int]:
        """Return the three sizes."""
        return (self.x, self.y, self.z)


class KernelNodeParams(ctypes.Structure):
    """`hipKernelNodeParams`."""

    _fields_ = (
        ("block", Dim3),
        ("extra", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("grid", Dim3),
        ("kernel_params", ctypes.c_void_p),
        ("lds_bytes", ctypes.c_uint32),
    )


class MemsetNodeParams(ctypes.Structure):
    """`hipMemsetParams`; the members stand in alphabetical order, in every release."""

    _fields_ = (
        ("destination", ctypes.c_void_p),
        ("element_size", ctypes.c_uint32),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint32),
        ("width", ctypes.c_size_t),
    )


class Position(ctypes.Structure):
    """`hipPos` and `hipExtent`: three sizes."""

    _fields_ = (("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t))


class PitchedPointer(ctypes.Structure):
    """`hipPitchedPtr`."""

    _fields_ = (
        ("address", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class MemcpyNodeParams(ctypes.Structure):
    """`hipMemcpy3DParms`."""

    _fields_ = (
        ("source_array", ctypes.c_void_p),
        ("source_position", Position),
        ("source", PitchedPointer),
        ("destination_array", ctypes.c_void_p),
        ("destination_position", Position),
        ("destination", PitchedPointer),
        ("extent", Position),
        ("kind", ctypes.c_int),
    )


class HostNodeParams(ctypes.Structure):
    """`hipHostNodeParams`."""

    _fields_ = (("function", ctypes.c_void_p), ("user_data", ctypes.c_void_p))


class MemAllocNodeParams(ctypes.Structure):
    """`hipMemAllocNodeParams`, with its `hipMemPoolProps` first."""

    _fields_ = (
        ("allocation_type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location_type", ctypes.c_int),
        ("location", ctypes.c_int),
        ("security_attributes", ctypes.c_void_p),
        ("max_size", ctypes.c_size_t),
        ("reserved", ctypes.c_ubyte * 56),
        ("accesses", ctypes.c_void_p),
        ("access_count", ctypes.c_size_t),
        ("nbytes", ctypes.c_size_t),
        ("address", ctypes.c_void_p),
    )


def kernel_node_params(
    function: int, config: LaunchConfig, block: ArgumentBlock
) -> KernelNodeParams:
    """Describe a launch; the argument block must live as long as the description."""
    return KernelNodeParams(
        function=function,
        grid=Dim3(*config.grid),
        block=Dim3(*config.block),
        lds_bytes=config.lds_bytes,
        extra=block.extra,
    )


def memset_node_params(
    address: int, value: int, count: int, *, width: int, rows: int = 1, pitch: int = 0
) -> MemsetNodeParams:
    """Describe a fill of `rows` rows of `count` elements of `width` bytes."""
    return MemsetNodeParams(
        destination=address,
        element_size=width,
        width=count,
        height=rows,
        pitch=pitch,
        value=value,
    )


def alloc_node_params(device: int, nbytes: int) -> MemAllocNodeParams:
    """Describe pinned device memory that only its own device uses."""
    pinned = on_device = 1  # hipMemAllocationTypePinned, hipMemLocationTypeDevice
    return MemAllocNodeParams(
        allocation_type=pinned, location_type=on_device, location=device, nbytes=nbytes
    )


class ArgumentBlock:
    """Packed kernel arguments in the form that a launch reads them, with the storage it points to.

    Some releases keep the pointers instead of copying what they point to, so whoever gives the
    block to a node keeps the block as long as the node.
    """

    __slots__ = ("_blob", "_extra", "_size")

    def __init__(self, blob: bytes) -> None:
        self._blob = ctypes.create_string_buffer(blob, len(blob))
        self._size = ctypes.c_size_t(len(blob))
        self._extra = (ctypes.c_void_p * 5)(
            LaunchParam.BUFFER_POINTER,
            ctypes.addressof(self._blob),
            LaunchParam.BUFFER_SIZE,
            ctypes.addressof(self._size),
            LaunchParam.END,
        )

    @property
    def extra(self) -> int:
        """The address of the `extra` list."""
        return ctypes.addressof(self._extra)
