"""Stream (an order of work) and Event (a point in it).

Whatever waits or asks does so in relaxed mode: captures that others began, and those that another
thread begins meanwhile, are not lost by it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, ClassVar

from .captures import (
    capture_info,
    keep_while_captured,
    recorder_of,
    refuse_blocking,
    refuse_while_capturing,
)
from .devices import on_device
from .emulated import is_emulated, kernels_of, last_report, running_report, saw_deadlock
from .errors import CaptureError, HangError, HipError
from .handle import Handle
from .hip_abi import NULL_STREAM, CaptureStatus, ErrorCode, EventFlags, StreamFlags
from .host_function import HostFunction, host_function_address, raise_host_error
from .runtime import call, failure, pointer, relaxed, state

__all__ = ["Event", "Stream", "as_stream", "wait_for"]

FIRST_PAUSE = 50e-6
LONGEST_PAUSE = 5e-3
_ENDED = "the emulated device ended the stuck launches and is usable again"
_RUNS_ON = (
    "the emulated device proved no deadlock, so the work runs on: what is behind it waits, and"
    " other streams are usable"
)
_STUCK = (
    "the work runs on: later work of its streams, and freeing memory, modules and streams of this"
    " device, would wait for it; if it never ends, only the end of the process frees the device"
)
_WAITS = MappingProxyType(
    {"hipStreamQuery": "hipStreamSynchronize", "hipEventQuery": "hipEventSynchronize"}
)
_SYNC_CURE = "synchronize after the capture, when the graph has been launched"


class Stream(Handle):
    """Work in it runs in order; work of other streams may run beside it.

    Args:
        device: The device it belongs to; None: the current one of this thread.
        blocking: Whether it waits for the null stream, and the null stream for it.
        priority: -1 high, 0 normal, 1 low.
    """

    destroy: ClassVar[str] = "hipStreamDestroy"
    __slots__ = ("_device",)

    def __init__(
        self, device: int | None = None, *, blocking: bool = False, priority: int = 0
    ) -> None:
        flags = StreamFlags.DEFAULT if blocking else StreamFlags.NON_BLOCKING
        with on_device(device) as ordinal:
            raw = call("hipStreamCreateWithPriority", flags, priority)
        self._device: int | None = ordinal
        super().__init__(raw)

    @classmethod
    def borrow(cls, raw: int) -> Stream:
        """Wrap a raw hipStream_t that someone else owns; 0 is the null stream."""
        borrowed = super().borrow(raw)
        borrowed._device = None
        return borrowed

    @property
    def device(self) -> int:
        """The device that the stream belongs to."""
        if self._device is None:
            self._device = call("hipStreamGetDevice", self.handle)
        return self._device

    @property
    def capture_status(self) -> CaptureStatus:
        """Whether the stream captures, or its capture was lost."""
        return capture_info(self.handle).status

    def close(self) -> None:
        """Destroy the stream after the work in it; a second call does nothing.

        Raises:
            CaptureError: it captures; destroying it would lose the capture.
        """
        alive = self.owned and not self.closed
        if alive and state.open_captures and self.capture_status is not CaptureStatus.NONE:
            raise CaptureError(self.destroy, self._raw, "close it after the capture")
        super().close()

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait on the host until all work in the stream is done.

        Args:
            timeout: Seconds to wait; None: as long as it takes.

        Raises:
            HangError: with a timeout, the work was not done in time or can never be done.
            CaptureError: the stream captures, or waiting would lose an open capture.
        """
        raw = self.handle
        if timeout is None:
            refuse_blocking("hipStreamSynchronize", raw, _SYNC_CURE)
            wait_for(raw)
        else:
            with relaxed():
                refuse_blocking("hipStreamQuery", raw, _SYNC_CURE)
                _wait_until("hipStreamQuery", raw, timeout, repr(self))
            _look_for_failures()

    def query(self) -> bool:
        """Tell whether all work in the stream is done."""
        raw = self.handle
        refuse_blocking("hipStreamQuery", raw, _SYNC_CURE)
        with relaxed():
            return _is_done("hipStreamQuery", raw)

    def record(self, event: Event | None = None) -> Event:
        """Record an event after the work that is in the stream now; make one if none is given."""
        if event is None:
            event = Event(self.device, timing=False)
        event.record(self)
        return event

    def wait(self, event: Event) -> None:
        """Let later work of this stream wait for an event; under capture this joins or forks."""
        raw = self.handle
        call("hipStreamWaitEvent", raw, event.handle, 0)
        keep_while_captured(raw, event)

    def launch_host(self, function: Callable[[], object]) -> None:
        """Call a function on the host, after the work that is in the stream now.

        Later work waits for it; under capture it is called at each replay. It runs in a thread of
        the runtime and must not call HIP (hipLaunchHostFunc). What it raises is raised by the next
        wait of the host for a stream, event or graph exec.

        Args:
            function: Called without arguments.
        """
        raw = self.handle
        recorder = recorder_of(raw)
        kept = HostFunction(function, once=recorder is None)
        call("hipLaunchHostFunc", raw, host_function_address(), kept.number)
        if recorder is None:
            kept.release()
        else:
            recorder.keep(kept)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Export the stream by the protocol that cuda.core defined: (version, handle)."""
        return 0, self.handle


class Event(Handle):
    """A recorded point in a stream.

    Args:
        device: The device it belongs to; None: the current one of this thread.
        timing: Whether it keeps a time, for `elapsed_ms`.
    """

    destroy: ClassVar[str] = "hipEventDestroy"
    __slots__ = ("_capture",)

    def __init__(self, device: int | None = None, *, timing: bool = True) -> None:
        flags = EventFlags.DEFAULT if timing else EventFlags.DISABLE_TIMING
        with on_device(device):
            raw = call("hipEventCreateWithFlags", flags)
        self._capture = 0
        super().__init__(raw)

    @classmethod
    def borrow(cls, raw: int) -> Event:
        """Wrap a raw hipEvent_t that someone else owns."""
        borrowed = super().borrow(raw)
        borrowed._capture = 0
        return borrowed

    def record(self, stream: Any) -> None:
        """Record the event after the work that is in the stream now."""
        raw = as_stream(stream)
        self._capture = capture_info(raw).id if state.open_captures else 0
        call("hipEventRecord", self.handle, raw)
        keep_while_captured(raw, self)

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait on the host until the event has happened.

        Args:
            timeout: Seconds to wait; None: as long as it takes.

        Raises:
            HangError: with a timeout, it did not happen in time or never can.
            CaptureError: it was recorded in an open capture, or waiting would lose one.
        """
        raw = self.handle
        if timeout is None:
            self._refuse("hipEventSynchronize")
            with relaxed():
                call("hipEventSynchronize", raw)
        else:
            with relaxed():
                self._refuse("hipEventQuery")
                _wait_until("hipEventQuery", raw, timeout, repr(self))
        _look_for_failures()

    def query(self) -> bool:
        """Tell whether the event has happened; one never recorded has."""
        raw = self.handle
        self._refuse("hipEventQuery")
        with relaxed():
            return _is_done("hipEventQuery", raw)

    def elapsed_ms(self, since: Event) -> float:
        """Return the milliseconds from another event to this one; both need `timing`."""
        return float(call("hipEventElapsedTime", since.handle, self.handle))

    def _refuse(self, name: str) -> None:
        recorder = state.open_captures.get(self._capture)
        if recorder is not None:
            cure = "an event recorded in a capture only happens when the graph runs"
            raise CaptureError(name, recorder.stream, cure)
        refuse_while_capturing(name, "ask after the capture")


