"""The failure that a recorded zero-fill prevents, provoked in a process of its own.

A kernel in AMD's protocol waits for its counter to be zero. Recorded without a zero-fill it replays
well as long as nothing else writes its counters; after that it never ends.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..emulated import last_report
from ..errors import HipError
from ..graph import GraphExec, capture
from ..launch import LaunchConfig, launch, launch_packed
from ..memory import Buffer
from ..splitk.aiter import load
from ..splitk.kernels import BLOCK, kernel
from ..splitk.plan import Plan
from ..stream import Stream
from .reference import expect, random_matrix
from .replays import GARBAGE
from .run import PACKAGE_HOME

__all__ = ["provoke"]

#: The report must be there after this time; the process gets some more to start and to compute.
_REPORT_SECONDS = 5.0
_PROCESS_SECONDS = 120.0
_WAVES_PER_WORKGROUP = 4
#: What the waiting workgroups leave in a counter that held more than split_k.
_LEFT_BEHIND = 2
_SPIN_PLAN = Plan(m=64, n=256, k=1280, split_k=4, tile_m=64)
#: The launch that AMD's users saw hang.
_AITER_KERNEL = "64x64_splitk_clean"
_AITER_SIZES = (56, 2112, 7168)
_AITER_SPLIT_K = 7


@dataclass(slots=True)
class _Case:
    """A GEMM that counts in memory of ours, recorded without a zero-fill."""

    plan: Plan
    record: Callable[[Stream, Buffer, Buffer, Buffer, Buffer], None]


def provoke(folder: Path | None) -> dict[str, Any]:
    """Let a child process run into the deadlock; return what it saw, with a verdict.

    Args:
        folder: An aiter install to take AMD's kernel from; None: the package's own kernel.
    """
    command = [sys.executable, "-m", __name__]
    if folder is not None:
        command += ["--aiter", str(folder.resolve())]
    try:
        child = subprocess.run(
            command,
            cwd=PACKAGE_HOME,
            capture_output=True,
            text=True,
            timeout=_PROCESS_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"ok": False, "problem": f"no report after {_PROCESS_SECONDS:g} s"}
    if child.returncode:
        return {"ok": False, "problem": child.stderr.strip()[-2000:]}
    facts: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    ok = (
        facts["clean_replay_right"]
        and facts["zeroed_replay_right"]
        and facts["error"] == "hipErrorLaunchFailure"
        and facts["report"] == "hang"
        and facts["seconds"] <= _REPORT_SECONDS
        and facts["stuck_waves"] == facts["expected_waves"]
        and facts["counters"] == [_LEFT_BEHIND]
    )
    return {**facts, "ok": ok}


def main() -> None:
    """Run into the deadlock and print what was seen as one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--aiter", type=Path)
    folder: Path | None = parser.parse_args().aiter
    case = _own_case() if folder is None else _aiter_case(folder)
    print(json.dumps(_run(case)))


def _run(case: _Case) -> dict[str, Any]:
    plan = case.plan
    random = np.random.default_rng(plan.k)
    a_host = random_matrix(random, plan.m, plan.k)
    b_host = random_matrix(random, plan.n, plan.k)
    stream = Stream()
    a, b = Buffer(a_host.shape, "bfloat16"), Buffer(b_host.shape, "bfloat16")
    out, counters = Buffer((plan.m, plan.n), "float32"), Buffer(plan.tiles, np.uint32)
    a.copy_from(a_host, stream)
    b.copy_from(b_host, stream)
    counters.fill(0, stream)
    with capture(stream) as captured:
        case.record(stream, a, b, out, counters)
    graph_exec = captured.graph.instantiate()
    expected = expect(a_host, b_host, plan.split_k)

    def replay_is_right() -> bool:
        out.fill(0xFF, stream)
        graph_exec.launch(stream)
        return expected.errors(out.to_numpy(stream))[1] <= 1

    right = replay_is_right()
    counters.fill(GARBAGE, stream, width=4)
    stream.synchronize()
    seconds, error = _time_failure(graph_exec, stream)
    left_behind = sorted({int(word) for word in counters.to_numpy(stream)})
    counters.fill(0, stream)
    return {
        "kernel": captured.graph.nodes[0].name,  # type: ignore[attr-defined]
        "grid": list(plan.grid),
        "clean_replay_right": right,
        "error": error,
        "seconds": round(seconds, 3),
        "expected_waves": plan.tiles * _WAVES_PER_WORKGROUP,
        **_stuck_waves(),
        "counters": left_behind,
        "zeroed_replay_right": replay_is_right(),
    }


def _time_failure(graph_exec: GraphExec, stream: Stream) -> tuple[float, str]:
    began = time.monotonic()
    try:
        graph_exec.launch(stream)
        stream.synchronize()
    except HipError as error:
        return time.monotonic() - began, error.name
    return time.monotonic() - began, "hipSuccess"


def _stuck_waves() -> dict[str, Any]:
    report = last_report() or {}
    told = ("workgroup", "wave", "symbol", "instruction", "address", "value")
    return {
        "report": report.get("kind", "none"),
        "stuck_waves": report.get("stuck_waves", 0),
        "waves": [{name: wave.get(name) for name in told} for wave in report.get("waves", [])],
    }


def _own_case() -> _Case:
    plan = _SPIN_PLAN
    spin = kernel(0, "splitk_spin_bf16_m64")

    def record(stream: Stream, a: Buffer, b: Buffer, out: Buffer, counters: Buffer) -> None:
        sizes = (plan.m, plan.n, plan.k, plan.k, plan.k, plan.n, plan.split_k)
        launch(stream, spin, LaunchConfig(grid=plan.grid, block=BLOCK), a, b, out, counters, *sizes)

    return _Case(plan, record)


def _aiter_case(folder: Path) -> _Case:
    kernels = load(folder)
    gemm = kernels.gemm(*_AITER_SIZES, kernel=_AITER_KERNEL, split_k=_AITER_SPLIT_K)

    def record(stream: Stream, a: Buffer, b: Buffer, out: Buffer, counters: Buffer) -> None:
        work = gemm.work(a, b, out)
        (step,) = work.steps
        block = step.arguments(counters.address, 0)
        launch_packed(stream, step.kernel, step.config, block, counters, *work.keep)

    return _Case(gemm.plan, record)


if __name__ == "__main__":
    main()
