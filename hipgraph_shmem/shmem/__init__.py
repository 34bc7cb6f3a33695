"""SHMEM: memory, signals and collectives among PEs, eagerly and inside HIP graphs.

OpenSHMEM's words with rocSHMEM's numbers. A provider does the work: AMD's rocSHMEM through the
package's C shim, or the package's own `local` provider, for the PEs of one node.

    from hipgraph_shmem import Stream, capture, shmem

    shmem.init()
    x = shmem.zeros(1024, "f4")
    with Stream() as stream, capture(stream) as captured:
        shmem.on_stream.reduce(x, x, shmem.Reduction.SUM, stream)
"""

from __future__ import annotations

from pathlib import Path

from . import atomics, on_stream
from .collectives import Reduction
from .heap import PeerArray, SymmetricArray, SymmetricView, empty, zeros
from .modules import ModuleReport, device_ctx, module_init
from .rma import barrier, fence, get, put, quiet, sync
from .setup import check, finalize, init, my_pe, n_pes, provider_name, unique_id
from .signals import Comparison, SignalOp
from .team import Team, team_world
from .world import initialized

__all__ = [
    "Comparison",
    "ModuleReport",
    "PeerArray",
    "Reduction",
    "SignalOp",
    "SymmetricArray",
    "SymmetricView",
    "Team",
    "atomics",
    "barrier",
    "check",
    "device_ctx",
    "empty",
    "fence",
    "finalize",
    "get",
    "include_dir",
    "init",
    "initialized",
    "module_init",
    "my_pe",
    "n_pes",
    "on_stream",
    "provider_name",
    "put",
    "quiet",
    "sync",
    "team_world",
    "unique_id",
    "zeros",
]


def include_dir() -> Path:
    """Return the folder of the device header: `#include <rocshmem/rocshmem.hpp>` in a kernel."""
    return Path(__file__).resolve().parents[1] / "include"
