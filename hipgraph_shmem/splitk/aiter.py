"""AMD's shipped split-K kernels, loaded from a user's aiter install.

What they expect of a launch is written down here as checks; they check nothing themselves. The
`_clean` kernels count with one word a tile and add their slices to the output with atomics; the
others need no counter but an output that is zero.
"""

from __future__ import annotations

import csv
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..access import Region
from ..code_object import KernelMetadata
from ..devices import device_info
from ..errors import CodeObjectError
from ..launch import LaunchConfig
from ..module import Module
from ..runtime import state
from .operands import ITEM_SIZES, Operand, check_word, matrix, rows_of, vector
from .operation import Operation
from .plan import Plan, ceil_div, check_sizes
from .work import Fill, Step, Work

__all__ = ["AiterGemm", "AiterKernels", "KernelFacts", "find_folder", "load"]

_FOLDER = "bf16gemm"
_TABLE = "bf16gemm_fp32bf16.csv"
_PREFIX = "bf16gemm_fp32bf16_tn_"
_COLUMNS = ("knl_name", "co_name", "tn", "tileM", "tileN", "bPreshuffle", "splitK", "subK")
_BLOCK = (256, 1, 1)
_K_STEP = 64
_TILE_N = 64
#: aiter itself never launches more.
_MOST_SLICES = 16
#: Matrices are read a dword at a time and added to by dword atomics, pre-shuffled weights are
#: read four dwords at a time.
_ALIGNMENT = 4
_SHUFFLED_ALIGNMENT = 16
#: Offsets inside a matrix are 32-bit.
_MATRIX_LIMIT = 1 << 32
_ONE_AS_FLOAT_BITS = 0x3F800000


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """One line of the table that lies beside the code objects.

    Attributes:
        name: The short name, for example 64x64_splitk_clean.
        symbol: The kernel's name in its code object.
        path: The code object.
        tile_m: Rows of the output that one workgroup makes.
        shuffled: Whether B must be shuffled into tiles of 16 x 32.
        clean: Whether it counts its slices; if not, the output must be zero.
    """

    name: str
    symbol: str
    path: Path
    tile_m: int
    shuffled: bool
    clean: bool


class AiterKernels:
    """The kernels of one folder of an aiter install.

    Attributes:
        folder: Where the code objects lie.
        table: What kernels there are.
        device: The device they are meant for.
    """

    def __init__(self, folder: Path, device: int) -> None:
        """Read the table; `load` is the usual way."""
        self.folder = folder
        self.device = device
        self.table = _read_table(folder)

    def gemm(
        self,
        m: int,
        n: int,
        k: int,
        *,
        out_dtype: str = "float32",
        kernel: str | None = None,
        split_k: int | None = None,
        clean: bool = True,
        shuffled: bool = False,
    ) -> AiterGemm:
        """Plan a GEMM with one of the kernels; nothing is allocated or launched.

        Args:
            m: Rows of A and the output.
            n: Rows of B, a multiple of 64.
            k: Columns of A and B, a multiple of 64.
            out_dtype: float32 or bfloat16 (each slice is rounded and added, so the error grows).
            kernel: Short name of the kernel; None takes the one that pads `m` least.
            split_k: Slices of K: 2 to min(16, k / 64) for a clean kernel, from 1 for the others;
                None chooses.
            clean: Where `kernel` is None: whether to count (True) or to zero the output.
            shuffled: Where `kernel` is None: whether B is shuffled.
        """
        facts = self._named(kernel) if kernel else self._fitting(m, clean=clean, shuffled=shuffled)
        units = device_info(self.device).compute_units
        plan = _plan(m, n, k, facts, split_k, units)
        check_word("out_dtype", out_dtype, ("float32", "bfloat16"))
        return AiterGemm(facts, plan, out_dtype, self.device)

    def _named(self, name: str) -> KernelFacts:
        for facts in self.table:
            if facts.name == name:
                return facts
        names = ", ".join(facts.name for facts in self.table)
        raise ValueError(f"kernel={name!r} is not in {self.folder}: give one of {names}")

    def _fitting(self, m: int, *, clean: bool, shuffled: bool) -> KernelFacts:
        kinds = [each for each in self.table if (each.clean, each.shuffled) == (clean, shuffled)]
        if not kinds:
            raise ValueError(
                f"clean={clean}, shuffled={shuffled}: {self.folder} has no such kernel"
            )
        return min(kinds, key=lambda each: (ceil_div(m, each.tile_m) * each.tile_m, -each.tile_m))


