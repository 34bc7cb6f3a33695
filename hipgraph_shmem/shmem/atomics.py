"""Blocking atomic operations on one element of another PE's symmetric memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .heap import SymmetricArray, SymmetricView
from .operands import symmetric
from .world import blocking_world

__all__ = [
    "add",
    "and_",
    "compare_swap",
    "fetch",
    "fetch_add",
    "fetch_and",
    "fetch_inc",
    "fetch_or",
    "fetch_xor",
    "inc",
    "or_",
    "set_",
    "swap",
    "xor",
]

_TYPES = {
    np.dtype(np.int32): "int",
    np.dtype(np.int64): "long",
    np.dtype(np.uint32): "uint32",
    np.dtype(np.uint64): "uint64",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
_INTEGERS = frozenset({"int", "long", "uint32", "uint64"})
_BITS = frozenset({"uint32", "uint64"})
_CURE = "atomics of the host are not recorded: use them outside captures, or on_stream.signal_add"

_Element = SymmetricArray | SymmetricView


def fetch(element: _Element, pe: int) -> Any:
    """Return the element of a PE. `element` is one element: `array[i]`."""
    return _atomic("fetch", frozenset(_TYPES.values()), element, pe)


def set_(element: _Element, value: float, pe: int) -> None:
    """Set the element of a PE."""
    _atomic("set", frozenset(_TYPES.values()), element, pe, value)


def swap(element: _Element, value: float, pe: int) -> Any:
    """Set the element of a PE; return what it was."""
    return _atomic("swap", frozenset(_TYPES.values()), element, pe, value)


def compare_swap(element: _Element, condition: int, value: int, pe: int) -> Any:
    """Set the integer of a PE if it equals `condition`; return what it was."""
    return _atomic("compare_swap", _INTEGERS, element, pe, condition, value)


def fetch_add(element: _Element, value: int, pe: int) -> Any:
    """Add to the integer of a PE; return what it was."""
    return _atomic("fetch_add", _INTEGERS, element, pe, value)


def fetch_inc(element: _Element, pe: int) -> Any:
    """Add one to the integer of a PE; return what it was."""
    return _atomic("fetch_inc", _INTEGERS, element, pe)


def add(element: _Element, value: int, pe: int) -> None:
    """Add to the integer of a PE."""
    _atomic("add", _INTEGERS, element, pe, value)


def inc(element: _Element, pe: int) -> None:
    """Add one to the integer of a PE."""
    _atomic("inc", _INTEGERS, element, pe)


def fetch_and(element: _Element, value: int, pe: int) -> Any:
    """Clear the bits of a PE's unsigned integer that `value` lacks; return what it was."""
    return _atomic("fetch_and", _BITS, element, pe, value)


def fetch_or(element: _Element, value: int, pe: int) -> Any:
    """Set bits of a PE's unsigned integer; return what it was."""
    return _atomic("fetch_or", _BITS, element, pe, value)


def fetch_xor(element: _Element, value: int, pe: int) -> Any:
    """Flip bits of a PE's unsigned integer; return what it was."""
    return _atomic("fetch_xor", _BITS, element, pe, value)


def and_(element: _Element, value: int, pe: int) -> None:
    """Clear the bits of a PE's unsigned integer that `value` lacks."""
    _atomic("and", _BITS, element, pe, value)


def or_(element: _Element, value: int, pe: int) -> None:
    """Set bits of a PE's unsigned integer."""
    _atomic("or", _BITS, element, pe, value)


def xor(element: _Element, value: int, pe: int) -> None:
    """Flip bits of a PE's unsigned integer."""
    _atomic("xor", _BITS, element, pe, value)


def _atomic(operation: str, kinds: frozenset[str], element: Any, pe: int, *values: float) -> Any:
    world = blocking_world(f"atomics.{operation}", _CURE)
    place = symmetric(element, "element", world)
    if place.dtype is None or place.nbytes != place.dtype.itemsize:
        raise ValueError(f"element={element!r}: one element is needed: array[i]")
    kind = _TYPES.get(place.dtype)
    if kind not in kinds:
        names = ", ".join(str(dtype) for dtype, name in _TYPES.items() if name in kinds)
        raise TypeError(f"element={element!r}: {operation} takes {names}")
    for value in values:
        _check_range(value, place.dtype)
    function = f"{kind}_atomic_{operation}"
    return world.provider.call(function, place.address, *values, world.check_pe(pe))


def _check_range(value: float, dtype: np.dtype[Any]) -> None:
    if dtype.kind == "f":
        return
    bounds = np.iinfo(dtype)
    if not isinstance(value, int | np.integer) or not bounds.min <= value <= bounds.max:
        raise ValueError(f"value={value!r}: not a number of type {dtype}")
