"""`hipgraph-shmem info`: which HIP library this process would use, and its devices."""

from __future__ import annotations

import dataclasses

from ..devices import RuntimeInfo, runtime_info
from .output import emit

__all__ = ["show_info"]


def show_info(*, as_json: bool) -> int:
    """Print what `runtime_info` tells."""
    info = runtime_info()
    emit(dataclasses.asdict(info), _lines(info), as_json=as_json)
    return 0


def _lines(info: RuntimeInfo) -> list[str]:
    lines = [
        f"library     {info.kind}: {info.path}",
        f"HIP         {info.hip_version}",
        f"hip-python  {info.binding_version}",
    ]
    for device in info.devices:
        lines.append(
            f"device {device.ordinal}    {device.name}, {device.target},"
            f" {device.compute_units} compute units, {device.memory_bytes >> 30} GiB"
        )
    return lines
