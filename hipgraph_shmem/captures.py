"""What open captures hold, and what they forbid: asked before HIP could lose a capture."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import Any

from .errors import CaptureError
from .hip_abi import LEGACY_STREAM, CaptureMode, CaptureStatus
from .runtime import Recorder, call, state

__all__ = [
    "CaptureInfo",
    "capture_info",
    "keep_while_captured",
    "recorder_of",
    "refuse_blocking",
    "refuse_device_wait",
    "refuse_while_capturing",
]


@dataclass(frozen=True, slots=True)
class CaptureInfo:
    """What a stream's capture looks like now; `graph` and `frontier` belong to HIP."""

    status: CaptureStatus
    id: int
    graph: int
    frontier: tuple[int, ...]


def capture_info(stream: int) -> CaptureInfo:
    """Ask HIP about a stream's capture; the null and legacy streams never capture."""
    if stream <= LEGACY_STREAM:
        return CaptureInfo(CaptureStatus.NONE, 0, 0, ())
    status, identity, graph, nodes, count = call("hipStreamGetCaptureInfo_v2", stream)
    if status != CaptureStatus.ACTIVE:
        return CaptureInfo(CaptureStatus(status), 0, 0, ())
    frontier = tuple((ctypes.c_void_p * count).from_address(nodes)) if count else ()
    return CaptureInfo(CaptureStatus.ACTIVE, identity, graph, tuple(node or 0 for node in frontier))


def recorder_of(stream: int) -> Recorder | None:
    """Return the open capture that the stream takes part in, None if it captures nothing.

    Raises:
        CaptureError: the capture is lost, or was not begun by `hipgraph_shmem.graph.capture`.
    """
    info = capture_info(stream)
    if info.status is CaptureStatus.NONE:
        return None
    if info.status is CaptureStatus.INVALIDATED:
        cure = "HIP refused an earlier call and the capture is lost: end it, and record it again"
        raise CaptureError("recording", stream, cure)
    recorder = state.open_captures.get(info.id)
    if recorder is None:
        cure = (
            "begin the capture with hipgraph_shmem.graph.capture, or record into one of others in"
            " a block of graph.adopt_capture: they keep what the graph needs"
        )
        raise CaptureError("recording", stream, cure)
    return recorder


def keep_while_captured(stream: int, *objects: object) -> None:
    """Let the capture that the stream takes part in, if it is ours, hold the objects."""
    if not state.open_captures or stream <= LEGACY_STREAM:
        return
    recorder = state.open_captures.get(call("hipStreamGetCaptureInfo_v2", stream)[1])
    if recorder is not None:
        recorder.keep(*objects)


def declare_while_captured(stream: int, access: Any) -> None:
    """Let the capture of ours that the stream takes part in note what its last node touches."""
    info = capture_info(stream)
    recorder = state.open_captures.get(info.id)
    if recorder is not None:
        # After a recorded launch the stream's frontier is that one node.
        (node,) = info.frontier
        recorder.declare(node, access)


def refuse_while_capturing(name: str, cure: str) -> None:
    """Raise if this thread's allocation-like call would lose an open capture of ours."""
    if not state.open_captures or threading.get_ident() in state.relaxed_threads:
        return
    for recorder in tuple(state.open_captures.values()):
        foreign = recorder.thread != threading.get_ident()
        if recorder.mode is CaptureMode.RELAXED:
            continue
        if recorder.mode is CaptureMode.GLOBAL or not foreign:
            raise CaptureError(name, recorder.stream, cure)


def refuse_device_wait(name: str, cure: str) -> None:
    """Raise if waiting for a whole device would lose an open capture of ours: any of them."""
    for recorder in tuple(state.open_captures.values()):
        raise CaptureError(name, recorder.stream, cure)


def refuse_blocking(name: str, stream: int, cure: str) -> None:
    """Raise if waiting for a stream would lose an open capture of ours."""
    if not state.open_captures:
        return
    if capture_info(stream).status is not CaptureStatus.NONE:
        raise CaptureError(name, stream, cure)
    refuse_while_capturing(name, cure)
