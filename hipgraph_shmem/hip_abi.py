"""HIP's C constants and struct offsets as Python sees them; nothing here calls HIP."""

from __future__ import annotations

import re
from enum import IntEnum

__all__ = [
    "CaptureMode",
    "CaptureStatus",
    "ErrorCode",
    "EventFlags",
    "LaunchParam",
    "MemcpyKind",
    "NodeKind",
    "PropertyOffset",
    "StreamFlags",
    "error_name",
]

NULL_STREAM = 0
LEGACY_STREAM = 1
PER_THREAD_STREAM = 2


class CaptureMode(IntEnum):
    """Which other calls an open capture forbids, and to whom (hipStreamCaptureMode)."""

    GLOBAL = 0
    THREAD_LOCAL = 1
    RELAXED = 2


class CaptureStatus(IntEnum):
    """What a stream's capture is doing (hipStreamCaptureStatus)."""

    NONE = 0
    ACTIVE = 1
    INVALIDATED = 2


class MemcpyKind(IntEnum):
    """The direction of a copy (hipMemcpyKind)."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    DEFAULT = 4


class NodeKind(IntEnum):
    """The kind of a graph node (hipGraphNodeType)."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    HOST = 3
    GRAPH = 4
    EMPTY = 5
    WAIT_EVENT = 6
    EVENT_RECORD = 7
    EXT_SEMAPHORE_SIGNAL = 8
    EXT_SEMAPHORE_WAIT = 9
    MEM_ALLOC = 10
    MEM_FREE = 11
    MEMCPY_FROM_SYMBOL = 12
    MEMCPY_TO_SYMBOL = 13
    BATCH_MEM_OP = 14


class StreamFlags(IntEnum):
    """Whether a stream waits for the null stream (hipStreamDefault, hipStreamNonBlocking)."""

    DEFAULT = 0
    NON_BLOCKING = 1


class EventFlags(IntEnum):
    """Whether an event keeps a time (hipEventDefault, hipEventDisableTiming)."""

    DEFAULT = 0
    DISABLE_TIMING = 2


class LaunchParam(IntEnum):
    """Tags of the `extra` list of hipModuleLaunchKernel (HIP_LAUNCH_PARAM_*)."""

    BUFFER_POINTER = 1
    BUFFER_SIZE = 2
    END = 3


class PropertyOffset(IntEnum):
    """Byte offsets in hipDeviceProp_tR0600, and its size."""

    NAME = 0
    TOTAL_GLOBAL_MEM = 288
    SHARED_MEM_PER_BLOCK = 296
    WARP_SIZE = 308
    MAX_THREADS_PER_BLOCK = 320
    MULTI_PROCESSOR_COUNT = 388
    GCN_ARCH_NAME = 1160
    SIZE = 1472


class ErrorCode(IntEnum):
    """hipError_t; the package formats errors from here, never through hip-python.

    (With a library or symbol missing, its hipGetErrorName prints a warning and reports success.)
    """

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    NOT_INITIALIZED = 3
    DEINITIALIZED = 4
    PROFILER_DISABLED = 5
    PROFILER_NOT_INITIALIZED = 6
    PROFILER_ALREADY_STARTED = 7
    PROFILER_ALREADY_STOPPED = 8
    INVALID_CONFIGURATION = 9
    INVALID_PITCH_VALUE = 12
    INVALID_SYMBOL = 13
    INVALID_DEVICE_POINTER = 17
    INVALID_MEMCPY_DIRECTION = 21
    INSUFFICIENT_DRIVER = 35
    MISSING_CONFIGURATION = 52
    PRIOR_LAUNCH_FAILURE = 53
    INVALID_DEVICE_FUNCTION = 98
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    INVALID_CONTEXT = 201
    CONTEXT_ALREADY_CURRENT = 202
    MAP_FAILED = 205
    UNMAP_FAILED = 206
    ARRAY_IS_MAPPED = 207
    ALREADY_MAPPED = 208
    NO_BINARY_FOR_GPU = 209
    ALREADY_ACQUIRED = 210
    NOT_MAPPED = 211
    NOT_MAPPED_AS_ARRAY = 212
    NOT_MAPPED_AS_POINTER = 213
    ECC_NOT_CORRECTABLE = 214
    UNSUPPORTED_LIMIT = 215
    CONTEXT_ALREADY_IN_USE = 216
    PEER_ACCESS_UNSUPPORTED = 217
    INVALID_KERNEL_FILE = 218
    INVALID_GRAPHICS_CONTEXT = 219
    INVALID_SOURCE = 300
    FILE_NOT_FOUND = 301
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302
    SHARED_OBJECT_INIT_FAILED = 303
    OPERATING_SYSTEM = 304
    INVALID_HANDLE = 400
    ILLEGAL_STATE = 401
    NOT_FOUND = 500
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIME_OUT = 702
    PEER_ACCESS_ALREADY_ENABLED = 704
    PEER_ACCESS_NOT_ENABLED = 705
    SET_ON_ACTIVE_PROCESS = 708
    CONTEXT_IS_DESTROYED = 709
    ASSERT = 710
    HOST_MEMORY_ALREADY_REGISTERED = 712
    HOST_MEMORY_NOT_REGISTERED = 713
    LAUNCH_FAILURE = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_SUPPORTED = 801
    STREAM_CAPTURE_UNSUPPORTED = 900
    STREAM_CAPTURE_INVALIDATED = 901
    STREAM_CAPTURE_MERGE = 902
    STREAM_CAPTURE_UNMATCHED = 903
    STREAM_CAPTURE_UNJOINED = 904
    STREAM_CAPTURE_ISOLATION = 905
    STREAM_CAPTURE_IMPLICIT = 906
    CAPTURED_EVENT = 907
    STREAM_CAPTURE_WRONG_THREAD = 908
    GRAPH_EXEC_UPDATE_FAILURE = 910
    INVALID_CHANNEL_DESCRIPTOR = 911
    INVALID_TEXTURE = 912
    INVALID_RESOURCE_TYPE = 914
    INVALID_RESOURCE_CONFIGURATION = 915
    STREAM_DETACHED = 916
    UNKNOWN = 999
    RUNTIME_MEMORY = 1052
    RUNTIME_OTHER = 1053
    INVALID_CLUSTER_SIZE = 1054


def error_name(code: int) -> str:
    """Return HIP's name of an error code, for example hipErrorInvalidValue."""
    try:
        word = ErrorCode(code)
    except ValueError:
        return "hipErrorUnknown"
    if word is ErrorCode.SUCCESS:
        return "hipSuccess"
    if word is ErrorCode.ECC_NOT_CORRECTABLE:
        return "hipErrorECCNotCorrectable"
    return "hipError" + re.sub("_", "", word.name.title())
