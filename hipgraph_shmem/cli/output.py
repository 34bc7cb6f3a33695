"""What the subcommands share: progress on stderr, results on stdout."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

__all__ = ["Progress", "emit"]

#: Work that is over sooner says nothing.
_QUIET_SECONDS = 1.0


class Progress:
    """A line on stderr every second while something long goes on."""

    def __init__(self, what: str, total: int) -> None:
        """Start the clock.

        Args:
            what: What goes on.
            total: Steps until it is done.
        """
        self._what = what
        self._total = total
        self._next = time.monotonic() + _QUIET_SECONDS

    def step(self, done: int) -> None:
        """Tell how many steps are done, at most once a second."""
        if time.monotonic() >= self._next:
            print(f"{self._what}: {done} of {self._total}", file=sys.stderr, flush=True)
            self._next = time.monotonic() + _QUIET_SECONDS


def emit(result: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    """Print a result as one JSON object or as lines to read."""
    print(json.dumps(result, indent=2) if as_json else "\n".join(lines))