def as_stream(stream: Any, name: str = "stream") -> int:
    """Return the raw handle of a stream given as Stream, int or `__cuda_stream__` object.

    Raises:
        TypeError: it is none of them.
        ValueError: a closed Stream, or a negative number.
    """
    if isinstance(stream, Stream):
        return stream.handle
    if isinstance(stream, int) and not isinstance(stream, bool):
        if stream < NULL_STREAM:
            raise ValueError(f"{name}={stream}: a stream handle is not negative; 0 is null")
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        raise TypeError(
            f"{name}={stream!r}: give a Stream, a raw handle (int) or an object with "
            "__cuda_stream__"
        )
    # cuda.core first published it as a property, then as a method.
    _version, raw = protocol() if callable(protocol) else protocol
    return int(raw)


def wait_for(stream: int) -> None:
    """Wait for a stream by its raw handle; raise what its kernels reported by other ways too."""
    with relaxed():
        call("hipStreamSynchronize", stream)
    _look_for_failures()


def _look_for_failures() -> None:
    """Raise what host functions raised, and let upper layers raise what their kernels reported."""
    raise_host_error()
    for look in state.after_waiting:
        look()


def _is_done(name: str, raw: int) -> bool:
    code = pointer(name)(raw)
    if code and code != ErrorCode.NOT_READY:
        raise failure(name, code)
    return code == ErrorCode.SUCCESS


def _runs_on(waited_for: str, seconds: float) -> HangError:
    """Tell what is known of work that has neither ended nor been proven stuck."""
    if not is_emulated():
        return HangError(waited_for, seconds, _STUCK)
    running = running_report()
    report = "no kernel runs" if running is None else str(running["text"]).rstrip()
    return HangError(waited_for, seconds, _RUNS_ON, report, kernels_of(running))


def _wait_until(name: str, raw: int, timeout: float, waited_for: str) -> None:
    start = time.monotonic()
    pause = FIRST_PAUSE
    while True:
        try:
            done = _is_done(name, raw)
        except HipError as error:
            if not saw_deadlock():
                raise
            # Asking leaves the failure with the work; who waits is told once, and it is over.
            pointer(_WAITS[name])(raw)
            seconds = time.monotonic() - start
            kernels = kernels_of(last_report())
            raise HangError(waited_for, seconds, _ENDED, error.report, kernels) from error
        if done:
            return
        if time.monotonic() >= start + timeout:
            raise _runs_on(waited_for, timeout)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
