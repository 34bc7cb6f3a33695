"""Allocation: memory of a shape and an element type; PinnedBuffer, the page-locked host kind."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NoReturn

import numpy as np

from .captures import refuse_while_capturing
from .devices import on_device
from .handle import Handle
from .runtime import call

__all__ = ["Allocation", "PinnedBuffer"]

DEFAULT_HOST_FLAGS = 0


class Allocation(Handle):
    """What device and pinned memory have in common: a shape of elements at an address."""

    frees_memory: ClassVar[bool] = True
    __slots__ = ("device", "dtype", "nbytes", "shape")

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int
    device: int

    def __init__(self, shape: int | tuple[int, ...], dtype: Any, device: int | None) -> None:
        self.shape, self.dtype = _shape(shape), np.dtype(dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        refuse_while_capturing(f"{type(self).__name__}{self.shape}", "allocate before the capture")
        with on_device(device) as ordinal:
            raw = self._allocate()
        self.device = ordinal
        super().__init__(raw)

    @classmethod
    def borrow(cls, raw: int) -> NoReturn:
        """Refuse: memory of others has no size here; use `as_array_view` or a raw address."""
        raise TypeError(f"{cls.__name__}.borrow({raw:#x}): pass the address, or an ArrayView")

    def _allocate(self) -> int:
        raise NotImplementedError

    @property
    def address(self) -> int:
        """Where the first element is; 0 if there are none."""
        return self.handle

    @property
    def extent(self) -> tuple[int, int]:
        """First byte and byte behind the last, also of memory that is closed."""
        return self._raw, self._raw + self.nbytes

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        ending = " closed" if self.closed else ""
        return f"<{type(self).__name__} {self._raw:#x} {shape} {self.dtype}{ending}>"


class PinnedBuffer(Allocation):
    """Page-locked host memory: copies from and to it do not block the host.

    Args:
        shape: Number of elements, or a tuple of extents.
        dtype: NumPy element type.
        device: The device whose runtime locks it; None: the current one of this thread.
    """

    destroy: ClassVar[str] = "hipHostFree"
    __slots__ = ()

    def __init__(
        self, shape: int | tuple[int, ...], dtype: Any = np.uint8, device: int | None = None
    ) -> None:
        super().__init__(shape, dtype, device)

    def _allocate(self) -> int:
        return int(call("hipHostMalloc", self.nbytes, DEFAULT_HOST_FLAGS))

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The memory as a NumPy array; it keeps the buffer, but not after close()."""
        if not self.nbytes:
            return np.empty(self.shape, self.dtype)
        return np.asarray(_Bytes(self)).view(self.dtype).reshape(self.shape)


class _Bytes:
    """The NumPy view's base object: it keeps the pinned buffer."""

    def __init__(self, buffer: PinnedBuffer) -> None:
        self._buffer = buffer
        self.__array_interface__ = {
            "shape": (buffer.nbytes,),
            "typestr": "|u1",
            "data": (buffer.address, False),
            "version": 3,
        }


def _shape(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"shape={shape}: extents are not negative")
    return tuple(int(extent) for extent in extents)
