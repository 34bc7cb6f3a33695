"""`hipgraph-shmem doctor`: what in the environment keeps the package from working, and the cure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

from .checks import (
    Finding,
    Probe,
    aiter_kernels,
    device_files,
    hip_python,
    one_library,
    probe,
    targets,
    variables,
)
from .output import emit
from .shim_check import shmem_provider

__all__ = ["show_doctor"]

CHECKS: Mapping[str, Callable[[Probe], Finding]] = MappingProxyType(
    {
        "variables": lambda _: variables(),
        "HIP library": lambda found: found.finding,
        "one HIP library": lambda _: one_library(),
        "hip-python": lambda found: hip_python(found.facts),
        "device files": lambda found: device_files(found.facts),
        "targets": lambda found: targets(found.facts),
        "AMD's kernels": lambda found: aiter_kernels(found.facts),
        "SHMEM provider": lambda _: shmem_provider(),
    }
)


def show_doctor(*, as_json: bool) -> int:
    """Check the environment; return 0 if nothing is wrong, else 1."""
    probed = probe()
    findings = {name: _examine(check, probed) for name, check in CHECKS.items()}
    healthy = all(finding.healthy for finding in findings.values())
    result = {
        "ok": healthy,
        "checks": {name: dataclasses.asdict(finding) for name, finding in findings.items()},
    }
    lines = [line for name, finding in findings.items() for line in _lines(name, finding)]
    last = "nothing is wrong" if healthy else "SOMETHING IS WRONG"
    emit(result, [*lines, last], as_json=as_json)
    return 0 if healthy else 1


def _examine(check: Callable[[Probe], Finding], probed: Probe) -> Finding:
    """Run a check; whatever a broken environment makes it raise is a finding too."""
    try:
        return check(probed)
    except Exception as error:
        problem = f"the check failed: {type(error).__name__}: {error}"
        return Finding(healthy=False, told=problem, cure="repair what the message names")


def _lines(name: str, finding: Finding) -> list[str]:
    first, *others = finding.told.splitlines() or [""]
    lines = [f"{'ok   ' if finding.healthy else 'WRONG'}  {name}: {first}"]
    lines += [f"       {line}" for line in others]
    return lines if finding.healthy else [*lines, f"       cure: {finding.cure}"]
