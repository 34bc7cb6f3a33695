"""One split-K operation as kernel launches whose scratch memory is decided at the last moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..access import Region
from ..launch import LaunchConfig
from ..module import Kernel

__all__ = ["WORD", "Fill", "Step", "Work"]


#: Bytes of a counter.
WORD = 4


@dataclass(frozen=True, slots=True)
class Step:
    """A kernel launch.

    Attributes:
        kernel: What is launched.
        config: On how many workgroups.
        arguments: Packs the arguments, given the addresses of the counters and the workspace.
        reads: Operands that it only reads.
        writes: Operands that it writes.
        atomics: Words that any launches may change at once.
    """

    kernel: Kernel
    config: LaunchConfig
    arguments: Callable[[int, int], bytes]
    reads: tuple[Region, ...]
    writes: tuple[Region, ...] = ()
    atomics: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class Fill:
    """Rows of an output that must be zero before the kernels add to it.

    Attributes:
        address: The first row.
        row_bytes: Bytes of a row that are zeroed.
        rows: Rows.
        pitch: Bytes from row to row.
    """

    address: int
    row_bytes: int
    rows: int
    pitch: int


@dataclass(frozen=True, slots=True)
class Work:
    """Everything one call does, in order: the fill, then the steps.

    Attributes:
        device: Where.
        steps: Kernel launches, one after the other.
        keep: Objects whose memory the arguments name.
        fill: What is zeroed first, if anything.
        counter_words: 32-bit counters, zero when the first step starts.
        workspace_bytes: Memory of which nothing is expected.
    """

    device: int
    steps: tuple[Step, ...]
    keep: tuple[object, ...]
    fill: Fill | None = None
    counter_words: int = 0
    workspace_bytes: int = 0
