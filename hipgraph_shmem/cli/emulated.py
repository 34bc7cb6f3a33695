"""What only the emulated device can tell: its last report, and what it executed."""

from __future__ import annotations

import ctypes
import json
from typing import Any

from ..runtime import library

__all__ = ["is_emulated", "last_report", "take_counters"]


def is_emulated() -> bool:
    """Tell whether this process runs on the emulated device."""
    return library().kind == "emu"


def last_report() -> dict[str, Any] | None:
    """Return the last trap or deadlock of the process, None if there was none."""
    return _read("hipgraphEmuLastReport")


def take_counters() -> dict[str, Any]:
    """Return what ended launches executed since the last call."""
    return _read("hipgraphEmuCounters") or {}


def _read(name: str) -> dict[str, Any] | None:
    function = library().pointers[name]
    function.restype = ctypes.c_char_p
    text = function()
    return dict(json.loads(text)) if text else None
