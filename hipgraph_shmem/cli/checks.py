"""The checks of `hipgraph-shmem doctor`; whatever may end a process is tried in a child."""

from __future__ import annotations

import importlib.resources
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ..code_object import targets as targets_of
from ..env import child_environment, settings
from ..hip_library import mapped_libraries
from ..splitk.aiter import find_folder
from ..target import Target, why_not

__all__ = [
    "Finding",
    "Probe",
    "aiter_kernels",
    "device_files",
    "hip_python",
    "one_library",
    "probe",
    "run_child",
    "targets",
    "variables",
]

_CHILD_SECONDS = 60.0
_OF_ROCM = ("rocm", "path")
_GROUPS = (
    "let the user into the groups of these files (usermod -aG render,video USER, then log in"
    " again); in a container: --device=/dev/kfd --device=/dev/dri --group-add render"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        healthy: Whether all is as it should be.
        told: What was found.
        cure: What to do, where it is not healthy.
    """

    healthy: bool
    told: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What `hipgraph-shmem info` says in a process of its own; no facts where it failed."""

    finding: Finding
    facts: Mapping[str, Any]


def probe() -> Probe:
    """Let a child load the HIP library and hip-python, and describe them."""
    status, output, messages = run_child("-m", "hipgraph_shmem", "info", "--json")
    if status:
        words = messages.strip() or f"the process that loads it ended with status {status}"
        cure = "do what the message says; `HIPGRAPH_RUNTIME=emu` needs no GPU and no ROCm"
        return Probe(Finding(healthy=False, told=words, cure=cure), {})
    facts: dict[str, Any] = json.loads(output)
    told = f"{facts['kind']}: {facts['path']}, HIP {facts['hip_version']}"
    notes = [line for line in messages.splitlines() if "RuntimeWarning:" in line]
    return Probe(Finding(healthy=True, told="\n".join([told, *notes])), facts)


def run_child(*words: str) -> tuple[int, str, str]:
    """Run Python with this package; return its status, its output and its messages."""
    environment = child_environment({"PYTHONSAFEPATH": "1"})
    paths = str(Path(__file__).parents[2]), environment.get("PYTHONPATH", "")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    try:
        done = subprocess.run(
            [sys.executable, *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, "", f"no answer after {_CHILD_SECONDS:g} s"
    return done.returncode, done.stdout, done.stderr


def variables() -> Finding:
    """Find variables that the package does not know, and values that they do not take."""
    try:
        settings()
    except ValueError as error:
        return Finding(healthy=False, told=str(error), cure="correct or unset the variable")
    return Finding(healthy=True, told="every HIPGRAPH_ variable is known")


def one_library() -> Finding:
    """Find HIP libraries that were in the process before the package loaded one."""
    mapped = sorted(map(str, mapped_libraries()))
    told = ", ".join(mapped) or "none is loaded before the package loads its own"
    if len(mapped) <= 1:
        return Finding(healthy=True, told=told)
    cure = "look at LD_PRELOAD and .pth files: one process can use one HIP library"
    return Finding(healthy=False, told=told, cure=cure)


def hip_python(facts: Mapping[str, Any]) -> Finding:
    """Compare the release of hip-python with that of ROCm."""
    try:
        release = metadata.version("hip-python")
    except metadata.PackageNotFoundError:
        cure = "pip install hip-python, the release of the installed ROCm (6.4, 7.2 or 10.0)"
        return Finding(healthy=False, told="hip-python is not installed", cure=cure)
    wanted = facts.get("hip_version", 0) // 10**7
    if facts.get("kind") in _OF_ROCM and int(release.split(".")[0]) != wanted:
        told = f"hip-python {release} with HIP {wanted}"
        cure = f"pip install 'hip-python=={wanted}.*'"
        return Finding(healthy=False, told=told, cure=cure)
    return Finding(healthy=True, told=release)


def device_files(facts: Mapping[str, Any], folder: Path = Path("/dev")) -> Finding:
    """Find device files of an AMD GPU that this user may not open."""
    files = [folder / "kfd", *sorted((folder / "dri").glob("renderD*"))]
    if not files[0].exists():
        told = f"{files[0]} does not exist: no AMD GPU, or its driver is not loaded"
        cure = "load the driver (modprobe amdgpu); in a container: --device=/dev/kfd"
        return Finding(healthy=facts.get("kind") != "rocm", told=told, cure=cure)
    closed = [str(file) for file in files if not os.access(file, os.R_OK | os.W_OK)]
    if closed:
        told = f"no permission to open {', '.join(closed)}"
        return Finding(healthy=False, told=told, cure=_GROUPS)
    return Finding(healthy=True, told=", ".join(map(str, files)))


def targets(facts: Mapping[str, Any]) -> Finding:
    """Compare the targets of the package's kernels with the devices'."""
    package = importlib.resources.files(__package__.rpartition(".")[0])
    shipped = targets_of(package.joinpath("kernels", "kernels.hipfb").read_bytes())
    return _compare(
        facts,
        lambda _: shipped,
        "set HSA_XNACK as the kernels need it, or build them: native/kernels/build.py",
    )


def aiter_kernels(facts: Mapping[str, Any]) -> Finding:
    """Compare the targets of AMD's kernels in the user's aiter install with the devices'."""
    folder = settings().aiter_dir
    if folder is None:
        return Finding(healthy=True, told="HIPGRAPH_AITER_DIR names no install")

    def installed(device: Target) -> tuple[Target, ...]:
        files = sorted(find_folder(folder, device.processor).glob("*.co"))
        return tuple({each for file in files for each in targets_of(file.read_bytes())})

    cure = "set HSA_XNACK as the kernels need it, or install aiter for this device"
    try:
        return _compare(facts, installed, cure)
    except FileNotFoundError as error:
        cure = "let HIPGRAPH_AITER_DIR name an aiter install that has kernels for this device"
        return Finding(healthy=False, told=str(error), cure=cure)


def _compare(
    facts: Mapping[str, Any], kernels: Callable[[Target], Iterable[Target]], cure: str
) -> Finding:
    """Tell which targets of the kernels for a device it runs; wrong is a device that runs none."""
    told, refused = [], []
    for device in facts.get("devices", ()):
        own = Target.parse(device["target"])
        reasons = {str(each): why_not(each, own) for each in kernels(own)}
        fitting = [name for name, reason in reasons.items() if not reason]
        if fitting:
            told.append(f"device {device['ordinal']} ({own}) runs {', '.join(fitting)}")
        else:
            words = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
            refused.append(f"device {device['ordinal']} ({own}) runs none of the kernels: {words}")
    if refused:
        return Finding(healthy=False, told="\n".join([*refused, *told]), cure=cure)
    return Finding(healthy=True, told="\n".join(told) or "no device to compare with")
