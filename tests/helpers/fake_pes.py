"""Several PEs in one process: what the local provider gives kernels, one heap each, one device."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from hipgraph_shmem.memory import Buffer, PinnedBuffer, from_numpy, zeros
from hipgraph_shmem.stream import Stream

Array = np.ndarray[Any, Any]

MAX_PES = 64
ABI = 0x48475301
TEAM = np.dtype(
    [("my_pe", "<i4"), ("n_pes", "<i4"), ("start", "<i4"), ("stride", "<i4"), ("pad_offset", "<u8")]
)
PAD = np.dtype([("epoch", "<u8"), ("arrived", "<u8", MAX_PES)])
FAILURE = np.dtype(
    [("operation", "<u4"), ("claimed", "<u4")]
    + [(name, "<u8") for name in ("expected", "seen", "address", "missing")]
    + [("team", TEAM), ("comparison", "<u4"), ("unused", "<u4")]
)
STATE = np.dtype(
    [("abi", "<u4"), ("my_pe", "<i4"), ("n_pes", "<i4"), ("unused", "<u4")]
    + [(name, "<u8") for name in ("heap_bytes", "timeout_ticks", "failure", "world")]
    + [("heaps", "<u8", MAX_PES)]
)
#: Where the pads of teams are in a heap; the rest is the test's.
PADS, FREE = 0, 4096


class FakePes:
    """Heaps, states, failure records and a stream for each of `n_pes` PEs."""

    def __init__(self, n_pes: int, heap_bytes: int = 1 << 16, timeout_ticks: int = 0) -> None:
        self.n_pes = n_pes
        self.heap_bytes = heap_bytes
        self._open = ExitStack()
        self.streams = [self._open.enter_context(Stream(0)) for _ in range(n_pes)]
        self.main = self.streams[0]
        self.heaps = [self._keep(zeros(heap_bytes, np.uint8, self.main)) for _ in range(n_pes)]
        self.failures = [self._keep(PinnedBuffer((FAILURE.itemsize,))) for _ in range(n_pes)]
        for failure in self.failures:
            failure.array[:] = 0
        self.worlds = self.team(0, 1, n_pes, PADS)
        self.states = [self._state(pe, timeout_ticks) for pe in range(n_pes)]
        self.main.synchronize()

    def __enter__(self) -> FakePes:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def _keep(self, made: Any) -> Any:
        self._open.callback(made.close)
        return made

    def upload(self, array: Array) -> Buffer:
        """Copy an array to device memory that lives as long as the PEs."""
        made = self._keep(from_numpy(array.view(np.uint8).reshape(-1), self.main))
        self.main.synchronize()
        return made

    def team(self, start: int, stride: int, n_pes: int, pad_offset: int) -> dict[int, Buffer]:
        """Make a team; returns what each of its PEs sees, by the PE in the world."""
        return {
            start + index * stride: self.upload(
                np.array([(index, n_pes, start, stride, pad_offset)], TEAM)
            )
            for index in range(n_pes)
        }

    def _state(self, pe: int, timeout_ticks: int) -> Buffer:
        state = np.zeros(1, STATE)
        state["abi"], state["my_pe"], state["n_pes"] = ABI, pe, self.n_pes
        state["heap_bytes"], state["timeout_ticks"] = self.heap_bytes, timeout_ticks
        state["failure"], state["world"] = self.failures[pe].address, self.worlds[pe].address
        state["heaps"][0, : self.n_pes] = [heap.address for heap in self.heaps]
        return self.upload(state)

    def write(self, pe: int, offset: int, array: Array) -> None:
        """Write into the heap of one PE."""
        content = self.heaps[pe].to_numpy(self.main)
        data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        content[offset : offset + data.size] = data
        self.heaps[pe].copy_from(content, self.main)

    def read(self, pe: int, offset: int, count: int, dtype: Any) -> Array:
        """Read from the heap of one PE."""
        content = self.heaps[pe].to_numpy(self.main)
        size = count * np.dtype(dtype).itemsize
        return content[offset : offset + size].view(dtype)

    def pad(self, pe: int, offset: int = PADS) -> Any:
        """Read a pad of one PE."""
        return self.read(pe, offset, 1, PAD)[0]

    def failure(self, pe: int) -> Any:
        """Read the failure record of one PE."""
        return self.failures[pe].array.view(FAILURE)[0]

    def synchronize(self) -> None:
        """Wait for all streams."""
        for stream in self.streams:
            stream.synchronize(60)
