"""The only door to HIP: the loaded library, checked calls, clean-up that waits for captures.

`call` goes through hip-python or through a C function pointer of the same library; the table in
routes.py says which. One library is chosen at the first use and stays for the process.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import importlib.util
import inspect
import itertools
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from . import env
from .errors import Error, HipError, RuntimeLibraryError
from .hip_abi import (
    CaptureMode,
    CaptureStatus,
    ErrorCode,
    MemcpyKind,
    NodeKind,
    error_name,
)
from .hip_library import Library, close_library, open_library, refuse_others
from .routes import ROUTES, Out, Route, Way

__all__ = [
    "CaptureMode",
    "CaptureStatus",
    "ErrorCode",
    "MemcpyKind",
    "NodeKind",
    "Recorder",
    "bind",
    "call",
    "clean_up",
    "discard",
    "drain_postponed",
    "emulator_report",
    "failure",
    "library",
    "pointer",
    "relaxed",
    "state",
]

AMD_DEVICE_NODES = ("/dev/kfd", "/dev/dxg")
REPORT_BYTES = 64 * 1024
DEVICE_FAILURES = (
    ErrorCode.ILLEGAL_ADDRESS,
    ErrorCode.LAUNCH_OUT_OF_RESOURCES,
    ErrorCode.LAUNCH_TIME_OUT,
    ErrorCode.ASSERT,
    ErrorCode.LAUNCH_FAILURE,
)
FREEING = ("hipFree", "hipHostFree", "hipModuleUnload")
REFUSED_IMAGES = (
    ErrorCode.INVALID_IMAGE,
    ErrorCode.NO_BINARY_FOR_GPU,
    ErrorCode.INVALID_KERNEL_FILE,
)


class Recorder(Protocol):
    """An open capture of ours, as the layers under it see it."""

    stream: int
    mode: CaptureMode
    thread: int

    def keep(self, *objects: object) -> None:
        """Hold the objects as long as the graph lives."""

    def declare(self, node: int, access: Any) -> None:
        """Note what a recorded node touches, an `Access`."""


@dataclass(slots=True)
class State:
    """Everything of this package that changes and is not in an object of the user's."""

    lock: Any = field(default_factory=threading.RLock)
    library: Library | None = None
    binding: Any = None
    calls: dict[str, Callable[..., Any]] = field(default_factory=dict)
    pointers: dict[str, Callable[..., int]] = field(default_factory=dict)
    devices: tuple[Any, ...] = ()
    open_captures: dict[int, Recorder] = field(default_factory=dict)
    relaxed_threads: dict[int, int] = field(default_factory=dict)
    postponed: list[tuple[str, tuple[Any, ...], tuple[object, ...]]] = field(default_factory=list)
    live: dict[object, str] = field(default_factory=dict)
    closes: int = 0
    device_failures: int = 0
    shared: dict[object, Any] = field(default_factory=dict)
    after_waiting: list[Callable[[], None]] = field(default_factory=list)
    host_functions: dict[int, tuple[Callable[[], object], bool]] = field(default_factory=dict)
    host_function_numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    host_errors: list[BaseException] = field(default_factory=list)
    retired: list[Any] = field(default_factory=list)
    tracers: list[Any] = field(default_factory=list)


state = State()


# --- the library ---------------------------------------------------------------------------------


def library() -> Library:
    """Return the HIP library of this process; choose and load it at the first call."""
    if state.library is None:
        with state.lock:
            if state.library is None:
                _load(env.settings().runtime)
    if state.library is None:
        raise RuntimeLibraryError("auto", (), "loading ended without a library")
    return state.library


def _load(choice: str) -> None:
    loaded = _open_auto() if choice == "auto" else open_library(choice)
    state.binding = _open_binding(choice, loaded)
    state.library = loaded
    if loaded.kind == "emu":
        # A host function in Python that began after the interpreter had ended would crash.
        atexit.register(loaded.pointers.hipgraphEmuStopHostFunctions)


