"""Symmetric memory: arrays that every PE has at the same place of its heap."""

from __future__ import annotations

import math
import weakref
from typing import Any, ClassVar

import numpy as np

from ..device_array import DeviceArray
from ..errors import ShmemError, ShmemUnavailable
from ..runtime import state
from .world import World, blocking_world

__all__ = ["PeerArray", "SymmetricArray", "SymmetricView", "empty", "zeros"]

_CURE = "allocate and free symmetric memory outside captures"


class _InHeap(DeviceArray):
    """Elements in some PE's symmetric heap; graphs that name them refuse to run once freed."""

    frees_memory: ClassVar[bool] = True
    __slots__ = ("_address", "device", "dtype", "nbytes", "shape")

    def __init__(
        self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: int
    ) -> None:
        self._address = address
        self.shape, self.dtype, self.device = shape, dtype, device
        self.nbytes = math.prod(shape) * dtype.itemsize

    @property
    def array(self) -> SymmetricArray:
        """The array that owns the memory."""
        raise NotImplementedError

    @property
    def closed(self) -> bool:
        """Whether the memory is gone: freed, or its world finalized."""
        return self.array.closed

    @property
    def address(self) -> int:
        """Where the first element is, as this process sees it; 0 if there are none.

        Raises:
            ValueError: The memory is gone.
        """
        if self.closed:
            raise ValueError(f"{self!r}: its memory is gone; use it before free() and finalize()")
        return self._address

    @property
    def extent(self) -> tuple[int, int]:
        """First byte and byte behind the last, also of memory that is gone."""
        return self._address, self._address + self.nbytes

    def _describe(self) -> str:
        shape = "x".join(map(str, self.shape))
        ending = " closed" if self.closed else ""
        return f"{type(self).__name__} {self._address:#x} {shape} {self.dtype}{ending}"

    def __repr__(self) -> str:
        return f"<{self._describe()}>"


class _Symmetric(_InHeap):
    """Elements that every PE has at the same place of its heap."""

    __slots__ = ()

    def __getitem__(self, index: int | slice) -> SymmetricView:
        """Return one element, row, or stretch (step 1) along the first axis, without a copy."""
        if not self.shape:
            raise IndexError(f"{self!r}: it has no axes")
        extent, inner = self.shape[0], self.shape[1:]
        if isinstance(index, slice):
            start, stop, step = index.indices(extent)
            if step != 1:
                raise ValueError(f"index={index}: only step 1 is contiguous")
            shape = (max(0, stop - start), *inner)
        else:
            start = index + extent if index < 0 else index
            if not 0 <= start < extent:
                raise IndexError(f"index={index}: the first axis has {extent} elements")
            shape = inner
        offset = start * math.prod(inner) * self.dtype.itemsize
        return SymmetricView(self.array, self._address + offset, shape)

    def peer(self, pe: int) -> PeerArray:
        """Return the same elements of another PE, readable and writable from this device.

        Raises:
            ShmemError: That PE's memory cannot be reached from here (rocSHMEM across nodes).
        """
        world = self.array.world
        address = world.provider.call("ptr", self.address, world.check_pe(pe))
        if not address and self.nbytes:
            raise ShmemError("ptr", f"memory of PE {pe} cannot be reached; use put and get")
        return PeerArray(self, address, pe)


