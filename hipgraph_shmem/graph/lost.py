"""Why a capture gave no graph: which call lost it, where the runtime tells, and what to do."""

from __future__ import annotations

import contextlib
from typing import Any

from ..captures import capture_info
from ..emulated import capture_refusal
from ..errors import CaptureError, Error, GraphError, HipError
from ..hip_abi import CaptureMode, CaptureStatus, ErrorCode

__all__ = ["lost_capture", "partial_capture"]

UNNAMED = "a call that this HIP library does not name"

_CURES: dict[int, str] = {
    ErrorCode.ILLEGAL_STATE: "leave hipStreamEndCapture to the end of the block",
    ErrorCode.STREAM_CAPTURE_UNJOINED: (
        "a stream that joined by an event has later work: record an event behind it and let the"
        " capturing stream wait for that"
    ),
    ErrorCode.STREAM_CAPTURE_WRONG_THREAD: "end the block in the thread that began it",
}
_NEVER = (
    "copies and fills without Async in their name and hipDeviceSynchronize, in any thread;"
    " synchronizing or querying a capturing stream or an event recorded in it"
)
_BY_MODE = {
    CaptureMode.RELAXED: "",
    CaptureMode.THREAD_LOCAL: "in this thread",
    CaptureMode.GLOBAL: "in any thread",
}
_EXCHANGED = (
    "allocating, freeing, unloading modules, synchronizing or querying any other stream or event"
)


def lost_capture(stream: int, mode: CaptureMode, error: HipError) -> Error:
    """Explain why hipStreamEndCapture failed, in the thread that called it."""
    left = _what_is_left(stream)
    if error.code == ErrorCode.STREAM_CAPTURE_INVALIDATED:
        return _forbidden(stream, mode, capture_refusal(), left)
    if error.code == ErrorCode.CONTEXT_IS_DESTROYED:
        cure = "it was called in the block and ended the capture: close the stream after the block"
        return CaptureError("hipStreamDestroy", stream, cure)
    cure = _CURES.get(error.code, "record it again")
    return GraphError(f"the capture of stream {stream:#x} gave no graph: {error}", cure + left)


def partial_capture(stream: int, mode: CaptureMode) -> CaptureError | None:
    """Explain why the graph that this thread's last capture gave is not whole; None if it is.

    HIP ends a capture well when only a stream that joined it became invalid. The emulated device
    tells.
    """
    refusal = capture_refusal()
    return None if refusal is None else _forbidden(stream, mode, refusal, "")


def _what_is_left(stream: int) -> str:
    """Say so if the stream captures still: HIP 7.2 and older keep an invalid capture."""
    with contextlib.suppress(Error):
        if capture_info(stream).status is not CaptureStatus.NONE:
            return "; this runtime left the stream capturing: close it and use another"
    return ""


def _forbidden(
    stream: int, mode: CaptureMode, refusal: dict[str, Any] | None, left: str
) -> CaptureError:
    if refusal is None:
        where = _BY_MODE[mode]
        others = f"; {_EXCHANGED}, {where}" if where else ""
        cure = f"it lost the capture. Forbidden are, in mode {mode.name}: {_NEVER}{others}"
        return CaptureError(UNNAMED, stream, cure + left)
    cure = f"HIP refused it with {refusal['code']}, and the capture is lost: "
    if refusal["code"] == ErrorCode.STREAM_CAPTURE_MERGE:
        cure += "two captures cannot be joined; end one before the other waits for it"
    elif refusal["other_thread"]:
        cure += "another thread called it; let that one wait, or see which modes allow it there"
    else:
        cure += "move it before or after the block"
    return CaptureError(refusal["call"], stream, cure + left)
