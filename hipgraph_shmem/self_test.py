"""A check that the loaded library and this hip-python release do what routes.py expects.

hip-python's wrappers changed between releases, and some of them lost arguments without an error.
Every route is bound (its symbol is there, its wrapper takes the arguments expected), and those
that need no kernel are run and their results compared with what they must be.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

from .errors import Error, RuntimeLibraryError
from .hip_abi import (
    CaptureMode,
    CaptureStatus,
    ErrorCode,
    EventFlags,
    MemcpyKind,
    NodeKind,
    StreamFlags,
)
from .routes import ROUTES
from .runtime import bind, call, discard, library, pointer

__all__ = ["self_test"]

NBYTES = 64
WORD = 0x3F803F80
EMPTY_FLAGS = 0


def self_test() -> None:
    """Check every route on the current device; no work may be waiting on it.

    Raises:
        RuntimeLibraryError: it names the step that failed, and the release of hip-python.
    """
    for name in ROUTES:
        _step(name, bind, name)
    with _made("hipStreamCreateWithPriority", "hipStreamDestroy", StreamFlags.NON_BLOCKING, 0) as s:
        for check in (_device, _event, _mode, _memory, _capture):
            _step(check.__name__.strip("_"), check, s)
    _step("graph", _graph)


def _step(name: str, check: Callable[..., object], *args: object) -> None:
    try:
        check(*args)
    except (Error, TypeError, ValueError, AttributeError) as error:
        release = metadata.version("hip-python")
        raise RuntimeLibraryError(
            library().kind,
            ((f"self-test, {name}", str(error)),),
            f"hip-python {release} and {library().path} do not fit: install hip-python 6.4, 7.2 "
            "or 10.0",
        ) from error


def _expect_that(what: str, holds: object) -> None:
    if not holds:
        raise ValueError(f"{what} gives a value that cannot be")


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise ValueError(f"{what} gives {found!r}, expected {expected!r}")


@contextlib.contextmanager
def _made(create: str, destroy: str, *args: Any) -> Iterator[int]:
    raw = call(create, *args)
    try:
        yield raw
    finally:
        discard(destroy, raw)


def _device(stream: int) -> None:
    ordinal = call("hipGetDevice")
    call("hipSetDevice", ordinal)
    _expect("hipStreamGetDevice", call("hipStreamGetDevice", stream), ordinal)
    _expect_that("hipGetDeviceCount", call("hipGetDeviceCount") > ordinal)
    free, total = call("hipMemGetInfo")
    _expect_that("hipMemGetInfo", 0 < free <= total)
    _expect_that("hipRuntimeGetVersion", call("hipRuntimeGetVersion") > 0)


def _event(stream: int) -> None:
    flags = EventFlags.DEFAULT
    with (
        _made("hipEventCreateWithFlags", "hipEventDestroy", flags) as first,
        _made("hipEventCreateWithFlags", "hipEventDestroy", flags) as second,
    ):
        for event in (first, second):
            call("hipEventRecord", event, stream)
        call("hipStreamWaitEvent", stream, second, EMPTY_FLAGS)
        call("hipEventSynchronize", second)
        _expect("hipEventQuery", pointer("hipEventQuery")(second), ErrorCode.SUCCESS)
        _expect_that("hipEventElapsedTime", call("hipEventElapsedTime", first, second) >= 0)


def _mode(_: int) -> None:
    """The mode goes in and the old one comes out: hip-python's wrapper loses the first."""
    before = _exchange(CaptureMode.RELAXED)
    _expect_that("hipThreadExchangeStreamCaptureMode", before in tuple(CaptureMode))
    relaxed = _exchange(CaptureMode.THREAD_LOCAL)
    _expect("hipThreadExchangeStreamCaptureMode", relaxed, CaptureMode.RELAXED)
    thread_local = _exchange(before)
    _expect("hipThreadExchangeStreamCaptureMode", thread_local, CaptureMode.THREAD_LOCAL)


