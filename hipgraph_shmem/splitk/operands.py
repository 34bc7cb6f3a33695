"""Checks of what a split-K call is given: each error names the argument, its value and the cure."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..access import Region
from ..handle import Handle
from ..memory import ArrayView, as_array_view
from .addresses import check_address

__all__ = ["ITEM_SIZES", "Operand", "check_device", "check_word", "matrix", "rows_of", "vector"]

ITEM_SIZES = MappingProxyType({"float32": 4, "bfloat16": 2, "float16": 2})


@dataclass(frozen=True, slots=True)
class Operand:
    """A checked matrix or vector.

    Attributes:
        address: Its first element.
        dtype: Its element type, by name.
        stride: Elements from row to row.
        owner: The object that keeps the memory alive; None for a raw address.
    """

    address: int
    dtype: str
    stride: int
    owner: object


def matrix(
    name: str,
    value: Any,
    shape: tuple[int, int],
    *,
    dtypes: tuple[str, ...],
    device: int,
    alignment: int | None = None,
    written: bool = False,
) -> Operand:
    """Check a row-major matrix.

    Args:
        name: The argument's name.
        value: Array object or device address; an address means rows without gaps.
        shape: What its shape must be.
        dtypes: What its element type may be; the first is meant by an address.
        device: Where it must be.
        alignment: What its address and row stride must be multiples of, its element by default.
        written: Whether it is an output.
    """
    rows, columns = shape
    operand, view = _operand(name, value, dtypes, device)
    step = alignment or ITEM_SIZES[operand.dtype]
    stride = columns
    if view is not None:
        _check_shape(name, view, shape)
        stride = _row_stride(name, view, ITEM_SIZES[operand.dtype])
        if written and view.readonly:
            raise ValueError(f"{name}={value!r} is read-only: give memory that may be written")
    if operand.address % step:
        raise ValueError(
            f"{name}={value!r} starts at {operand.address:#x}: it must start at a multiple of"
            f" {step} bytes"
        )
    stride_bytes = stride * ITEM_SIZES[operand.dtype]
    if rows > 1 and stride_bytes % step:
        raise ValueError(
            f"{name}={value!r} has rows {stride_bytes} bytes apart: that must be a multiple of"
            f" {step}; pad the rows"
        )
    return Operand(operand.address, operand.dtype, stride, operand.owner)


def vector(name: str, value: Any, size: int, *, dtypes: tuple[str, ...], device: int) -> Operand:
    """Check `size` numbers without gaps; the arguments are those of `matrix`."""
    operand, view = _operand(name, value, dtypes, device)
    itemsize = ITEM_SIZES[operand.dtype]
    if view is not None:
        _check_shape(name, view, (size,))
        if view.strides_bytes not in (None, (itemsize,)) and size > 1:
            raise ValueError(
                f"{name}={value!r} has strides {view.strides_bytes}: it must have no gaps"
            )
    if operand.address % itemsize:
        raise ValueError(f"{name}={value!r} is not aligned to its element of {itemsize} bytes")
    return operand


def rows_of(address: int, rows: int, columns: int, stride: int, dtype: str) -> Region:
    """Return the bytes of a matrix whose rows are `stride` elements apart."""
    size = ITEM_SIZES[dtype]
    return Region(address, columns * size, rows, stride * size)


def check_device(name: str, found: int, wanted: int) -> None:
    """Refuse what is on another device."""
    if found != wanted:
        raise ValueError(f"{name} is on device {found}: it must be on device {wanted}")


def check_word(name: str, word: str, words: tuple[str, ...]) -> None:
    """Refuse a word that is not in the list."""
    if word not in words:
        raise ValueError(f"{name}={word!r} is not supported: give one of {', '.join(words)}")


def _operand(
    name: str, value: Any, dtypes: tuple[str, ...], device: int
) -> tuple[Operand, ArrayView | None]:
    if isinstance(value, int) and not isinstance(value, bool):
        check_address(name, value, device)
        return Operand(value, dtypes[0], 0, None), None
    if isinstance(value, Handle) and value.closed:
        raise ValueError(f"{name}={value!r} is closed: give memory that is still there")
    view = as_array_view(value, name)
    if view.dtype.name not in dtypes:
        raise TypeError(
            f"{name}={value!r} has elements of type {view.dtype.name}:"
            f" it must be {' or '.join(dtypes)}"
        )
    check_device(name, view.device, device)
    return Operand(view.address, view.dtype.name, 0, view.owner), view


def _check_shape(name: str, view: ArrayView, shape: tuple[int, ...]) -> None:
    if tuple(view.shape) != shape:
        raise ValueError(f"{name} has shape {tuple(view.shape)}: it must be {shape}")


def _row_stride(name: str, view: ArrayView, itemsize: int) -> int:
    """Return elements from row to row, or refuse what is not row-major."""
    rows, columns = view.shape
    if view.strides_bytes is None or rows == 1:
        return int(columns)
    row_bytes, column_bytes = view.strides_bytes
    if columns > 1 and column_bytes != itemsize:
        raise ValueError(
            f"{name} has strides {view.strides_bytes} in bytes: elements of a row must follow each"
            " other; copy it to row-major order"
        )
    if row_bytes < columns * itemsize or row_bytes % itemsize:
        raise ValueError(
            f"{name} has rows {row_bytes} bytes apart: they must not overlap and must be whole"
            f" elements of {itemsize} bytes apart"
        )
    return int(row_bytes // itemsize)
