"""Matrix instructions for tests: where elements lie in registers, and a NumPy product.

The device computes (register, lane) -> (row, k, block); here every matrix element has its own
formula (row, k, block) -> (lane, element), shape by shape as AMD's matrix instruction
calculator lists them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from helpers import isa

A, B, C, D = 0, 16, 64, 128  # first registers of the operands
Place = Callable[[Any, Any, Any], tuple[Any, Any]]  # integers or arrays of them

# (m, k, blocks) -> where A[i, k] of a block lies: (lane, element). B is the same with j for i.
INPUT: dict[tuple[int, int, int], Place] = {
    (32, 1, 2): lambda i, _k, b: (i + 32 * b, 0),
    (32, 2, 1): lambda i, k, _b: (i + 32 * k, 0),
    (32, 2, 2): lambda i, k, b: (i + 32 * b, k),
    (32, 4, 1): lambda i, k, _b: (i + 32 * (k // 2), k % 2),
    (32, 4, 2): lambda i, k, b: (i + 32 * b, k),
    (32, 8, 1): lambda i, k, _b: (i + 32 * (k // 4), k % 4),
    (32, 16, 1): lambda i, k, _b: (i + 32 * (k // 8), k % 8),
    (32, 32, 1): lambda i, k, _b: (i + 32 * (k // 16), k % 16),
    (16, 1, 4): lambda i, _k, b: (i + 16 * b, 0),
    (16, 2, 4): lambda i, k, b: (i + 16 * b, k),
    (16, 4, 1): lambda i, k, _b: (i + 16 * k, 0),
    (16, 4, 4): lambda i, k, b: (i + 16 * b, k),
    (16, 8, 1): lambda i, k, _b: (i + 16 * (k // 2), k % 2),
    (16, 16, 1): lambda i, k, _b: (i + 16 * (k // 4), k % 4),
    (16, 32, 1): lambda i, k, _b: (i + 16 * (k // 8), k % 8),
    (16, 64, 1): lambda i, k, _b: (i + 16 * (k // 16), k % 16),
    (4, 1, 16): lambda i, _k, b: (i + 4 * b, 0),
    (4, 2, 16): lambda i, k, b: (i + 4 * b, k),
    (4, 4, 16): lambda i, k, b: (i + 4 * b, k),
}
# m -> where D[i, j] of a block lies: (lane, element).
OUTPUT: dict[int, Place] = {
    32: lambda i, j, b: (j + 32 * (i // 4 % 2), 16 * b + 4 * (i // 8) + i % 4),
    16: lambda i, j, b: (j + 16 * (i // 4), 4 * b + i % 4),
    4: lambda i, j, b: (j + 4 * b, i),
}
# f64 has layouts of its own.
INPUT_F64: dict[tuple[int, int, int], Place] = {
    (16, 4, 1): lambda i, k, _b: (i + 16 * k, 0),
    (4, 4, 4): lambda i, k, b: (i + 4 * b + 16 * k, 0),
}
OUTPUT_F64: dict[int, Place] = {
    16: lambda i, j, _b: (j + 16 * (i % 4), i // 4),
    4: lambda i, j, b: (j + 4 * b + 16 * i, 0),
}
DTYPES: dict[str, type] = {
    "f64": np.float64,
    "f32": np.float32,
    "xf32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "fp8 fnuz": ml_dtypes.float8_e4m3fnuz,
    "bf8 fnuz": ml_dtypes.float8_e5m2fnuz,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
}


@dataclass(frozen=True)
class Case:
    """One matrix instruction."""

    target: str
    mnemonic: str
    m: int
    k: int
    blocks: int
    a: str
    b: str

    @property
    def result(self) -> type:
        return {"f64": np.float64, "i8": np.int32}.get(self.a, np.float32)

    @property
    def input_place(self) -> Place:
        return (INPUT_F64 if self.a == "f64" else INPUT)[self.m, self.k, self.blocks]

    @property
    def output_place(self) -> Place:
        return (OUTPUT_F64 if self.a == "f64" else OUTPUT)[self.m]

    def rows(self, kind: str) -> int:
        """Registers of an input of this element type."""
        size = np.dtype(DTYPES[kind]).itemsize
        return self.m * self.k * self.blocks * size // 256

    @property
    def result_rows(self) -> int:
        return self.m * self.m * self.blocks * np.dtype(self.result).itemsize // 256


def gfx90a_cases() -> list[Case]:
    shapes = [
        *(("f32", *s) for s in [(32, 1, 2), (16, 1, 4), (4, 1, 16), (32, 2, 1), (16, 4, 1)]),
        *(("f16", *s) for s in [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)]),
        *(("bf16", *s) for s in [(32, 2, 2), (16, 2, 4), (4, 2, 16), (32, 4, 1), (16, 8, 1)]),
        *(("i8", *s) for s in [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)]),
    ]
    cases = []
    for kind, m, k, blocks in shapes:
        name = f"v_mfma_{'i32' if kind == 'i8' else 'f32'}_{m}x{m}x{k}{kind}"
        cases.append(Case("gfx90a", name, m, k, blocks, kind, kind))
    for m, k, blocks in [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)]:
        name = f"v_mfma_f32_{m}x{m}x{k}bf16_1k"
        cases.append(Case("gfx90a", name, m, k, blocks, "bf16", "bf16"))
    cases.append(Case("gfx90a", "v_mfma_f64_16x16x4f64", 16, 4, 1, "f64", "f64"))
    cases.append(Case("gfx90a", "v_mfma_f64_4x4x4f64", 4, 4, 4, "f64", "f64"))
    return cases


def cases_since_gfx942(target: str) -> list[Case]:
    shapes = [
        *(("f32", *s) for s in [(32, 1, 2), (16, 1, 4), (4, 1, 16), (32, 2, 1), (16, 4, 1)]),
        *(("f16", *s) for s in [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)]),
        *(("bf16", *s) for s in [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)]),
        *(("i8", *s) for s in [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 16, 1), (16, 32, 1)]),
        *(("f64", *s) for s in [(16, 4, 1), (4, 4, 4)]),
    ]
    if target == "gfx942":
        shapes += [("xf32", 16, 8, 1), ("xf32", 32, 4, 1)]
    else:
        shapes += [("bf16", 16, 32, 1), ("bf16", 32, 16, 1), ("f16", 16, 32, 1)]
        shapes += [("f16", 32, 16, 1), ("i8", 16, 64, 1), ("i8", 32, 32, 1)]
    cases = []
    for kind, m, k, blocks in shapes:
        result = {"i8": "i32", "f64": "f64"}.get(kind, "f32")
        many = f"_{blocks}b" if blocks > 1 else ""
        name = f"v_mfma_{result}_{m}x{m}x{k}{many}_{kind}"
        cases.append(Case(target, name, m, k, blocks, kind, kind))
    suffix = " fnuz" if target == "gfx942" else ""
    for m, k in [(16, 32), (32, 16)]:
        for a in ("fp8", "bf8"):
            for b in ("fp8", "bf8"):
                name = f"v_mfma_f32_{m}x{m}x{k}_{a}_{b}"
                cases.append(Case(target, name, m, k, 1, a + suffix, b + suffix))
    return cases


CASES = gfx90a_cases() + cases_since_gfx942("gfx942") + cases_since_gfx942("gfx950")
BY_NAME = {(case.target, case.mnemonic): case for case in CASES}


def registers(prefix: str, first: int, count: int) -> str:
    return f"{prefix}{first}" if count == 1 else f"{prefix}[{first}:{first + count - 1}]"


def text(case: Case, banks: str = "vvvv", c: str | None = None, modifiers: str = "") -> str:
    """The instruction; `banks` names the register files of D, A, B and C."""
    operands = [
        registers(banks[0], D, case.result_rows),
        registers(banks[1], A, case.rows(case.a)),
        registers(banks[2], B, case.rows(case.b)),
        c or registers(banks[3], C, case.result_rows),
    ]
    return f"{case.mnemonic} {', '.join(operands)} {modifiers}"


@functools.cache
def code(case: Case) -> bytes:
    same_target = [other for other in CASES if other.target == case.target]
    assembled = isa.assemble(case.target, [text(other) for other in same_target])
    return dict(zip(same_target, assembled, strict=True))[case]


def to_rows(elements: np.ndarray) -> np.ndarray:
    """[lane, element] of any type as [register, lane] dwords."""
    return np.ascontiguousarray(elements).view(np.uint32).reshape(64, -1).T


def input_rows(case: Case, kind: str, matrix: np.ndarray) -> np.ndarray:
    """Registers that hold matrix[block, row, k]."""
    size = np.dtype(DTYPES[kind]).itemsize
    elements = np.zeros((64, case.rows(kind) * 4 // size), DTYPES[kind])
    block, row, k = np.indices(matrix.shape)
    elements[case.input_place(row, k, block)] = matrix
    return to_rows(elements)


def result_rows(case: Case, matrix: np.ndarray) -> np.ndarray:
    """Registers that hold matrix[block, row, column]."""
    size = np.dtype(case.result).itemsize
    elements = np.zeros((64, case.result_rows * 4 // size), case.result)
    block, row, column = np.indices(matrix.shape)
    elements[case.output_place(row, column, block)] = matrix
    return to_rows(elements)


def result_matrix(case: Case, rows: np.ndarray) -> np.ndarray:
    """matrix[block, row, column] out of registers."""
    elements = np.ascontiguousarray(rows.T).view(case.result)
    block, row, column = np.indices((case.blocks, case.m, case.m))
    return elements[case.output_place(row, column, block)]


def numbered(first: int, rows: np.ndarray) -> dict[int, np.ndarray]:
    return {first + n: row for n, row in enumerate(rows)}


def run(
    case: Case,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    program: bytes | str | None = None,
    banks: str = "vvvv",
    exec_mask: int = isa.ALL_LANES,
) -> np.ndarray:
    """D of D = A * B + C; a and b are [block, row or column, k]."""
    files: dict[str, dict[int, np.ndarray]] = {"v": {}, "a": {}}
    files[banks[1]] |= numbered(A, input_rows(case, case.a, a))
    files[banks[2]] |= numbered(B, input_rows(case, case.b, b))
    files[banks[3]] |= numbered(C, result_rows(case, c))
    end = isa.run(
        case.target,
        program or code(case),
        vgpr=files["v"],
        accvgpr=files["a"],
        exec_mask=exec_mask,
    )
    first = D + (256 if banks[0] == "a" else 0)
    return result_matrix(case, end.vgpr[first : first + case.result_rows])


def integers(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs that every element type holds exactly, with exact sums."""
    rng = np.random.default_rng(seed)
    inputs = (case.blocks, case.m, case.k)
    a, b = rng.integers(-4, 5, inputs), rng.integers(-4, 5, inputs)
    c = rng.integers(-50, 51, (case.blocks, case.m, case.m))
    return a.astype(DTYPES[case.a]), b.astype(DTYPES[case.b]), c.astype(case.result)


def product(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64).transpose(0, 2, 1) + c.astype(np.float64)
