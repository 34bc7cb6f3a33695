"""Gemm: D = A * B^T (+ bias), with K cut into slices that run side by side."""

from __future__ import annotations

from typing import Any

from ..devices import device_info
from .counters import pool_of
from .kernels import ELEMENT_TYPES, Operands, main_step, reduce_step
from .operands import Operand, check_word, matrix, vector
from .operation import Operation
from .plan import Plan, make_plan
from .work import Step, Work

__all__ = ["SCHEMES", "Gemm"]

INPUT_DTYPES = ("bfloat16", "float16")
#: counter: the last workgroup of a tile reduces it; two_kernel: a second launch does.
SCHEMES = ("counter", "two_kernel")
#: Lanes load 8 elements of 2 bytes at a time.
_INPUT_ALIGNMENT = 16


class Gemm(Operation):
    """A GEMM of fixed sizes: D (m x n) = A (m x k) * B (n x k) transposed, plus a bias.

    The result has the same bits eager, captured and replayed, with either scheme.

    Attributes:
        plan: How it is cut.
        device: Where it runs.
        scheme: How partial sums meet.
    """

    def __init__(
        self,
        m: int,
        n: int,
        k: int,
        *,
        dtype: str = "bfloat16",
        out_dtype: str = "float32",
        split_k: int | None = None,
        scheme: str = "counter",
        device: int = 0,
    ) -> None:
        """Plan the GEMM; nothing is allocated or launched.

        Args:
            m: Rows of A and D.
            n: Rows of B, columns of D.
            k: Columns of A and B, a multiple of 8.
            dtype: Element type of A and B: bfloat16 or float16.
            out_dtype: Element type of D: float32, bfloat16 or float16 (one rounding).
            split_k: Slices of K; None chooses for the device.
            scheme: "counter" (one launch) or "two_kernel" (two launches, no counter).
            device: Where it runs.
        """
        check_word("dtype", dtype, INPUT_DTYPES)
        check_word("out_dtype", out_dtype, tuple(ELEMENT_TYPES))
        check_word("scheme", scheme, SCHEMES)
        info = device_info(device)
        self.device = info.ordinal
        self.scheme = scheme
        self.plan: Plan = make_plan(m, n, k, split_k=split_k, compute_units=info.compute_units)
        self._dtype = dtype
        self._out_dtype = out_dtype

    def __repr__(self) -> str:
        plan = self.plan
        return (
            f"<Gemm {plan.m}x{plan.n}x{plan.k} {self._dtype} -> {self._out_dtype}"
            f" split_k={plan.split_k} {self.scheme}>"
        )

    def work(self, a: Any, b: Any, out: Any, bias: Any = None) -> Work:
        """Check the operands; return what a call does, for callers that own the scratch memory."""
        plan = self.plan
        a_operand = self._input("a", a, plan.m)
        b_operand = self._input("b", b, plan.n)
        out_operand = matrix(
            "out",
            out,
            (plan.m, plan.n),
            dtypes=(self._out_dtype,),
            device=self.device,
            written=True,
        )
        types = (self._out_dtype, *(name for name in ELEMENT_TYPES if name != self._out_dtype))
        bias_operand = (
            vector("bias", bias, plan.n, dtypes=types, device=self.device)
            if bias is not None
            else Operand(0, self._out_dtype, 0, None)
        )
        operands = Operands(
            a=a_operand.address,
            b=b_operand.address,
            bias=bias_operand.address,
            out=out_operand.address,
            stride_a=a_operand.stride,
            stride_b=b_operand.stride,
            stride_out=out_operand.stride,
            dtype=self._dtype,
            out_dtype=self._out_dtype,
            bias_dtype=bias_operand.dtype,
        )
        keep = (a_operand.owner, b_operand.owner, out_operand.owner, bias_operand.owner)
        return self._steps(operands, tuple(owner for owner in keep if owner is not None))

    def _input(self, name: str, value: Any, rows: int) -> Operand:
        return matrix(
            name,
            value,
            (rows, self.plan.k),
            dtypes=(self._dtype,),
            device=self.device,
            alignment=_INPUT_ALIGNMENT,
        )

    def _steps(self, operands: Operands, keep: tuple[object, ...]) -> Work:
        plan = self.plan
        counted = self.scheme == "counter" and plan.split_k > 1
        error_word = pool_of(self.device).error_word if counted else 0
        steps: tuple[Step, ...] = (main_step(self.device, plan, operands, error_word=error_word),)
        if plan.split_k > 1 and not counted:
            steps = (*steps, reduce_step(self.device, plan, operands))
        return Work(
            device=self.device,
            steps=steps,
            keep=keep,
            counter_words=plan.counter_words if counted else 0,
            workspace_bytes=plan.workspace_bytes,
        )
