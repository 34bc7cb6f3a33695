"""Inputs for a GEMM, its float64 product, and how far a right result may be from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes  # noqa: F401 - gives NumPy the name bfloat16
import numpy as np

Array = np.ndarray[Any, Any]

FP32_UNIT = 2.0**-24
#: Half a unit in the last place, relative: what one rounding may change.
ROUNDING = {"float32": 0.0, "bfloat16": 2.0**-8, "float16": 2.0**-11}


@dataclass(frozen=True)
class Problem:
    """A, B and a bias on the host."""

    a: Array
    b: Array
    bias: Array | None = None

    @property
    def product(self) -> Array:
        """The result in float64."""
        exact: Array = self.a.astype(np.float64) @ self.b.astype(np.float64).T
        return exact if self.bias is None else exact + self.bias.astype(np.float64)

    def bound(self, split_k: int, out_dtype: str = "float32") -> Array:
        """Return the largest error of any order of fp32 sums, and of one rounding at the end."""
        size = np.abs(self.a.astype(np.float64)) @ np.abs(self.b.astype(np.float64)).T
        if self.bias is not None:
            size = size + np.abs(self.bias.astype(np.float64))
        sums = (self.a.shape[1] / 4 + 17 + split_k) * FP32_UNIT * size
        return sums + ROUNDING[out_dtype] * (np.abs(self.product) + sums) + 1e-30

    def assert_right(self, result: Array, split_k: int) -> None:
        """Compare a result with the product."""
        error = np.abs(result.astype(np.float64) - self.product)
        assert np.all(error <= self.bound(split_k, result.dtype.name)), float(error.max())


def problem(
    m: int, n: int, k: int, dtype: str = "bfloat16", bias_dtype: str | None = None, seed: int = 0
) -> Problem:
    """Draw normally distributed inputs."""
    random = np.random.default_rng((m, n, k, seed))
    a, b = (random.standard_normal((rows, k), np.float32).astype(dtype) for rows in (m, n))
    bias = None
    if bias_dtype is not None:
        bias = random.standard_normal(n, np.float32).astype(bias_dtype)
    return Problem(a, b, bias)


def integers(m: int, n: int, k: int, dtype: str = "bfloat16") -> Problem:
    """Draw small integers: every sum is exact in fp32."""
    random = np.random.default_rng((m, n, k))
    a, b = (random.integers(-4, 5, (rows, k)).astype(dtype) for rows in (m, n))
    return Problem(a, b)


def same_bits(one: Array, other: Array) -> bool:
    """Compare bit for bit: NaN equals itself, zeros of different sign differ."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()
