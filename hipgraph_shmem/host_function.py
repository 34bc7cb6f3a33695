"""HostFunction: a Python callable that the runtime calls in stream order."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

from .devices import on_device
from .errors import Error
from .runtime import call, state

__all__ = ["HostFunction", "host_function_address"]

_EXIT_SECONDS = 2.0


@dataclass(slots=True)
class _Registry:
    """The callables by the number that HIP hands to the trampoline, and what they raised."""

    functions: dict[int, tuple[Callable[[], object], bool]] = field(default_factory=dict)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    errors: list[BaseException] = field(default_factory=list)


class HostFunction:
    """A callable without arguments, which HIP can call as long as this object lives.

    It runs in a thread of the runtime and must not call HIP (hipLaunchHostFunc). What it raises
    is raised by the next wait of the host for a stream, event or graph exec.

    Args:
        function: What is called; its result is ignored.
        once: Whether it is called once.

    Raises:
        TypeError: It cannot be called.
    """

    __slots__ = ("__weakref__", "_finalizer", "number")

    def __init__(self, function: Callable[[], object], *, once: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"function={function!r}: give a callable without arguments")
        registry = _registry()
        self.number = next(registry.numbers)
        registry.functions[self.number] = function, once
        self._finalizer = weakref.finalize(self, registry.functions.pop, self.number, None)
        self._finalizer.atexit = False

    def release(self) -> None:
        """Leave the callable to its one call, which forgets it."""
        self._finalizer.detach()


def host_function_address() -> int:
    """Return the hipHostFn_t that calls the function whose number it is given."""
    return ctypes.cast(_TRAMPOLINE, ctypes.c_void_p).value or 0


def _run(number: int | None) -> None:
    registry = _registry()
    try:
        function, once = registry.functions[number or 0]
        if once:
            del registry.functions[number or 0]
        function()
    except BaseException as error:  # nothing may unwind into C
        registry.errors.append(error)


#: One for all: a closure of its own could be freed while it runs.
_TRAMPOLINE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_run)


def _registry() -> _Registry:
    with state.lock:
        if _Registry not in state.shared:
            state.shared[_Registry] = _Registry()
            state.after_waiting.append(_raise_first)
            atexit.register(_wait_for_calls)
    registry: _Registry = state.shared[_Registry]
    return registry


def _raise_first() -> None:
    errors = _registry().errors
    if errors:
        raise errors.pop(0)


def _wait_for_calls() -> None:
    """Give calls that are due time to happen: none may come when the interpreter is gone."""
    if not _registry().functions:
        return
    waiter = threading.Thread(target=_wait_for_devices, daemon=True)
    waiter.start()
    waiter.join(_EXIT_SECONDS)


def _wait_for_devices() -> None:
    for device in range(call("hipGetDeviceCount")):
        try:
            with on_device(device):
                call("hipDeviceSynchronize")
        except Error:
            continue