def _exchange(wanted: int) -> int:
    mode = ctypes.c_int(wanted)
    call("hipThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    return mode.value


def _memory(stream: int) -> None:
    with (
        _made("hipMalloc", "hipFree", NBYTES) as device,
        _made("hipHostMalloc", "hipHostFree", NBYTES, EMPTY_FLAGS) as host,
    ):
        call("hipMemsetD8Async", device, 0x5A, NBYTES, stream)
        call("hipMemsetD16Async", device, 0x1234, 2, stream)
        call("hipMemsetD32Async", device + 8, WORD, 1, stream)
        call("hipMemset2DAsync", device + 16, 16, 0, 4, 2, stream)
        expected = b"\x34\x12\x34\x12ZZZZ" + WORD.to_bytes(4, "little") + b"Z" * 4
        expected += (bytes(4) + b"Z" * 12) * 2 + b"Z" * 16
        call("hipMemcpyAsync", host, device, NBYTES, MemcpyKind.DEVICE_TO_HOST, stream)
        call("hipStreamSynchronize", stream)
        _expect("fills and copy", ctypes.string_at(host, NBYTES), expected)
        _expect("hipStreamQuery", pointer("hipStreamQuery")(stream), ErrorCode.SUCCESS)


def _capture(stream: int) -> None:
    """One fill, captured, listed, instantiated and launched."""
    with _made("hipMalloc", "hipFree", NBYTES) as device:
        call("hipStreamBeginCapture", stream, CaptureMode.RELAXED)
        try:
            call("hipMemsetD32Async", device, WORD, 1, stream)
            status = call("hipStreamIsCapturing", stream)
            frontier = call("hipStreamGetCaptureInfo_v2", stream)
        finally:
            graph = call("hipStreamEndCapture", stream)
        try:
            _expect("hipStreamIsCapturing", status, CaptureStatus.ACTIVE)
            _expect("hipStreamGetCaptureInfo_v2", frontier[-1], 1)
            (node,) = _nodes(graph)
            _expect("hipGraphNodeGetType", call("hipGraphNodeGetType", node), NodeKind.MEMSET)
            _replay(graph, stream, device)
        finally:
            discard("hipGraphDestroy", graph)


def _replay(graph: int, stream: int, device: int) -> None:
    found = ctypes.c_uint32()
    address, kind = ctypes.addressof(found), MemcpyKind.DEVICE_TO_HOST
    instantiate = "hipGraphInstantiateWithFlags"
    with _made(instantiate, "hipGraphExecDestroy", graph, EMPTY_FLAGS) as graph_exec:
        call("hipGraphUpload", graph_exec, stream)
        call("hipGraphLaunch", graph_exec, stream)
        call("hipMemcpyAsync", address, device, ctypes.sizeof(found), kind, stream)
        call("hipStreamSynchronize", stream)
        _expect("hipGraphLaunch", found.value, WORD)


def _graph() -> None:
    """Two nodes and the edge between them, which old wrappers lose."""
    with _made("hipGraphCreate", "hipGraphDestroy", EMPTY_FLAGS) as graph:
        first = call("hipGraphAddEmptyNode", graph, None, 0)
        second = call("hipGraphAddEmptyNode", graph, (ctypes.c_void_p * 1)(first), 1)
        third = call("hipGraphAddEmptyNode", graph, None, 0)
        ends = (ctypes.c_void_p * 1)(second), (ctypes.c_void_p * 1)(third)
        call("hipGraphAddDependencies", graph, *ends, 1)
        _expect("hipGraphGetNodes", set(_nodes(graph)), {first, second, third})
        count = ctypes.c_size_t()
        call("hipGraphGetEdges", graph, None, None, ctypes.byref(count))
        _expect("hipGraphGetEdges", count.value, 2)


def _nodes(graph: int) -> tuple[int, ...]:
    count = ctypes.c_size_t()
    call("hipGraphGetNodes", graph, None, ctypes.byref(count))
    nodes = (ctypes.c_void_p * count.value)()
    call("hipGraphGetNodes", graph, nodes, ctypes.byref(count))
    return tuple(node or 0 for node in nodes)
