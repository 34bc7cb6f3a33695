"""What the memory atomics do, one word at a time, in Python and NumPy."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

Operation = Callable[[int, int, int], int]  # old, first operand, second operand -> new; as bits


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _float(value: int, bits: int) -> np.floating:
    kind = np.uint32 if bits == 32 else np.uint64
    return np.array(value, kind).view(f"f{bits // 8}")[()]


def _bits(value: np.floating) -> int:
    array = np.array(value)
    return int(array.view(f"u{array.itemsize}"))


def _minimum(bits: int) -> Operation:
    def apply(old: int, data: int, _: int) -> int:
        a, b = _float(old, bits), _float(data, bits)
        if np.isnan(a):
            return data
        if np.isnan(b):
            return old
        return data if (b, not np.signbit(b)) < (a, not np.signbit(a)) else old

    return apply


def _maximum(bits: int) -> Operation:
    def apply(old: int, data: int, _: int) -> int:
        a, b = _float(old, bits), _float(data, bits)
        if np.isnan(a):
            return data
        if np.isnan(b):
            return old
        return data if (b, not np.signbit(b)) > (a, not np.signbit(a)) else old

    return apply


def _packed_add(dtype: type) -> Operation:
    def apply(old: int, data: int, _: int) -> int:
        a, b = (np.array([v], np.uint32).view(dtype).astype(np.float64) for v in (old, data))
        return int((a + b).astype(dtype).view(np.uint32)[0])

    return apply


def operations(bits: int) -> dict[str, Operation]:
    """The operations on words of 32 or 64 bits; results wrap."""
    table: dict[str, Operation] = {
        "swap": lambda _old, data, _: data,
        "cmpswap": lambda old, data, compare: data if old == compare else old,
        "add": lambda old, data, _: old + data,
        "sub": lambda old, data, _: old - data,
        "rsub": lambda old, data, _: data - old,
        "smin": lambda old, data, _: min(old, data, key=lambda v: _signed(v, bits)),
        "smax": lambda old, data, _: max(old, data, key=lambda v: _signed(v, bits)),
        "umin": lambda old, data, _: min(old, data),
        "umax": lambda old, data, _: max(old, data),
        "and": lambda old, data, _: old & data,
        "or": lambda old, data, _: old | data,
        "xor": lambda old, data, _: old ^ data,
        "mskor": lambda old, data, extra: (old & ~data) | extra,
        "inc": lambda old, data, _: 0 if old >= data else old + 1,
        "dec": lambda old, data, _: data if old == 0 or old > data else old - 1,
        "wrap": lambda old, data, extra: old - data if old >= data else old + extra,
        "add_float": lambda old, data, _: _bits(_float(old, bits) + _float(data, bits)),
        "min_float": _minimum(bits),
        "max_float": _maximum(bits),
    }
    if bits == 32:
        table["pk_add_f16"] = _packed_add(np.float16)
        table["pk_add_bf16"] = _packed_add(ml_dtypes.bfloat16)
    mask = (1 << bits) - 1
    return {
        name: lambda old, data, extra, apply=apply: apply(old, data, extra) & mask
        for name, apply in table.items()
    }


def in_lane_order(
    operation: Operation,
    memory: np.ndarray,
    words: np.ndarray,
    data: np.ndarray,
    extra: np.ndarray,
    exec_mask: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Memory afterwards and each lane's old word (0 where inactive), lanes ascending."""
    after, old = memory.copy(), np.zeros(64, memory.dtype)
    for lane in range(64):
        if exec_mask >> lane & 1:
            old[lane] = after[words[lane]]
            new = operation(int(old[lane]), int(data[lane]), int(extra[lane]))
            after[words[lane]] = new
    return after, old


def values(bits: int, kind: str, count: int, seed: int) -> np.ndarray:
    """Operand words: small integers, random bits and edges, or floats with NaNs and zeros."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(f"u{bits // 8}")
    if kind in ("pk_add_f16", "pk_add_bf16"):
        narrow = np.float16 if kind == "pk_add_f16" else ml_dtypes.bfloat16
        return rng.standard_normal(2 * count).astype(narrow).view(np.uint32)
    if kind.endswith("_float"):
        floats = rng.standard_normal(count).astype(f"f{bits // 8}")
        floats[rng.integers(0, count, count // 8)] = -0.0
        floats[rng.integers(0, count, count // 8)] = 0.0
        if kind != "add_float":  # which NaN a sum of two gives is not what is tested
            floats[rng.integers(0, count, count // 8)] = np.nan
        return floats.view(dtype)
    words = rng.integers(0, 1 << bits, count, dtype=dtype)
    small = rng.random(count) < 0.5
    words[small] = rng.integers(0, 4, int(small.sum()), dtype=dtype)
    words[rng.integers(0, count, count // 8)] = (1 << bits) - 1
    return words


_INTEGER = ("swap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec")
# What follows flat_atomic_, global_atomic_ and buffer_atomic_ -> operation, bits.
MEMORY_ATOMICS: dict[str, tuple[str, int]] = {
    **{name: (name, 32) for name in _INTEGER},
    **{f"{name}_x2": (name, 64) for name in _INTEGER},
    "add_f32": ("add_float", 32),
    "add_f64": ("add_float", 64),
    "min_f64": ("min_float", 64),
    "max_f64": ("max_float", 64),
    "pk_add_f16": ("pk_add_f16", 32),
    "pk_add_bf16": ("pk_add_bf16", 32),
}
