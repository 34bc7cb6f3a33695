"""The package's own split-K kernels: the bundle, their names, their arguments."""

from __future__ import annotations

import importlib.resources
from dataclasses import dataclass
from types import MappingProxyType

from ..access import Region
from ..launch import LaunchConfig, pack
from ..module import Kernel, Module
from ..runtime import state
from .operands import rows_of
from .plan import Plan, ceil_div
from .work import WORD, Step

__all__ = ["BLOCK", "ELEMENT_TYPES", "Operands", "kernel", "main_step", "reduce_step"]

#: Every kernel of the bundle runs four waves.
BLOCK = (256, 1, 1)
#: Element types as the kernels' d_type and bias_type name them.
ELEMENT_TYPES = MappingProxyType({"float32": 0, "bfloat16": 1, "float16": 2})
_SHORT_NAMES = MappingProxyType({"bfloat16": "bf16", "float16": "f16"})
_FRAGMENT_ROWS = 16


@dataclass(frozen=True, slots=True)
class Operands:
    """The matrices of one call: addresses, row strides in elements, element types by name."""

    a: int
    b: int
    bias: int
    out: int
    stride_a: int
    stride_b: int
    stride_out: int
    dtype: str
    out_dtype: str
    bias_dtype: str

    def inputs(self, plan: Plan) -> tuple[Region, ...]:
        """Return where A and B are."""
        return (
            rows_of(self.a, plan.m, plan.k, self.stride_a, self.dtype),
            rows_of(self.b, plan.n, plan.k, self.stride_b, self.dtype),
        )

    def bias_of(self, plan: Plan) -> tuple[Region, ...]:
        """Return where the bias is, if there is one."""
        return (rows_of(self.bias, 1, plan.n, 0, self.bias_dtype),) if self.bias else ()

    def output(self, plan: Plan) -> tuple[Region, ...]:
        """Return where D is."""
        return (rows_of(self.out, plan.m, plan.n, self.stride_out, self.out_dtype),)


def kernel(device: int, name: str) -> Kernel:
    """Return a kernel of the bundle, loaded on a device at its first use."""
    key = (Module, "kernels", device)
    with state.lock:
        if key not in state.shared:
            bundle = importlib.resources.files(__package__.rpartition(".")[0])
            image = bundle.joinpath("kernels", "kernels.hipfb").read_bytes()
            state.shared[key] = Module(image, device)
        module: Module = state.shared[key]
    return module.kernel(name)


def main_step(device: int, plan: Plan, operands: Operands, *, error_word: int) -> Step:
    """Multiply slices; where it is given counters, the last workgroup of a tile reduces it."""
    name = f"splitk_gemm_{_SHORT_NAMES[operands.dtype]}_m{plan.tile_m}"
    main = kernel(device, name)

    def arguments(counters: int, workspace: int) -> bytes:
        values = (
            operands.a,
            operands.b,
            operands.bias,
            operands.out,
            workspace,
            counters,
            error_word,
            plan.m,
            plan.n,
            plan.k,
            operands.stride_a,
            operands.stride_b,
            operands.stride_out,
            plan.split_k,
            ELEMENT_TYPES[operands.out_dtype],
            ELEMENT_TYPES[operands.bias_dtype],
        )
        return pack(main.metadata, values)

    return Step(
        main,
        LaunchConfig(grid=plan.grid, block=BLOCK),
        arguments,
        reads=(*operands.inputs(plan), *operands.bias_of(plan)),
        writes=operands.output(plan) if error_word or plan.split_k == 1 else (),
        atomics=(Region(error_word, WORD),) if error_word else (),
    )


def reduce_step(device: int, plan: Plan, operands: Operands) -> Step:
    """Sum the partials in slice order, as a launch of its own."""
    reduce = kernel(device, f"splitk_reduce_m{plan.tile_m}")

    def arguments(_counters: int, workspace: int) -> bytes:
        values = (
            workspace,
            operands.bias,
            operands.out,
            plan.m,
            plan.n,
            operands.stride_out,
            plan.split_k,
            ELEMENT_TYPES[operands.out_dtype],
            ELEMENT_TYPES[operands.bias_dtype],
        )
        return pack(reduce.metadata, values)

    grid = (plan.tiles_n, plan.tiles_m, ceil_div(plan.tile_m, _FRAGMENT_ROWS))
    return Step(
        reduce,
        LaunchConfig(grid=grid, block=BLOCK),
        arguments,
        reads=operands.bias_of(plan),
        writes=operands.output(plan),
    )
