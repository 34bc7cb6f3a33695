"""Every environment variable the package reads, in one table; the only user of os.environ."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["VARIABLES", "Settings", "Variable", "cache_dir", "rocm_roots", "settings"]

PREFIX = "HIPGRAPH_"
HOST_COMPILERS = ("ziglang", "system")
MAX_EMULATED_DEVICES = 16


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
    Variable("AITER_DIR", "", "an aiter install, or its hsa folder: AMD's shipped kernels"),
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
    aiter_dir: Path | None
    host_compiler: str


def settings() -> Settings:
    """Read and check every HIPGRAPH_ variable.

    Raises:
        ValueError: a variable that is not in the table, or a value it does not take.
    """
    values = _values()
    host_compiler = values["HOST_COMPILER"]
    if host_compiler not in HOST_COMPILERS:
        raise ValueError(_refusal("HOST_COMPILER", host_compiler, " or ".join(HOST_COMPILERS)))
    return Settings(
        runtime=values["RUNTIME"],
        emu_target=values["EMU_TARGET"],
        emu_cus=_integer(values, "EMU_CUS", 1, 4096) if values["EMU_CUS"] else None,
        emu_seed=_integer(values, "EMU_SEED", 0, 2**63 - 1),
        emu_devices=_integer(values, "EMU_DEVICES", 1, MAX_EMULATED_DEVICES),
        aiter_dir=Path(values["AITER_DIR"]) if values["AITER_DIR"] else None,
        host_compiler=host_compiler,
    )


def rocm_roots() -> tuple[Path, ...]:
    """Return the ROCm installations that the environment or convention names, first first."""
    named = [os.environ.get(name, "") for name in ("ROCM_PATH", "ROCM_HOME")]
    return tuple(dict.fromkeys(Path(root) for root in [*named, "/opt/rocm"] if root))


def cache_dir() -> Path:
    """Return where the package keeps what it builds for this user (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base) / "hipgraph_shmem" if base else Path.home() / ".cache" / "hipgraph_shmem"


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
