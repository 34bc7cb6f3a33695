"""`hipgraph-shmem bench shmem`: bandwidth of puts and latency of barriers among PEs."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .. import shmem
from ..devices import device_info
from ..errors import ShmemError
from ..graph import capture
from ..memory import Buffer
from ..stream import Stream
from .output import emit
from .run import PACKAGE_HOME, run_pes

__all__ = ["show_bench_shmem"]

_PES = (1, 2, 4)
_PUT_BYTES = (4 << 10, 1 << 20, 16 << 20)
#: Barriers in one timed graph.
_BARRIERS = 10
_SECONDS = 300.0


def show_bench_shmem(*, as_json: bool, repeats: int) -> int:
    """Measure with 1, 2 and 4 PEs; return 0 if all of them ended well.

    Args:
        as_json: Whether to print one JSON object.
        repeats: How often each thing is timed; the median counts.
    """
    runs = [_measure_with(n_pes, repeats) for n_pes in _PES]
    result = {"ok": True, "runs": runs}
    lines = []
    for run in runs:
        lines.append(f"{run['n_pes']} PEs on {run['device']} through {run['provider']}")
        lines += [
            f"  put of {int(size):9} bytes: {rate / 1e6:10.1f} MB/s"
            for size, rate in run["put_bytes_per_second"].items()
        ]
        lines.append(f"  barrier on the host:     {run['host_barrier_us']:10.1f} us")
        lines.append(f"  barrier in a replay:     {run['graph_barrier_us']:10.1f} us")
    emit(result, lines, as_json=as_json)
    return 0


def main() -> None:
    """Be one of the PEs; PE 0 leaves the numbers in the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("repeats", type=int)
    options = parser.parse_args()
    shmem.init()
    with Stream() as stream:
        facts = {
            "n_pes": shmem.n_pes(),
            "device": device_info().name,
            "provider": shmem.provider_name(),
            "put_bytes_per_second": {
                size: _time_puts(stream, size, options.repeats) for size in _PUT_BYTES
            },
            "host_barrier_us": 1e6 * _median(shmem.barrier, options.repeats),
            "graph_barrier_us": 1e6 * _time_graph_barriers(stream, options.repeats),
        }
    if shmem.my_pe() == 0:
        options.file.write_text(json.dumps(facts))
    shmem.finalize(strict=True)


def _measure_with(n_pes: int, repeats: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "facts.json"
        program = ("-m", __name__, str(file), str(repeats))
        status = run_pes(n_pes, program, timeout=_SECONDS, folder=PACKAGE_HOME)
        if status:
            raise ShmemError("bench shmem", f"{n_pes} PEs ended with status {status}")
        facts: dict[str, Any] = json.loads(file.read_text())
        return facts


def _time_puts(stream: Stream, nbytes: int, repeats: int) -> float:
    """Return bytes a second of puts to the next PE, all PEs at once."""
    target = shmem.empty(nbytes)
    after = (shmem.my_pe() + 1) % shmem.n_pes()
    with Buffer(nbytes, np.uint8) as source:
        source.fill(1, stream)

        def put() -> None:
            shmem.on_stream.put(target, source, after, stream)
            stream.synchronize()

        put()
        shmem.barrier()
        seconds = _median(put, repeats)
    shmem.barrier()
    target.free()
    return nbytes / seconds


def _time_graph_barriers(stream: Stream, repeats: int) -> float:
    """Return the seconds that one of many recorded barriers takes."""
    with capture(stream) as captured:
        for _ in range(_BARRIERS):
            shmem.on_stream.barrier(stream)
    with captured.graph as graph, graph.instantiate() as graph_exec:

        def replay() -> None:
            graph_exec.launch(stream)
            stream.synchronize()

        replay()
        return _median(replay, repeats) / _BARRIERS


def _median(work: Any, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    main()
