"""Every environment variable the package reads, in one table; the only user of os.environ."""

from __future__ import annotations

import difflib
import math
import os
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "VARIABLES",
    "Launched",
    "Settings",
    "Variable",
    "announce_to_rocshmem",
    "cache_dir",
    "child_environment",
    "launched",
    "rocm_roots",
    "settings",
]

PREFIX = "HIPGRAPH_"
HOST_COMPILERS = ("ziglang", "system")
DIVERGENCE_POLICIES = ("off", "warn", "error")
CHECKS = ("off", "race")
MAX_EMULATED_DEVICES = 16
MAX_SECONDS = 10**6


@dataclass(frozen=True, slots=True)
class Variable:
    """One HIPGRAPH_ variable: its name without the prefix, its default, what it does."""

    name: str
    default: str
    meaning: str


VARIABLES = (
    Variable("RUNTIME", "auto", "auto, rocm, emu, cuda, or the path of a HIP library"),
    Variable("EMU_TARGET", "gfx942:sramecc+:xnack-", "target of the emulated device"),
    Variable("EMU_CUS", "", "compute units of the emulated device; empty: as the real one"),
    Variable("EMU_SEED", "0", "order of the emulated waves; 0: round robin"),
    Variable("EMU_DEVICES", "1", f"number of emulated devices, 1 to {MAX_EMULATED_DEVICES}"),
    Variable("EMU_DIVERGENCE", "warn", "off, warn or error: calls that HIP takes and CUDA refuses"),
    Variable("EMU_CHECK", "off", "off or race: report unordered work on the same bytes"),
    Variable("AITER_DIR", "", "an aiter install, or its hsa folder: AMD's shipped kernels"),
    Variable("SHMEM_PROVIDER", "auto", "auto, local, rocshmem, or a library's path"),
    Variable("SHMEM_PE", "", "which PE this process is; set by `hipgraph-shmem run`"),
    Variable("SHMEM_PES", "", "how many PEs there are; set by `hipgraph-shmem run`"),
    Variable("SHMEM_RENDEZVOUS", "", "a file that all PEs see, through which they find each other"),
    Variable("SHMEM_HEAP_BYTES", str(256 << 20), "size of each PE's symmetric heap"),
    Variable("SHMEM_TIMEOUT", "60", "seconds to wait for another PE; more than 0"),
    Variable("HOST_COMPILER", "ziglang", "build only: ziglang or system"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The variables' values, checked."""

    runtime: str
    emu_target: str
    emu_cus: int | None
    emu_seed: int
    emu_devices: int
    emu_divergence: str
    emu_check: str
    aiter_dir: Path | None
    shmem_provider: str
    shmem_rendezvous: Path | None
    shmem_heap_bytes: int
    shmem_timeout: float
    host_compiler: str


@dataclass(frozen=True, slots=True)
class Launched:
    """What a launcher told this process: its place among the PEs, and here on this node.

    `job` is the same text for all processes of one launch, and differs between launches.
    """

    launcher: str
    pe: int
    n_pes: int
    local_pe: int
    local_pes: int
    job: str


#: Launchers, the innermost first, with the variables for rank, size, local rank, local size, job.
_LAUNCHERS = (
    ("hipgraph-shmem run", ("HIPGRAPH_SHMEM_PE", "HIPGRAPH_SHMEM_PES"), ("", ""), ()),
    (
        "Open MPI",
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
        ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    ),
    ("PMI", ("PMI_RANK", "PMI_SIZE"), ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"), ()),
    # A batch script has the first two without being a task: only steps have a size of their own.
    (
        "Slurm",
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
        ("SLURM_LOCALID", ""),
        ("SLURM_JOB_ID", "SLURM_STEP_ID"),
    ),
    (
        "torchrun",
        ("RANK", "WORLD_SIZE"),
        ("LOCAL_RANK", "LOCAL_WORLD_SIZE"),
        ("TORCHELASTIC_RUN_ID", "MASTER_PORT"),
    ),
)


def settings() -> Settings:
    """Read and check every HIPGRAPH_ variable.

    Raises:
        ValueError: a variable that is not in the table, or a value it does not take.
    """
    values = _values()
    return Settings(
        runtime=values["RUNTIME"],
        emu_target=values["EMU_TARGET"],
        emu_cus=_integer(values, "EMU_CUS", 1, 4096) if values["EMU_CUS"] else None,
        emu_seed=_integer(values, "EMU_SEED", 0, 2**63 - 1),
        emu_devices=_integer(values, "EMU_DEVICES", 1, MAX_EMULATED_DEVICES),
        emu_divergence=_choice(values, "EMU_DIVERGENCE", DIVERGENCE_POLICIES),
        emu_check=_choice(values, "EMU_CHECK", CHECKS),
        aiter_dir=_path(values, "AITER_DIR"),
        shmem_provider=values["SHMEM_PROVIDER"],
        shmem_rendezvous=_path(values, "SHMEM_RENDEZVOUS"),
        shmem_heap_bytes=_integer(values, "SHMEM_HEAP_BYTES", 1, 2**48),
        shmem_timeout=_seconds(values, "SHMEM_TIMEOUT"),
        host_compiler=_choice(values, "HOST_COMPILER", HOST_COMPILERS),
    )


def rocm_roots() -> tuple[Path, ...]:
    """Return the ROCm installations that the environment or convention names, first first."""
    named = [os.environ.get(name, "") for name in ("ROCM_PATH", "ROCM_HOME")]
    return tuple(dict.fromkeys(Path(root) for root in [*named, "/opt/rocm"] if root))


def cache_dir() -> Path:
    """Return where the package keeps what it builds for this user (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base) / "hipgraph_shmem" if base else Path.home() / ".cache" / "hipgraph_shmem"


def announce_to_rocshmem(heap_bytes: int, timeout: float) -> None:
    """Set what rocSHMEM reads of the environment: newer releases do so when they are loaded."""
    os.environ["ROCSHMEM_HEAP_SIZE"] = str(heap_bytes)
    os.environ["ROCSHMEM_BOOTSTRAP_TIMEOUT"] = str(math.ceil(timeout))


def child_environment(variables: dict[str, str]) -> dict[str, str]:
    """Return this process's environment with some variables set, for a child process."""
    return {**os.environ, **variables}


def launched() -> Launched | None:
    """Read what a launcher of parallel programs set; None where there is none.

    Raises:
        ValueError: a rank without its size, or values that are no place.
    """
    for launcher, world, local, job in _LAUNCHERS:
        given = [name for name in world if os.environ.get(name)]
        if launcher == "Slurm" and len(given) < len(world):
            continue
        if given:
            pe, n_pes = _place(launcher, *world)
            local_pe = int(os.environ.get(local[0]) or pe)
            local_pes = int(os.environ.get(local[1]) or n_pes)
            facts = [os.environ.get(name, "") for name in job]
            # Processes of one node that a launcher without a job name started have one parent.
            text = "-".join(facts if launcher in ("Open MPI", "Slurm") else [*facts, _parent()])
            return Launched(launcher, pe, n_pes, local_pe, local_pes, f"{launcher}-{text}")
    return None


def _place(launcher: str, rank: str, size: str) -> tuple[int, int]:
    texts = os.environ.get(rank, ""), os.environ.get(size, "")
    try:
        pe, n_pes = map(int, texts)
    except ValueError:
        pe, n_pes = -1, -1
    if not 0 <= pe < n_pes:
        raise ValueError(
            f"{rank}={texts[0]!r}, {size}={texts[1]!r}: not a place among PEs; start the program "
            f"with {launcher}, or unset both"
        )
    return pe, n_pes


def _parent() -> str:
    return str(os.getppid())


def _choice(values: dict[str, str], name: str, choices: tuple[str, ...]) -> str:
    if values[name] not in choices:
        raise ValueError(_refusal(name, values[name], " or ".join(choices)))
    return values[name]


def _path(values: dict[str, str], name: str) -> Path | None:
    return Path(values[name]) if values[name] else None


def _seconds(values: dict[str, str], name: str) -> float:
    try:
        seconds = float(values[name])
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MAX_SECONDS:
        raise ValueError(
            _refusal(name, values[name], f"seconds, more than 0 and at most {MAX_SECONDS}")
        )
    return seconds


def _values() -> dict[str, str]:
    known = {variable.name: variable.default for variable in VARIABLES}
    for full_name, value in os.environ.items():
        if not full_name.startswith(PREFIX):
            continue
        name = full_name.removeprefix(PREFIX)
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            cure = f"did you mean {PREFIX}{near[0]}" if near else "unset it"
            choices = ", ".join(PREFIX + known_name for known_name in known)
            raise ValueError(
                f"{full_name}={value!r} is no variable of this package: {cure}; it reads {choices}"
            )
        if value:
            known[name] = value
    return known


def _integer(values: dict[str, str], name: str, low: int, high: int) -> int:
    text = values[name]
    try:
        number = int(text, 0)
    except ValueError:
        raise ValueError(_refusal(name, text, f"an integer from {low} to {high}")) from None
    if not low <= number <= high:
        raise ValueError(_refusal(name, text, f"an integer from {low} to {high}"))
    return number


def _refusal(name: str, value: str, wanted: str) -> str:
    return f"{PREFIX}{name}={value!r}: must be {wanted}"
