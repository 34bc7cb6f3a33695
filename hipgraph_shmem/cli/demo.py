"""`hipgraph-shmem demo`: the main job, and the failure it prevents."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

from ..devices import device_info, runtime_info
from ..emulated import is_emulated
from ..splitk import Gemm
from ..splitk.aiter import load
from .deadlock import provoke
from .output import emit
from .replays import check_replays

__all__ = ["show_demo"]

#: Stuck waves that the text shows; JSON has them all.
_SHOWN_WAVES = 3
_SHAPES = ((64, 256, 5120), (32, 512, 8192))
#: AMD's kernels on the first shape: kernel, split_k.
_AITER_KERNELS = (("64x64_splitk_clean", 13), ("64x64_pf3_splitk", 13))


def show_demo(*, as_json: bool, aiter_folder: Path | None, replays: int) -> int:
    """Run the demo; return 0 if everything is right, else 1.

    Args:
        as_json: Whether to print one JSON object.
        aiter_folder: An aiter install, to run AMD's kernels too.
        replays: Replays of each GEMM.
    """
    info = runtime_info()
    device = device_info(0)
    _say(f"running on {device.name} ({device.target}) through {info.kind}: {info.path}")
    gemms = [_own(shape, replays) for shape in _SHAPES]
    if aiter_folder is not None:
        gemms += [
            _shipped(aiter_folder, name, split_k, replays) for name, split_k in _AITER_KERNELS
        ]
    deadlocks = _deadlocks(aiter_folder) if is_emulated() else []
    result = {
        "ok": all(part["ok"] for part in gemms + deadlocks),
        "library": info.kind,
        "device": dataclasses.asdict(device),
        "gemms": gemms,
        "deadlocks": deadlocks,
    }
    emit(result, _lines(result), as_json=as_json)
    return 0 if result["ok"] else 1


def _own(shape: tuple[int, int, int], replays: int) -> dict[str, Any]:
    gemm = Gemm(*shape)
    label = "x".join(map(str, shape))
    _say(f"our GEMM {label}, split_k={gemm.plan.split_k}: eager, capture, {replays} replays")
    return check_replays(gemm, replays=replays, exact=True, label=label)


def _shipped(folder: Path, name: str, split_k: int, replays: int) -> dict[str, Any]:
    gemm = load(folder).gemm(*_SHAPES[0], kernel=name, split_k=split_k)
    _say(f"AMD's {name}, split_k={split_k}: eager, capture, {replays} replays")
    return check_replays(gemm, replays=replays, exact=False, label=name)


def _deadlocks(folder: Path | None) -> list[dict[str, Any]]:
    _say("a kernel recorded without its zero-fill, its counters dirty (in a child process)")
    found = [provoke(None)]
    if folder is not None:
        _say("AMD's kernel likewise (in a child process)")
        found.append(provoke(folder))
    return found


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [f"device      {result['device']['name']} ({result['device']['target']})"]
    for part in result["gemms"]:
        lines += _gemm_lines(part)
    for part in result["deadlocks"]:
        lines += _deadlock_lines(part)
    return [*lines, "everything is right" if result["ok"] else "SOMETHING IS WRONG"]


def _gemm_lines(part: dict[str, Any]) -> list[str]:
    lines = [
        f"gemm        {part['m']} x {part['n']} x {part['k']}, split_k {part['split_k']},"
        f" {part['kernel']}: {_verdict(part)}",
        f"  {part['replays']} replays, largest error {part['largest_error']:.2g},"
        f" {part['worst_error_of_bound']:.1%} of what fp32 sums may be off",
    ]
    if part["exact"]:
        lines.append(f"  same bits eager, captured and replayed: {part['bitwise_equal']}")
    if part["counters_overwritten"]:
        lines.append("  counters overwritten before each replay")
    lines += [f"  node {index}: {node}" for index, node in enumerate(part["nodes"])]
    return [*lines, f"  edges: {', '.join(f'{x} -> {y}' for x, y in part['edges'])}"]


def _deadlock_lines(part: dict[str, Any]) -> list[str]:
    if "problem" in part:
        return [f"deadlock    {_verdict(part)}: {part['problem']}"]
    lines = [
        f"deadlock    {part['kernel']} without its zero-fill: {_verdict(part)}",
        f"  a clean replay is right: {part['clean_replay_right']}; with dirty counters"
        f" {part['error']} after {part['seconds']} s",
        f"  with the counters zeroed again it is right: {part['zeroed_replay_right']}",
        f"  {part['stuck_waves']} of {part['expected_waves']} waves stuck,"
        f" counters at {part['counters']}",
    ]
    for wave in part["waves"][:_SHOWN_WAVES]:
        lines.append(
            f"  workgroup {wave['workgroup']} wave {wave['wave']} at {wave['symbol']}:"
            f" {wave['instruction']}, finds {wave['value']} at {wave['address']}"
        )
    return lines


def _verdict(part: dict[str, Any]) -> str:
    return "right" if part["ok"] else "WRONG"
