"""What only the emulated device tells: reports, what lost a capture, what ran when, what lives."""

from __future__ import annotations

import ctypes
import json
from typing import Any

from .runtime import library

__all__ = [
    "capture_refusal",
    "is_emulated",
    "kernels_of",
    "last_report",
    "live_objects",
    "look_on",
    "running_report",
    "saw_deadlock",
    "take_counters",
    "take_timeline",
]


def is_emulated() -> bool:
    """Tell whether this process runs on the emulated device."""
    return library().kind == "emu"


def last_report() -> dict[str, Any] | None:
    """Return the last trap or deadlock of the process; None if there was none, or elsewhere."""
    return _read("hipgraphEmuLastReport") if is_emulated() else None


def running_report() -> dict[str, Any] | None:
    """Return what runs now, wave by wave; None where nothing does, or elsewhere."""
    return _read("hipgraphEmuRunning") if is_emulated() else None


def kernels_of(report: dict[str, Any] | None) -> tuple[str, ...]:
    """Name the kernels of a report, each with where it was launched from."""
    kernels = []
    for launch in (report or {}).get("kernels", ()):
        origin = f" ({launch['origin']})" if launch.get("origin") else ""
        kernels.append(f"{launch['kernel']}{origin}")
    return tuple(kernels)


def saw_deadlock() -> bool:
    """Tell whether the last report is of a deadlock."""
    return (last_report() or {}).get("kind") == "hang"


def capture_refusal() -> dict[str, Any] | None:
    """Return the first call by which the capture that this thread ended last became invalid.

    It is {"call", "code", "other_thread"}; None if the capture was valid to its end, or elsewhere.
    """
    return _read("hipgraphEmuCaptureRefusal") if is_emulated() else None


def take_counters() -> dict[str, Any]:
    """Return what ended launches executed since the last call; nothing on other devices."""
    return (_read("hipgraphEmuCounters") if is_emulated() else None) or {}


def live_objects() -> dict[str, int]:
    """Return how many objects of each kind live in the HIP library; nothing on other devices."""
    return (_read("hipgraphEmuLive") if is_emulated() else None) or {}


def take_timeline(*, keep: bool) -> list[dict[str, Any]]:
    """Return the nodes of graph launches since the last call; nothing on other devices.

    Each is {"kind", "kernel", "device", "stream", "begin", "end"} in nanoseconds of the monotonic
    clock; 0 where it was not reached or did not end.

    Args:
        keep: Whether to keep those of later launches; without a call nothing is kept.
    """
    return (_read("hipgraphEmuTimeline", int(keep)) if is_emulated() else None) or []


def look_on(stream: int) -> None:
    """Keep what a stream reads out of the race check, if it runs: work in progress, on purpose."""
    if is_emulated():
        library().pointers.hipgraphEmuLookOn(ctypes.c_void_p(stream))


def _read(name: str, *args: int) -> Any:
    """Return what a function of the emulated device says as JSON; None where it says nothing."""
    function = library().pointers[name]
    function.restype = ctypes.c_char_p
    text = function(*args)
    return json.loads(text) if text else None