def _open_auto() -> Library:
    """Take ROCm if it loads and reports a device, else the emulated device, and say so."""
    reason = "no AMD GPU on this machine"
    if any(Path(node).exists() for node in AMD_DEVICE_NODES):
        try:
            rocm = open_library("rocm")
        except RuntimeLibraryError:
            reason = "ROCm does not load"
        else:
            count = ctypes.c_int()
            if rocm.pointers.hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value:
                return rocm
            reason = "ROCm reports no device"
            if not close_library(rocm):
                tried = ((str(rocm.path), f"{reason}, and it cannot be unloaded"),)
                raise RuntimeLibraryError("auto", tried, "set HIPGRAPH_RUNTIME=emu")
    try:
        emulated = open_library("emu")
    except RuntimeLibraryError as error:
        raise RuntimeLibraryError("auto", (("rocm", reason), *error.tried), error.cure) from error
    warnings.warn(
        f"{reason}: kernels run on the emulated device (HIPGRAPH_RUNTIME=emu says it is wanted)",
        RuntimeWarning,
        stacklevel=5,
    )
    return emulated


def _open_binding(choice: str, loaded: Library) -> Any:
    """Import hip-python and make it open the very file that is loaded here.

    It opens its library at its first call and offers no argument for the path, so the place where
    it looks the path up is set: a module variable up to 7.x, a function from 10 on.
    """
    try:
        package: Any = importlib.import_module("hip")
        binding: Any = package.hip
    except (ImportError, AttributeError) as error:
        raise RuntimeLibraryError(
            choice, (("hip-python", str(error)),), "install hip-python (6.4, 7.2 or 10.0)"
        ) from error
    path = os.fsencode(loaded.path)
    if importlib.util.find_spec("hip.chip") is not None:
        chip: Any = importlib.import_module("hip.chip")
        chip.DLL = path
        status, version = binding.hipRuntimeGetVersion()
    else:
        paths: Any = importlib.import_module("rocm.bindings.util.paths")
        search, paths.get_library_path = paths.get_library_path, lambda *_: path
        try:
            status, version = binding.hipRuntimeGetVersion()
        finally:
            paths.get_library_path = search
    refuse_others(choice, loaded.path)
    if status:
        tried = (("hipRuntimeGetVersion", f"returns {int(status)}"),)
        raise RuntimeLibraryError(choice, tried, "use a HIP library that works")
    _warn_of_other_major(loaded, package.HIP_VERSION, version)
    return binding


def _warn_of_other_major(loaded: Library, binding_version: int, version: int) -> None:
    majors = binding_version // 10**7, version // 10**7
    if loaded.kind == "rocm" and majors[0] != majors[1]:
        warnings.warn(
            f"hip-python was made for HIP {majors[0]}, {loaded.path} is HIP {majors[1]}: "
            "install the hip-python release of this ROCm",
            RuntimeWarning,
            stacklevel=6,
        )


# --- calls ---------------------------------------------------------------------------------------


def call(name: str, *args: Any) -> Any:
    """Call HIP; return the outputs (None, one value, or a tuple), or raise HipError."""
    bound = state.calls.get(name)
    if bound is None:
        bound = bind(name)
    return bound(*args)


def bind(name: str) -> Callable[..., Any]:
    """Return the checked call that the routes table describes; made once.

    Raises:
        RuntimeLibraryError: the library lacks it, or hip-python takes other arguments.
    """
    route = ROUTES[name]
    function = pointer(name)
    if route.way is Way.BINDING:
        bound = _through_binding(name, route)
    elif any(isinstance(kind, Out) for kind in route.parameters):
        bound = _through_pointer(name, function, route)
    else:
        bound = _plain(name, function)
    state.calls[name] = bound
    return bound


def pointer(name: str) -> Callable[..., int]:
    """Return the bare C function: every parameter is given, the code is returned unchecked."""
    function = state.pointers.get(name)
    if function is None:
        function = state.pointers[name] = _function(name, ROUTES[name])
    return function


def failure(name: str, code: int) -> HipError:
    """Make the error of a call that returned `code`."""
    if code in DEVICE_FAILURES:
        state.device_failures += 1
    describe = library().pointers.hipGetErrorString
    describe.restype = ctypes.c_char_p
    text = (describe(code) or b"").decode(errors="replace")
    report = emulator_report() if code in (*DEVICE_FAILURES, *REFUSED_IMAGES) else ""
    return HipError(name, code, error_name(code), text, report)


def emulator_report() -> str:
    """Return what the emulated device has to say about its last trap or deadlock; else empty."""
    loaded = library()
    if loaded.kind != "emu":
        return ""
    buffer = ctypes.create_string_buffer(REPORT_BYTES)
    loaded.pointers.hipgraphEmuReport(buffer, ctypes.c_size_t(REPORT_BYTES))
    return buffer.value.decode(errors="replace")