class AiterGemm(Operation):
    """A GEMM of fixed sizes with one of AMD's kernels: fp32 or bf16 output, bf16 inputs.

    Slices are added in the order in which they arrive: results are right within the bound of
    floating-point addition, but their bits may differ from run to run.

    Attributes:
        facts: The kernel.
        plan: How the GEMM is cut.
        device: Where it runs.
    """

    def __init__(self, facts: KernelFacts, plan: Plan, out_dtype: str, device: int) -> None:
        """Make it; `AiterKernels.gemm` checks the sizes."""
        self.facts = facts
        self.plan = plan
        self.device = device
        self._out_dtype = out_dtype

    def __repr__(self) -> str:
        plan = self.plan
        sizes = f"{plan.m}x{plan.n}x{plan.k}"
        return f"<AiterGemm {sizes} {self.facts.name} split_k={plan.split_k}>"

    def work(self, a: Any, b: Any, out: Any, bias: Any = None) -> Work:
        """Check the operands; return what a call does, for callers that own the scratch memory."""
        plan, device = self.plan, self.device
        bf16 = ("bfloat16",)
        out_types = (self._out_dtype,)
        b_alignment = _SHUFFLED_ALIGNMENT if self.facts.shuffled else _ALIGNMENT
        a_in = matrix("a", a, (plan.m, plan.k), dtypes=bf16, device=device, alignment=_ALIGNMENT)
        b_in = matrix("b", b, (plan.n, plan.k), dtypes=bf16, device=device, alignment=b_alignment)
        d_out = matrix(
            "out",
            out,
            (plan.m, plan.n),
            dtypes=out_types,
            device=device,
            alignment=_ALIGNMENT,
            written=True,
        )
        biased = None
        if bias is not None:
            biased = vector("bias", bias, plan.n, dtypes=bf16, device=device)
        self._check_layout(a_in, b_in, d_out)
        owners = (a_in.owner, b_in.owner, d_out.owner, biased.owner if biased else None)
        fields = _fields(plan, a_in, b_in, d_out, biased)
        reads = [_rows(a_in, plan.m, plan.k), _rows(b_in, plan.n, plan.k)]
        if biased is not None:
            reads.append(_rows(biased, 1, plan.n))
        return Work(
            device=device,
            steps=(self._step(fields, tuple(reads), _rows(d_out, plan.m, plan.n)),),
            keep=tuple(owner for owner in owners if owner is not None),
            fill=None if self.facts.clean or plan.split_k == 1 else _fill(plan, d_out),
            counter_words=plan.tiles if self.facts.clean else 0,
        )

    def _check_layout(self, a: Operand, b: Operand, out: Operand) -> None:
        if self.facts.shuffled and b.stride != self.plan.k:
            raise ValueError(
                f"b has rows {b.stride} elements apart: shuffled weights have no gaps,"
                f" {self.plan.k} elements a row"
            )
        rows = {"a": (a, self.plan.m), "b": (b, self.plan.n), "out": (out, self.plan.m)}
        for name, (operand, count) in rows.items():
            nbytes = operand.stride * ITEM_SIZES[operand.dtype] * count
            if nbytes >= _MATRIX_LIMIT:
                raise ValueError(
                    f"{name} spans {nbytes} bytes: these kernels address less than"
                    f" {_MATRIX_LIMIT}; cut it into parts"
                )

    def _step(self, fields: Mapping[str, int], reads: tuple[Region, ...], out: Region) -> Step:
        kernel = _module(self.facts.path, self.device).kernel(self.facts.symbol)
        metadata = kernel.metadata

        def arguments(counters: int, _workspace: int) -> bytes:
            if self.facts.clean:
                return _pack(metadata, {**fields, "ptr_semaphore": counters})
            return _pack(metadata, fields)

        config = LaunchConfig(grid=self.plan.grid, block=_BLOCK)
        return Step(kernel, config, arguments, reads=reads, writes=(out,))


def load(directory: str | Path, device: int = 0) -> AiterKernels:
    """Find the kernels of a device in an aiter install.

    Args:
        directory: The install, its `hsa` folder, the folder of a target, or the one with the table.
        device: Whose target to look for.

    Raises:
        FileNotFoundError: There is no table where one should be.
    """
    info = device_info(device)
    return AiterKernels(find_folder(directory, info.target.partition(":")[0]), info.ordinal)


def find_folder(directory: str | Path, processor: str) -> Path:
    """Return the folder of an aiter install that holds a processor's kernels; see `load`."""
    root = Path(directory)
    places = (
        root / "hsa" / processor / _FOLDER,
        root / "aiter_meta" / "hsa" / processor / _FOLDER,
        root / processor / _FOLDER,
        root / _FOLDER,
        root,
    )
    for place in places:
        if (place / _TABLE).is_file():
            return place
    looked = ", ".join(str(place) for place in places)
    raise FileNotFoundError(
        f"directory={str(directory)!r} has no {_TABLE} for {processor}: looked in {looked}"
    )


