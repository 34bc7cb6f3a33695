"""What only the emulated device can tell: its last report, what it executed, what lives in it."""

from __future__ import annotations

import ctypes
import json
from typing import Any

from .runtime import library

__all__ = ["is_emulated", "last_report", "live_objects", "saw_deadlock", "take_counters"]


def is_emulated() -> bool:
    """Tell whether this process runs on the emulated device."""
    return library().kind == "emu"


def last_report() -> dict[str, Any] | None:
    """Return the last trap or deadlock of the process; None if there was none, or elsewhere."""
    return _read("hipgraphEmuLastReport") if is_emulated() else None


def saw_deadlock() -> bool:
    """Tell whether the last report is of a deadlock."""
    return (last_report() or {}).get("kind") == "hang"


def take_counters() -> dict[str, Any]:
    """Return what ended launches executed since the last call; nothing on other devices."""
    return (_read("hipgraphEmuCounters") if is_emulated() else None) or {}


def live_objects() -> dict[str, int]:
    """Return how many objects of each kind live in the HIP library; nothing on other devices."""
    return (_read("hipgraphEmuLive") if is_emulated() else None) or {}


def _read(name: str) -> dict[str, Any] | None:
    function = library().pointers[name]
    function.restype = ctypes.c_char_p
    text = function()
    return dict(json.loads(text)) if text else None
