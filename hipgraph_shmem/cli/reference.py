"""Inputs, and the float64 product that results are measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Expected", "expect", "random_matrix"]

#: Half the distance of 1.0 to the next fp32 number: what one fp32 operation may be off.
_FP32_UNIT = 2.0**-24

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """A product in float64 and how far a correct fp32 sum may be from it, element by element."""

    product: Array
    bound: Array

    def errors(self, result: Array) -> tuple[float, float]:
        """Return the largest error, and the largest in units of the bound: up to 1 is right."""
        error = np.abs(result.astype(np.float64) - self.product)
        return float(np.max(error)), float(np.max(error / self.bound))


def random_matrix(random: np.random.Generator, rows: int, columns: int) -> Array:
    """Return numbers from -1 to 1, rounded to bfloat16."""
    return (2 * random.random((rows, columns), np.float32) - 1).astype("bfloat16")


def expect(a: Array, b: Array, split_k: int) -> Expected:
    """Multiply A by B transposed in float64.

    The bound holds for any order of fp32 additions in groups as small as four, with `split_k`
    more for the partials: (k / 4 + 16 + split_k) units of the product of the absolute values.
    """
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    steps = a.shape[1] / 4 + 16 + split_k
    return Expected(a64 @ b64.T, steps * _FP32_UNIT * (np.abs(a64) @ np.abs(b64).T))