def _read_table(folder: Path) -> tuple[KernelFacts, ...]:
    with (folder / _TABLE).open(newline="") as lines:
        rows = csv.DictReader(lines)
        missing = set(_COLUMNS) - set(rows.fieldnames or ())
        if missing:
            raise CodeObjectError(
                str(folder / _TABLE),
                f"the table has no column {', '.join(sorted(missing))}",
                "give the folder of an aiter release that has them",
            )
        # Rows of another shape are kernels that this file's checks know nothing about.
        known = [
            row
            for row in rows
            if (row["tn"], row["tileN"], row["subK"]) == ("1", str(_TILE_N), str(_K_STEP))
        ]
    return tuple(
        KernelFacts(
            name=row["co_name"].removeprefix(_PREFIX).removesuffix(".co"),
            symbol=row["knl_name"],
            path=folder / row["co_name"],
            tile_m=int(row["tileM"]),
            shuffled=row["bPreshuffle"] == "1",
            clean=row["splitK"] == "1",
        )
        for row in known
    )


def _plan(
    m: int, n: int, k: int, facts: KernelFacts, split_k: int | None, compute_units: int
) -> Plan:
    check_sizes(m=m, n=n, k=k, split_k=1 if split_k is None else split_k)
    for name, value, step in (("n", n, _TILE_N), ("k", k, _K_STEP)):
        if value % step:
            raise ValueError(f"{name}={value} is not a multiple of {step}: pad the matrices")
    least = 2 if facts.clean else 1
    most = min(_MOST_SLICES, k // _K_STEP)
    if least > most:
        raise ValueError(f"k={k} is too short for {facts.name}, which needs 2 slices of {_K_STEP}")
    if split_k is None:
        tiles = ceil_div(m, facts.tile_m) * (n // _TILE_N)
        split_k = max(least, min(compute_units // tiles, most))
    if not least <= split_k <= most:
        raise ValueError(
            f"split_k={split_k} is out of range for {facts.name} with k={k}: give {least} to {most}"
        )
    return Plan(m=m, n=n, k=k, split_k=split_k, tile_m=facts.tile_m, tile_n=_TILE_N)


def _fields(
    plan: Plan, a: Operand, b: Operand, out: Operand, bias: Operand | None
) -> dict[str, int]:
    """Name the arguments as the metadata do; the kernels ignore those left out."""
    return {
        "D": out.address,
        "C": out.address,
        "A": a.address,
        "B": b.address,
        "alpha": _ONE_AS_FLOAT_BITS,
        # The row stride of the output goes by the name of C; that of D is never read.
        "strideC0": out.stride * ITEM_SIZES[out.dtype],
        "strideA0": a.stride * ITEM_SIZES[a.dtype],
        "strideB0": b.stride * ITEM_SIZES[b.dtype],
        "Mdim": plan.m,
        "Ndim": plan.n,
        "Kdim": plan.k,
        "splitk": plan.split_k,
        "is_out_b16": int(out.dtype == "bfloat16"),
        "Bias": bias.address if bias else 0,
        "add_bias": int(bias is not None),
    }


def _pack(metadata: KernelMetadata, fields: Mapping[str, int]) -> bytes:
    """Pack arguments by name: every scalar lies in a cell of 16 bytes, padded by nameless ones."""
    arguments = {argument.name: argument for argument in metadata.arguments}
    blob = bytearray(metadata.kernarg_bytes)
    for name, value in fields.items():
        if name not in arguments:
            raise CodeObjectError(
                metadata.name,
                f"the kernel has no argument {name}",
                "give the folder of an aiter release whose kernels have it",
            )
        argument = arguments[name]
        struct.pack_into("<Q" if argument.size == 8 else "<I", blob, argument.offset, value)
    return bytes(blob)


def _rows(operand: Operand, rows: int, columns: int) -> Region:
    return rows_of(operand.address, rows, columns, operand.stride, operand.dtype)


def _fill(plan: Plan, out: Operand) -> Fill:
    size = ITEM_SIZES[out.dtype]
    return Fill(out.address, plan.n * size, plan.m, out.stride * size)


def _module(path: Path, device: int) -> Module:
    """Return a code object loaded on a device, loaded at its first use."""
    key = (Module, path, device)
    with state.lock:
        if key not in state.shared:
            state.shared[key] = Module(path, device)
        module: Module = state.shared[key]
    return module
