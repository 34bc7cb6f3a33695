"""What signals are set with and compared by: rocSHMEM's words and numbers."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeVar

__all__ = ["Comparison", "SignalOp", "as_signal_value", "as_word"]

_W = TypeVar("_W", bound=IntEnum)
WORD_BITS = 64


class SignalOp(IntEnum):
    """How a signal word is updated; NVSHMEM has other numbers for the same words."""

    SET = 0
    ADD = 1


class Comparison(IntEnum):
    """How a signal word is compared, unsigned; NVSHMEM has other numbers for the same words."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


def as_word(value: Any, words: type[_W], name: str) -> _W:
    """Return an enum member; a plain number is refused, since libraries disagree on them."""
    if not isinstance(value, words):
        choices = ", ".join(f"{words.__name__}.{each.name}" for each in words)
        raise TypeError(f"{name}={value!r}: give one of {choices}")
    return value


def as_signal_value(value: int) -> int:
    """Return an unsigned 64-bit value after checking it."""
    if not 0 <= value < 1 << WORD_BITS:
        raise ValueError(f"value={value}: a signal is an unsigned 64-bit number")
    return int(value)
