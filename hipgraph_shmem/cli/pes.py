"""`hipgraph-shmem demo --pes N`: one large GEMM over the PEs, replayed from one graph on each.

Each PE multiplies its slice of K, the partial products are summed over symmetric memory, and a
kernel from a code object of its own passes a row on to the next PE: all in one graph.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from .. import shmem
from ..devices import device_info
from ..graph import GraphExec, capture
from ..launch import LaunchConfig, launch
from ..memory import Buffer
from ..module import Module
from ..splitk import Gemm
from ..stream import Stream
from .output import Progress, emit
from .reference import Array, expect, random_matrix
from .run import PACKAGE_HOME, run_pes

__all__ = ["show_pes"]

_M, _N, _K = 64, 256, 20480
_K_STEP = 8
_SECONDS = 600.0
_WAVE = 64


def show_pes(n_pes: int, *, as_json: bool, replays: int) -> int:
    """Run the demo on several PEs; return 0 if every result of every PE is right, else 1.

    Args:
        n_pes: How many PEs; a divisor of 2560.
        as_json: Whether to print one JSON object.
        replays: Replays with new inputs each.
    """
    if _K % (n_pes * _K_STEP):
        raise ValueError(f"--pes {n_pes}: K = {_K} is not divisible into slices of {_K_STEP}")
    with tempfile.TemporaryDirectory() as folder:
        program = ("-m", __name__, folder, str(replays))
        status = run_pes(n_pes, program, timeout=_SECONDS, folder=PACKAGE_HOME)
        files = sorted(Path(folder).glob("*.json"))
        pes = [json.loads(file.read_text()) for file in files]
    ok = status == 0 and len(pes) == n_pes and all(pe["ok"] for pe in pes)
    result = {"ok": ok, "m": _M, "n": _N, "k": _K, "replays": replays, "pes": pes}
    emit(result, _lines(result), as_json=as_json)
    return 0 if ok else 1


def main() -> None:
    """Be one of the PEs, and leave what was seen in the folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("replays", type=int)
    options = parser.parse_args()
    shmem.init()
    facts = _run(options.replays)
    shmem.finalize(strict=True)
    (options.folder / f"{facts['pe']:02}.json").write_text(json.dumps(facts))
    sys.exit(0 if facts["ok"] else 1)


@dataclass(slots=True)
class _Case:
    """The memory of one PE."""

    stream: Stream
    gemm: Gemm
    a: Buffer
    b: Buffer
    partial: shmem.SymmetricArray
    out: shmem.SymmetricArray
    mail: shmem.SymmetricArray
    signal: shmem.SymmetricArray
    turn: Buffer

    def refill(self, a: Array, b: Array) -> None:
        """Give the GEMM this PE's slice of new inputs."""
        width = self.a.shape[1]
        mine = slice(shmem.my_pe() * width, (shmem.my_pe() + 1) * width)
        self.a.copy_from(np.ascontiguousarray(a[:, mine]), self.stream)
        self.b.copy_from(np.ascontiguousarray(b[:, mine]), self.stream)


def _run(replays: int) -> dict[str, Any]:
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    width = _K // n_pes
    image = resources.files("hipgraph_shmem").joinpath("kernels", "pass_on.hipfb").read_bytes()
    with (
        Stream() as stream,
        Buffer((_M, width), "bfloat16") as a,
        Buffer((_N, width), "bfloat16") as b,
        Buffer(1, np.uint64) as turn,
        Module(image) as module,
    ):
        turn.fill(0, stream)
        symmetric = (
            *(shmem.zeros((_M, _N), "float32"), shmem.zeros((_M, _N), "float32")),
            *(shmem.zeros(_N, "float32"), shmem.zeros(1, np.uint64)),
        )
        case = _Case(stream, Gemm(_M, _N, width), a, b, *symmetric, turn)
        report = shmem.module_init(module)
        with _record(case, module) as graph_exec:
            errors, mail_right = _replay(case, graph_exec, replays)
        for array in symmetric:
            array.free()
    worst = max(errors)
    return {
        "pe": pe,
        "device": device_info().name,
        "provider": shmem.provider_name(),
        "split_k": case.gemm.plan.split_k,
        "symbols_set": sorted(report.found),
        "worst_error_of_bound": worst,
        "mail_right": mail_right,
        "ok": worst <= 1 and mail_right == replays,
    }


def _record(case: _Case, module: Module) -> GraphExec:
    """Record the GEMM, the sum over the PEs, and the kernel that knows other PEs by itself."""
    stream = case.stream
    pass_on = module.kernel("pass_on")
    neighbour = (shmem.my_pe() + 1) % shmem.n_pes()
    words = (case.mail, case.partial, case.mail.nbytes, case.signal, case.turn, neighbour)
    with capture(stream) as captured:
        case.gemm(stream, case.a, case.b, case.partial)
        shmem.on_stream.reduce(case.out, case.partial, shmem.Reduction.SUM, stream)
        launch(stream, pass_on, LaunchConfig((1, 1, 1), (_WAVE, 1, 1)), *words)
    with captured.graph as graph:
        return graph.instantiate()


def _replay(case: _Case, graph_exec: GraphExec, replays: int) -> tuple[list[float], int]:
    """Replay with new inputs; return each error in units of its bound, and how many rows came."""
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    width, before = _K // n_pes, (pe - 1) % n_pes
    random = np.random.default_rng(_K)  # the same on each PE
    progress = Progress(f"{_M}x{_N}x{_K} over {n_pes} PEs", replays)
    errors, right = [], 0
    for index in range(replays):
        a, b = random_matrix(random, _M, _K), random_matrix(random, _N, _K)
        case.refill(a, b)
        graph_exec.launch(case.stream)
        case.stream.synchronize()
        steps = case.gemm.plan.split_k + n_pes
        errors.append(expect(a, b, steps).errors(case.out.to_numpy(case.stream))[1])
        theirs = slice(before * width, (before + 1) * width)
        row = expect(a[:1, theirs], b[:, theirs], steps)
        right += row.errors(case.mail.to_numpy(case.stream)[None])[1] <= 1
        if pe == 0:
            progress.step(index + 1)
    return errors, right


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [
        f"{result['m']} x {result['n']} x {result['k']} over {len(result['pes'])} PEs,"
        f" {result['replays']} replays"
    ]
    for pe in result["pes"]:
        lines.append(
            f"PE {pe['pe']}: {pe['device']} through {pe['provider']}, split_k {pe['split_k']},"
            f" largest error {pe['worst_error_of_bound']:.1g} of what fp32 sums may be off,"
            f" {pe['mail_right']} of {result['replays']} rows from the PE before right,"
            f" {len(pe['symbols_set'])} symbols set: {'right' if pe['ok'] else 'WRONG'}"
        )
    return [*lines, "everything is right" if result["ok"] else "SOMETHING IS WRONG"]


if __name__ == "__main__":
    main()
