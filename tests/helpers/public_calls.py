"""Public operations inside captures: what each may do there, tried in every mode and thread."""

from __future__ import annotations

import enum
import inspect
import itertools
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hipgraph_shmem.errors import CaptureError
from hipgraph_shmem.graph import CaptureMode, capture
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.stream import Stream

#: Every mode, in the thread that captures (True) and in another one.
SITUATIONS = list(itertools.product(CaptureMode, (True, False)))
PAGE = Path(__file__).resolve().parents[2] / "docs" / "capture.md"
SPECIAL = ("__init__", "__call__", "__dlpack__", "__cuda_stream__", "__getitem__")


class Allowed(enum.Enum):
    """Where an operation may be made while a stream captures."""

    ALWAYS = "in every mode and thread"
    BY_MODE = "as hipMalloc and waiting for another stream: not beside own or global captures"
    ELSEWHERE = "in threads that capture nothing"
    NEVER = "in no mode and thread"

    def allows(self, mode: CaptureMode, *, same_thread: bool) -> bool:
        """Tell whether the operation is legal beside one capture."""
        if self is Allowed.BY_MODE:
            own = same_thread and mode is not CaptureMode.RELAXED
            return not own and mode is not CaptureMode.GLOBAL
        return self is Allowed.ALWAYS or (self is Allowed.ELSEWHERE and not same_thread)


#: Where docs/capture.md lists them.
ROWS = {
    Allowed.BY_MODE: "as AllocLike and StreamSync above",
    Allowed.NEVER: "always",
}


@dataclass(frozen=True)
class Call:
    """An operation: where it is allowed, what it is, and how many nodes it records."""

    allowed: Allowed
    make: Callable[[Any], Any]
    nodes: int = 0


def check_in_capture(
    stream: Stream, buffer: Buffer, call: Call, use: Any, mode: CaptureMode, same_thread: bool
) -> None:
    """Make the call while a stream captures: refused or not, the capture must end whole."""
    legal = call.allowed.allows(mode, same_thread=same_thread)
    with capture(stream, mode) as captured:
        buffer.fill(1, stream)
        error = _error_of(lambda: call.make(use), same_thread=same_thread)
        if legal:
            assert error is None
        else:
            assert isinstance(error, CaptureError)
            assert error.cure
        buffer.fill(2, stream)
    expected = 2 + (call.nodes if legal else 0)
    assert len(captured.graph.nodes) == expected
    captured.graph.close()


def _error_of(make: Callable[[], Any], *, same_thread: bool) -> BaseException | None:
    errors: list[BaseException] = []

    def body() -> None:
        try:
            make()
        except Exception as error:
            error.__traceback__ = None  # it would keep what the call made
            errors.append(error)

    if same_thread:
        body()
    else:
        worker = threading.Thread(target=body)
        worker.start()
        worker.join(60)
        assert not worker.is_alive(), "the call does not return"
    return errors[0] if errors else None


def properties(owner: type) -> Call:
    """Reading every property of the object in use, which is called as its class is, in one row."""
    names = sorted(
        each
        for each, value in inspect.getmembers(owner, lambda value: isinstance(value, property))
        if not each.startswith("_")
    )
    return Call(
        Allowed.ALWAYS,
        lambda use: [getattr(getattr(use, owner.__name__.lower()), name) for name in names],
    )


def public_names(owner: type | ModuleType) -> set[str]:
    """What users call of a class or module: functions, methods, making one."""
    name = owner.__name__.rpartition(".")[2]
    if isinstance(owner, ModuleType):
        members = ((each, getattr(owner, each)) for each in owner.__all__)
        return {f"{name}.{each}" for each, value in members if inspect.isroutine(value)}
    return {
        f"{name}.{each}"
        for each, value in inspect.getmembers(owner)
        if each in SPECIAL or not each.startswith("_")
        if inspect.isroutine(value) and value is not getattr(object, each, None)
    }


def assert_complete(calls: Iterable[str], owners: Iterable[type | ModuleType]) -> None:
    """Every public operation has a row; a row's name may go on after a blank."""
    rows = {name.split(" ")[0] for name in calls if "." in name}
    public = set().union(*map(public_names, owners))
    assert rows == public


def assert_documented(calls: dict[str, Call]) -> None:
    """The page on captures has every operation that is not legal everywhere, in the right row."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    for allowed, heading in ROWS.items():
        (row,) = (line for line in rows if line.startswith(f"| {heading} |"))
        for name, call in calls.items():
            owner, _, method = name.split(" ")[0].rpartition(".")
            word = owner if method == "__init__" else method
            assert call.allowed is not allowed or re.search(rf"\b{word}\b", row), (name, heading)


def in_every_situation(calls: dict[str, Call]) -> pytest.MarkDecorator:
    """Try every row in every mode, in the thread that captures and in another."""
    cases = [
        pytest.param(call, mode, same, id=f"{name}-{mode.name}-{'same' if same else 'other'}")
        for name, call in calls.items()
        for mode, same in SITUATIONS
    ]
    return pytest.mark.parametrize(("call", "mode", "same_thread"), cases)