class SymmetricArray(_Symmetric):
    """A C-contiguous array in the symmetric heap; `empty` and `zeros` make one on all PEs.

    The memory is collective: only `free`, called by all PEs, gives it back. An array that is
    merely dropped is reported by `finalize`.

    Attributes:
        world: The PEs that have it.
    """

    __slots__ = ("__weakref__", "_finalizer", "world")

    def __init__(self, world: World, address: int, shape: tuple[int, ...], dtype: Any) -> None:
        super().__init__(address, shape, np.dtype(dtype), world.device)
        self.world = world
        what = self._describe_new()
        if address:
            world.live[address] = (self.nbytes, what)
        self._finalizer = weakref.finalize(self, _drop, world, address, what)
        self._finalizer.atexit = False

    @property
    def array(self) -> SymmetricArray:
        """The array itself."""
        return self

    @property
    def closed(self) -> bool:
        """Whether it was freed, or its world finalized."""
        return not self._finalizer.alive or self.world.closed

    def free(self) -> None:
        """Give the memory back; collective over all PEs, in the same order on each.

        A graph that uses it refuses to be launched afterwards.

        Raises:
            ValueError: It was freed already.
            CaptureError: This thread captures a stream.
            CollectiveMismatchError: The PEs free different arrays; none is freed.
        """
        address = self.address
        world = blocking_world("free", _CURE)
        world.provider.call("free", address or None)
        self._finalizer.detach()
        world.live.pop(address, None)
        state.closes += 1

    def _describe_new(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"symmetric array {self._address:#x} {shape} {self.dtype}"


class SymmetricView(_Symmetric):
    """A contiguous part of a symmetric array, on every PE."""

    __slots__ = ("_array",)

    def __init__(self, array: SymmetricArray, address: int, shape: tuple[int, ...]) -> None:
        super().__init__(address, shape, array.dtype, array.device)
        self._array = array

    @property
    def array(self) -> SymmetricArray:
        """The array that it is a part of."""
        return self._array


class PeerArray(_InHeap):
    """Another PE's part of symmetric memory, as mapped in this process.

    Attributes:
        pe: Whose memory it is.
    """

    __slots__ = ("_array", "pe")

    def __init__(self, source: _Symmetric, address: int, pe: int) -> None:
        super().__init__(address, source.shape, source.dtype, source.device)
        self._array = source.array
        self.pe = pe

    @property
    def array(self) -> SymmetricArray:
        """This PE's array at the same place."""
        return self._array


def empty(
    shape: int | tuple[int, ...], dtype: Any = np.uint8, *, alignment: int | None = None
) -> SymmetricArray:
    """Allocate an uninitialised symmetric array; collective over all PEs.

    Args:
        shape: Number of elements, or a tuple of extents; the same on every PE.
        dtype: NumPy element type; ml_dtypes.bfloat16 is one.
        alignment: A power of two in bytes, up to 4096; None: the provider's, at least 16.

    Raises:
        CollectiveMismatchError: The PEs ask for different sizes.
        SymmetricMemoryError: Some PE's heap has no room; no PE gets memory.
        CaptureError: This thread captures a stream.
    """
    world, extents, nbytes = _prepare("empty", shape, dtype)
    if alignment is None:
        address = world.provider.call("malloc", nbytes)
    elif alignment < 1 or alignment & alignment - 1:
        raise ValueError(f"alignment={alignment}: a power of two is needed")
    else:
        address = world.provider.call("align", alignment, nbytes)
    return SymmetricArray(world, address, extents, dtype)


def zeros(shape: int | tuple[int, ...], dtype: Any = np.uint8) -> SymmetricArray:
    """Allocate a symmetric array of zeros, on every PE when this returns; see `empty`."""
    world, extents, nbytes = _prepare("zeros", shape, dtype)
    try:
        address = world.provider.call("calloc", 1, nbytes)
    except ShmemUnavailable:
        array = SymmetricArray(world, world.provider.call("malloc", nbytes), extents, dtype)
        array.fill(0, world.stream)
        world.stream.synchronize()
        world.provider.call("barrier_all")
        return array
    return SymmetricArray(world, address, extents, dtype)


def _prepare(
    operation: str, shape: int | tuple[int, ...], dtype: Any
) -> tuple[World, tuple[int, ...], int]:
    world = blocking_world(operation, _CURE)
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"shape={shape}: extents are not negative")
    return world, tuple(map(int, extents)), math.prod(extents) * np.dtype(dtype).itemsize


def _drop(world: World, address: int, description: str) -> None:
    """Remember an array that the collector took: freeing it needs all PEs."""
    world.live.pop(address, None)
    if address:
        world.orphan(description)