def _function(name: str, route: Route) -> Callable[..., int]:
    loaded = library()
    try:
        function = loaded.pointers[name]
    except AttributeError as error:
        raise RuntimeLibraryError(
            str(loaded.path), ((name, str(error)),), "use a HIP library that has this function"
        ) from error
    function.argtypes = [
        ctypes.c_void_p if isinstance(kind, Out) else ctypes.c_int if kind is CaptureMode else kind
        for kind in route.parameters
    ]
    function.restype = ctypes.c_int
    return function


def _plain(name: str, function: Callable[..., int]) -> Callable[..., None]:
    def invoke(*args: Any) -> None:
        code = function(*args)
        if code:
            raise failure(name, code)

    return invoke


def _through_pointer(name: str, function: Callable[..., int], route: Route) -> Callable[..., Any]:
    kinds = route.parameters
    outs = [(at, kind.type) for at, kind in enumerate(kinds) if isinstance(kind, Out)]
    byref = ctypes.byref

    def invoke(*args: Any) -> Any:
        full = list(args)
        values = []
        for at, kind in outs:
            value = kind()
            values.append(value)
            full.insert(at, byref(value))
        code = function(*full)
        if code:
            raise failure(name, code)
        if len(values) == 1:
            return values[0].value or 0
        return tuple(value.value or 0 for value in values)

    return invoke


def _through_binding(name: str, route: Route) -> Callable[..., Any]:
    wrapper = getattr(state.binding, name)
    inputs = route.inputs
    taken = len(inspect.signature(wrapper).parameters)
    if taken != len(inputs):
        raise RuntimeLibraryError(
            library().kind,
            ((name, f"hip-python's wrapper takes {taken} arguments, expected {len(inputs)}"),),
            "install hip-python 6.4, 7.2 or 10.0",
        )
    mode_at = inputs.index(CaptureMode) if CaptureMode in inputs else None
    mode_type = state.binding.hipStreamCaptureMode

    def invoke(*args: Any) -> Any:
        if mode_at is not None:
            args = (*args[:mode_at], mode_type(args[mode_at]), *args[mode_at + 1 :])
        try:
            status, *values = wrapper(*args)
        except ValueError:
            # hip-python cannot name a code that is newer than itself.
            raise failure(name, pointer("hipPeekAtLastError")()) from None
        if status:
            raise failure(name, int(status))
        if len(values) == 1:
            return int(values[0] or 0)
        return tuple(int(value or 0) for value in values) or None

    return invoke


# --- clean-up ------------------------------------------------------------------------------------


class relaxed:  # noqa: N801 - reads as the statement that it is used in
    """Makes allocation-like calls of this thread legal inside any capture, for a `with` block."""

    __slots__ = ("_mode",)

    def __enter__(self) -> None:
        self._mode = ctypes.byref(ctypes.c_int(CaptureMode.RELAXED))
        call("hipThreadExchangeStreamCaptureMode", self._mode)
        threads, thread = state.relaxed_threads, threading.get_ident()
        threads[thread] = threads.get(thread, 0) + 1

    def __exit__(self, *_: object) -> None:
        threads, thread = state.relaxed_threads, threading.get_ident()
        threads[thread] -= 1
        if not threads[thread]:
            del threads[thread]
        call("hipThreadExchangeStreamCaptureMode", self._mode)


def clean_up(name: str, *args: Any) -> None:
    """Call HIP to destroy something.

    Freeing would lose a capture that others began and that is not known here; relaxed mode
    leaves it alone.
    """
    with relaxed() if name in FREEING else contextlib.nullcontext():
        call(name, *args)


def discard(name: str, *args: Any, needs: tuple[object, ...] = ()) -> None:
    """Call HIP to clean up: after any open capture, and with a warning instead of an error.

    `needs` are kept alive until the call is done.
    """
    state.postponed.append((name, args, needs))
    drain_postponed()


def drain_postponed() -> None:
    """Do the clean-ups that waited for a capture to end."""
    while state.postponed and not state.open_captures:
        try:
            name, args, _needs = state.postponed.pop(0)
        except IndexError:  # another thread took it
            return
        try:
            clean_up(name, *args)
        except Error as error:
            warnings.warn(f"clean-up failed: {error}", ResourceWarning, stacklevel=3)
