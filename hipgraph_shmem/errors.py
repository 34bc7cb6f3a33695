"""Error and its kinds: facts first, then a sentence.

Every fact goes to `super().__init__`, so that each error pickles and crosses a process boundary.
Wrong arguments stay `ValueError` and `TypeError`; what is raised here has another cause.
"""

from __future__ import annotations

import itertools

__all__ = [
    "CaptureError",
    "CodeObjectError",
    "CollectiveMismatchError",
    "CounterPoolError",
    "DirtyCounterError",
    "Error",
    "GraphError",
    "HangError",
    "HipError",
    "ModuleSymbolError",
    "PeerLostError",
    "RuntimeLibraryError",
    "ShmemError",
    "ShmemTimeoutError",
    "ShmemUnavailable",
    "SymmetricMemoryError",
]


class Error(Exception):
    """The base of every error of this package."""


class HipError(Error):
    """A HIP call that did not return hipSuccess.

    `report` is what the emulated device says about the failure (one line a wave), else empty.
    """

    def __init__(self, call: str, code: int, name: str, text: str, report: str = "") -> None:
        super().__init__(call, code, name, text, report)
        self.call, self.code, self.name, self.text, self.report = call, code, name, text, report

    def __str__(self) -> str:
        sentence = f"{self.call}: {self.name} ({self.code}): {self.text}"
        return f"{sentence}\n{self.report}" if self.report else sentence


class RuntimeLibraryError(Error, ImportError):
    """No HIP library, a second one, or one that hip-python cannot use.

    `tried` lists what was tried, in order: (what, why it was not taken).
    """

    def __init__(self, choice: str, tried: tuple[tuple[str, str], ...], cure: str) -> None:
        super().__init__(choice, tried, cure)
        self.choice, self.tried, self.cure = choice, tried, cure

    def __str__(self) -> str:
        lines = [f"HIPGRAPH_RUNTIME={self.choice} cannot be had; {self.cure}"]
        return "\n".join(lines + [f"  {what}: {why}" for what, why in self.tried])


class CodeObjectError(Error):
    """An image that cannot be loaded, found by reading it, before HIP sees it."""

    def __init__(self, source: str, problem: str, cure: str) -> None:
        super().__init__(source, problem, cure)
        self.source, self.problem, self.cure = source, problem, cure

    def __str__(self) -> str:
        return f"{self.source}: {self.problem}; {self.cure}"


class CaptureError(Error):
    """A call that an open capture forbids.

    Calls of this package are refused before HIP could lose the capture; calls made past it are
    found when the capture ends.
    """

    def __init__(self, call: str, stream: int, cure: str) -> None:
        super().__init__(call, stream, cure)
        self.call, self.stream, self.cure = call, stream, cure

    def __str__(self) -> str:
        return f"{self.call}: not allowed while stream {self.stream:#x} captures; {self.cure}"


class GraphError(Error):
    """A graph, graph exec or capture used in a state that does not allow it."""

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(problem, cure)
        self.problem, self.cure = problem, cure

    def __str__(self) -> str:
        return f"{self.problem}; {self.cure}"


class HangError(Error):
    """Work that did not end in the time that the caller gave it.

    `state` says what still works; `report` is the emulated device's account of every wave that has
    not ended, else empty; `kernels` are those that were reached and did not end, where that is
    known. `counters` are those of the graph exec: (kernel, address, values), None for values that
    could not be read in time.
    """

    def __init__(
        self,
        waited_for: str,
        seconds: float,
        state: str,
        report: str = "",
        kernels: tuple[str, ...] = (),
        counters: tuple[tuple[str, int, tuple[int, ...] | None], ...] = (),
    ) -> None:
        super().__init__(waited_for, seconds, state, report, kernels, counters)
        self.waited_for, self.seconds, self.state, self.report = waited_for, seconds, state, report
        self.kernels, self.counters = kernels, counters

    def __str__(self) -> str:
        lines = [f"{self.waited_for}: not finished after {self.seconds:g} s; {self.state}"]
        lines += [f"reached and not finished: {kernel}" for kernel in self.kernels]
        for kernel, address, values in self.counters:
            told = "not readable" if values is None else _runs(values)
            lines.append(f"counters of {kernel} at {address:#x}: {told}")
        return "\n".join([*lines, self.report] if self.report else lines)


class CounterPoolError(Error):
    """The pool of split-K counters cannot give what is asked of it."""

    def __init__(self, capacity: int, in_use: int, wanted: int, cure: str) -> None:
        super().__init__(capacity, in_use, wanted, cure)
        self.capacity, self.in_use, self.wanted, self.cure = capacity, in_use, wanted, cure

    def __str__(self) -> str:
        return (
            f"split-K counter pool: {self.wanted} slots wanted, {self.in_use} of "
            f"{self.capacity} in use; {self.cure}"
        )


class DirtyCounterError(Error):
    """A split-K launch that found its counter not zero; its result is not to be used."""

    def __init__(self, device: int, cure: str) -> None:
        super().__init__(device, cure)
        self.device, self.cure = device, cure

    def __str__(self) -> str:
        return (
            f"a split-K launch on device {self.device} found a counter that was not zero; "
            f"{self.cure}"
        )


class ShmemError(Error):
    """A SHMEM operation that failed, or was asked for in a state that does not allow it."""

    def __init__(self, operation: str, problem: str) -> None:
        super().__init__(operation, problem)
        self.operation, self.problem = operation, problem

    def __str__(self) -> str:
        return f"{self.operation}: {self.problem}"


class ShmemTimeoutError(ShmemError, TimeoutError):
    """Another PE, or the signal waited for, did not come in time."""


class ModuleSymbolError(ShmemError):
    """A module whose SHMEM symbols are missing, or not those of the provider's release."""


class PeerLostError(ShmemError, ConnectionError):
    """Another PE died or left; what was waited for can never come."""


class CollectiveMismatchError(ShmemError):
    """The PEs called a collective operation with different arguments; nothing happened on any."""


class SymmetricMemoryError(ShmemError, MemoryError):
    """The symmetric heap of some PE has no room; no PE got memory."""


class ShmemUnavailable(ShmemError, NotImplementedError):  # noqa: N818 - reads as a state
    """A function that the loaded rocSHMEM release does not have."""


def _runs(values: tuple[int, ...]) -> str:
    """Print numbers, equal neighbours as one: 4 x 0, 2, 3 x 1."""
    groups = [(value, len(tuple(same))) for value, same in itertools.groupby(values)]
    return ", ".join(str(value) if count == 1 else f"{count} x {value}" for value, count in groups)
