"""Exact rounding of rational numbers to binary floating point formats: an oracle for rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

NEAREST, UP, DOWN, TOWARD_ZERO = range(4)  # as MODE encodes them


@dataclass(frozen=True, slots=True)
class Format:
    """Stored fraction bits, exponent bits and the numpy types of a format."""

    fraction: int
    exponent: int
    float_type: type
    bits_type: type

    @property
    def bias(self) -> int:
        """Exponent bias."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        """Bits of infinity."""
        return ((1 << self.exponent) - 1) << self.fraction


F16 = Format(10, 5, np.float16, np.uint16)
F32 = Format(23, 8, np.float32, np.uint32)
F64 = Format(52, 11, np.float64, np.uint64)
BF16 = Format(7, 8, np.float32, np.uint16)


def round_magnitude(value: Fraction, fmt: Format, mode: int, negative: bool) -> int:
    """Bits of |value| rounded into `fmt`; `negative` tells which way up and down go."""
    if value == 0:
        return 0
    exponent = max(value.numerator.bit_length() - value.denominator.bit_length() - 1, -(1 << 14))
    if value >= Fraction(2) ** (exponent + 1):
        exponent += 1
    exponent = max(exponent, 1 - fmt.bias)
    scaled = value / Fraction(2) ** (exponent - fmt.fraction)
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    if mode == NEAREST:
        twice = 2 * rest
        up = twice > scaled.denominator or (twice == scaled.denominator and whole & 1)
    else:
        up = rest != 0 and ((mode == UP and not negative) or (mode == DOWN and negative))
    whole += 1 if up else 0
    bits = ((exponent + fmt.bias - 1) << fmt.fraction) + whole
    if bits < fmt.infinity:
        return bits
    away = mode == NEAREST or (mode == UP and not negative) or (mode == DOWN and negative)
    return fmt.infinity if away else fmt.infinity - 1


def rounded(value: Fraction, fmt: Format, mode: int = NEAREST, zero_sign: int = 0) -> int:
    """Bits of `value` in `fmt`; an exact zero takes `zero_sign`."""
    negative = value < 0 or (value == 0 and zero_sign == 1)
    sign = 1 << (fmt.fraction + fmt.exponent) if negative else 0
    return round_magnitude(abs(value), fmt, mode, negative) | sign


def to_float(bits: int, fmt: Format) -> float:
    """The number that bits stand for."""
    return float(np.array([bits], fmt.bits_type).view(fmt.float_type)[0])


def fma(a: float, b: float, c: float, fmt: Format, mode: int = NEAREST) -> float:
    """a * b + c rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    total = Fraction(a) * Fraction(b) + Fraction(c)
    product_sign = math.copysign(1, a) * math.copysign(1, b) < 0
    addend_sign = math.copysign(1, c) < 0
    zero_is_negative = product_sign and addend_sign
    if mode == DOWN:
        zero_is_negative = product_sign or addend_sign
    return to_float(rounded(total, fmt, mode, int(zero_is_negative)), fmt)


def fma_array(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, fmt: Format, mode: int = NEAREST
) -> np.ndarray:
    """`fma` of arrays."""
    values = [fma(float(x), float(y), float(z), fmt, mode) for x, y, z in zip(a, b, c, strict=True)]
    return np.array(values, fmt.float_type)
