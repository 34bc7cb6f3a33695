"""HostFunction: a Python callable that the runtime calls in stream order."""

from __future__ import annotations

import atexit
import ctypes
import threading
import weakref
from collections.abc import Callable

from .devices import on_device
from .errors import Error
from .runtime import call, state

__all__ = ["HostFunction", "host_function_address", "raise_host_error"]

_EXIT_SECONDS = 2.0


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
        self.number = next(state.host_function_numbers)
        if self.number == 1:
            # Now: what is registered last happens first, before the library is told to stop.
            atexit.register(_wait_for_calls)
        state.host_functions[self.number] = function, once
        self._finalizer = weakref.finalize(self, state.host_functions.pop, self.number, None)
        self._finalizer.atexit = False

    def release(self) -> None:
        """Leave the callable to its one call, which forgets it."""
        self._finalizer.detach()


def host_function_address() -> int:
    """Return the hipHostFn_t that calls the function whose number it is given."""
    return ctypes.cast(_TRAMPOLINE, ctypes.c_void_p).value or 0


def raise_host_error() -> None:
    """Raise the first error of a host function that nobody was told of."""
    if state.host_errors:
        raise state.host_errors.pop(0)


def _run(number: int | None) -> None:
    try:
        function, once = state.host_functions[number or 0]
        if once:
            del state.host_functions[number or 0]
        function()
    except BaseException as error:  # nothing may unwind into C
        state.host_errors.append(error)


#: One for all: a closure of its own could be freed while it runs.
_TRAMPOLINE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_run)


def _wait_for_calls() -> None:
    """Give calls that are due time to happen: none may come when the interpreter is gone."""
    if not state.host_functions:
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
