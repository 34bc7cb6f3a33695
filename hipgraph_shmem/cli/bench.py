"""`hipgraph-shmem bench emu`: how fast the emulated device is."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..devices import device_info
from ..emulated import is_emulated, take_counters
from ..errors import Error
from ..memory import Buffer
from ..splitk import Gemm
from ..splitk.aiter import load
from ..stream import Stream
from .output import Progress, emit
from .reference import expect, random_matrix
from .replays import AnyGemm

__all__ = ["show_bench"]

_SHAPE = (64, 256, 5120)
_AITER_KERNEL = "32x64_pf3_splitk"
#: As aiter itself launches it.
_AITER_SPLIT_K = 1


def show_bench(*, as_json: bool, aiter_folder: Path | None, repeats: int) -> int:
    """Time launches; return 0 if their results are right, else 1.

    Args:
        as_json: Whether to print one JSON object.
        aiter_folder: An aiter install, to time AMD's kernel too.
        repeats: Launches that are timed.
    """
    if not is_emulated():
        raise Error("bench emu measures the emulated device: set HIPGRAPH_RUNTIME=emu")
    runs = [_measure("ours", Gemm(*_SHAPE), repeats)]
    if aiter_folder is not None:
        shipped = load(aiter_folder).gemm(*_SHAPE, kernel=_AITER_KERNEL, split_k=_AITER_SPLIT_K)
        runs.append(_measure(f"AMD's {_AITER_KERNEL}", shipped, repeats))
    result = {
        "ok": all(run["ok"] for run in runs),
        "device": device_info(0).name,
        "shape": list(_SHAPE),
        "runs": runs,
    }
    emit(result, _lines(result), as_json=as_json)
    return 0 if result["ok"] else 1


def _measure(label: str, gemm: AnyGemm, repeats: int) -> dict[str, Any]:
    plan = gemm.plan
    random = np.random.default_rng(plan.k)
    a_host = random_matrix(random, plan.m, plan.k)
    b_host = random_matrix(random, plan.n, plan.k)
    times = []
    progress = Progress(label, repeats)
    with (
        Stream() as stream,
        Buffer(a_host.shape, "bfloat16") as a,
        Buffer(b_host.shape, "bfloat16") as b,
        Buffer((plan.m, plan.n), "float32") as out,
    ):
        a.copy_from(a_host, stream)
        b.copy_from(b_host, stream)
        gemm(stream, a, b, out)
        stream.synchronize()
        take_counters()
        for index in range(repeats):
            began = time.perf_counter()
            gemm(stream, a, b, out)
            stream.synchronize()
            times.append(time.perf_counter() - began)
            progress.step(index + 1)
        counts = take_counters()
        worst = expect(a_host, b_host, plan.split_k).errors(out.to_numpy(stream))[1]
    total = sum(times)
    return {
        "kernel": label,
        "split_k": plan.split_k,
        "grid": list(plan.grid),
        "median_ms": round(1e3 * statistics.median(times), 3),
        "best_ms": round(1e3 * min(times), 3),
        "wave_instructions_per_launch": counts["instructions"] // repeats,
        "wave_instructions_per_second": round(counts["instructions"] / total),
        "per_second_by_class": {
            name: round(count / total) for name, count in counts["by_class"].items()
        },
        "worst_error_of_bound": worst,
        "ok": worst <= 1,
    }


def _lines(result: dict[str, Any]) -> list[str]:
    shape = " x ".join(map(str, result["shape"]))
    lines = [f"{result['device']}, {shape}, bfloat16 -> float32"]
    for run in result["runs"]:
        verdict = "right" if run["ok"] else "WRONG"
        lines += [
            f"{run['kernel']}, split_k {run['split_k']}: median {run['median_ms']} ms,"
            f" best {run['best_ms']} ms, result {verdict}",
            f"  {run['wave_instructions_per_launch']} wave instructions a launch,"
            f" {run['wave_instructions_per_second'] / 1e6:.1f} million a second",
        ]
        lines += [
            f"  {name:8} {count / 1e6:10.2f} million a second"
            for name, count in run["per_second_by_class"].items()
        ]
    return lines
