"""`hipgraph-shmem bench soak`: what replays and capture cycles leave behind, which is nothing."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..devices import device_info
from ..emulated import live_objects
from ..graph import Captured, GraphExec, capture
from ..graph.retired import drain_retired
from ..memory import Buffer, PinnedBuffer
from ..runtime import call, drain_postponed, state
from ..splitk import Gemm
from ..stream import Event, Stream
from .output import Progress, emit

__all__ = ["footprint", "show_soak", "soak"]

#: Looked at after each of as many equal parts; the first part is for warming up.
_PARTS, _LAST_PARTS = 10, 3
#: Launches in flight at most.
_IN_FLIGHT = 64
#: What a process may grow by however long it runs: pages that its heap takes and keeps.
_RESIDENT_SLACK = 2 << 20
_PAGE = 4096
_M, _N, _K = 1, 1, 16


def show_soak(*, as_json: bool, replays: int, cycles: int) -> int:
    """Replay a graph and capture graphs many times; return 0 if memory stays flat, else 1.

    Args:
        as_json: Whether to print one JSON object.
        replays: Launches of one exec.
        cycles: Captures, each instantiated, launched and closed.
    """
    with _Work() as work:
        with work.capture().graph as graph, graph.instantiate() as graph_exec:
            replayed = soak("replays", replays, lambda index: work.replay(graph_exec, index))
        cycled = soak("capture cycles", cycles, work.cycle)
        right = work.is_right(replays + cycles)
    runs = [replayed, cycled]
    result = {
        "ok": right and all(run["flat"] for run in runs),
        "device": device_info(0).name,
        "results_right": right,
        "runs": runs,
    }
    emit(result, _lines(result), as_json=as_json)
    return 0 if result["ok"] else 1


def soak(what: str, times: int, step: Callable[[int], None]) -> dict[str, Any]:
    """Do a step many times; return what the process held after each part, and whether it grew.

    Args:
        what: What the steps are.
        times: How many.
        step: Called with the number of the step; leaves no work in flight every now and then.
    """
    began = time.monotonic()
    progress = Progress(what, times)
    seen = []
    for part in range(_PARTS):
        for index in range(part * times // _PARTS, (part + 1) * times // _PARTS):
            step(index)
            progress.step(index)
        seen.append(footprint())
    grown = _grown(seen)
    return {
        "what": what,
        "times": times,
        "seconds": round(time.monotonic() - began, 1),
        "flat": not grown,
        "grown": grown,
        "after_each_part": seen,
    }


def footprint() -> dict[str, int]:
    """Return what the process holds when nothing is in flight: bytes and objects."""
    call("hipDeviceSynchronize")
    drain_retired()
    drain_postponed()
    gc.collect()
    free, total = call("hipMemGetInfo")
    return {
        "resident bytes": int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE,
        "device bytes": total - free,
        "Python objects": len(gc.get_objects()),
        "handles": len(state.live),
        **{f"HIP {kind}": count for kind, count in live_objects().items()},
    }


def _grown(seen: list[dict[str, int]]) -> list[str]:
    """Return what is more after each of the last parts than after the first.

    Of one part alone it would say too much: what was let go waits in queues for its next user.
    """
    slack = {"resident bytes": _RESIDENT_SLACK}
    first, last = seen[0], seen[-_LAST_PARTS:]
    return [
        name
        for name, before in first.items()
        if min(part[name] for part in last) > before + slack.get(name, 0)
    ]


class _Work:
    """Two branches: a fill and a copy beside a split-K GEMM, its copy to the host and a call."""

    def __init__(self) -> None:
        self._streams = Stream(), Stream()
        self._fork, self._join = Event(timing=False), Event(timing=False)
        self._filled, self._copied = Buffer(256), Buffer(256)
        self._gemm = Gemm(_M, _N, _K, split_k=2)
        self._a, self._b = Buffer((_M, _K), "bfloat16"), Buffer((_N, _K), "bfloat16")
        self._out = Buffer((_M, _N), np.float32)
        self._seen = PinnedBuffer((_M, _N), np.float32)
        self._calls = 0
        for operand in (self._a, self._b):
            operand.copy_from(np.ones(operand.shape, operand.dtype), self._streams[0])
        # Once outside of a capture: loading code inside one is not everybody's.
        self._gemm(self._streams[0], self._a, self._b, self._out)
        self._streams[0].synchronize()

    def __enter__(self) -> _Work:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._streams:
            stream.synchronize()
        for each in vars(self).values():
            for handle in each if isinstance(each, tuple) else (each,):
                if hasattr(handle, "close"):
                    handle.close()

    def capture(self) -> Captured:
        """Record both branches."""
        main, side = self._streams
        with capture(main) as captured:
            side.wait(main.record(self._fork))
            self._filled.fill(7, side)
            self._copied.copy_from(self._filled, side)
            self._gemm(main, self._a, self._b, self._out)
            self._out.copy_to(self._seen, main)
            main.launch_host(self._count)
            main.wait(side.record(self._join))
        return captured

    def replay(self, graph_exec: GraphExec, index: int) -> None:
        """Launch; now and then on the other stream, after waiting for all before."""
        turn, rest = divmod(index, _IN_FLIGHT)
        stream = self._streams[turn % 2]
        graph_exec.launch(stream)
        if rest == _IN_FLIGHT - 1:
            stream.synchronize()

    def _count(self) -> None:
        self._calls += 1

    def cycle(self, index: int) -> None:
        """Capture, instantiate, launch, and close or let go while it is in flight."""
        stream = self._streams[0]
        captured = self.capture()
        graph_exec = captured.graph.instantiate()
        graph_exec.launch(stream)
        if index % 2:
            graph_exec.close()
            captured.graph.close()
        del graph_exec, captured
        if index % _IN_FLIGHT == 0:
            stream.synchronize()

    def is_right(self, launches: int) -> bool:
        """Tell whether the last launch computed what it should, and each called the host."""
        copied = self._copied.to_numpy(self._streams[0])
        right = np.all(copied == 7) and np.all(self._seen.array == _K)
        return bool(right) and self._calls == launches


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [result["device"]]
    for run in result["runs"]:
        verdict = "flat" if run["flat"] else f"GROWN: {', '.join(run['grown'])}"
        lines.append(f"{run['times']} {run['what']} in {run['seconds']} s: {verdict}")
        first, last = run["after_each_part"][0], run["after_each_part"][-1]
        lines += [f"  {name:16} {first[name]:12} {last[name]:12}" for name in last]
    return [*lines, "results right" if result["results_right"] else "RESULTS WRONG"]
