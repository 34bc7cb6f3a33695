"""The emulated device's C functions through ctypes alone: no package, no binding.

Every argument travels as 64 bits, which the x86-64 calling convention allows for integers,
pointers and enumerations of any width.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from helpers.isa import library_path

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE, INVALIDATED = 0, 1, 2
H2H, H2D, D2H, D2D, DEFAULT = 0, 1, 2, 3, 4
KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY = 0, 1, 2, 3, 4, 5
MEM_ALLOC, MEM_FREE = 10, 11
LEGACY, PER_THREAD = 1, 2
NON_BLOCKING = 1
ADD, SET = 0, 1
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Dim3(ctypes.Structure):
    """Three sizes."""

    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class KernelNodeParams(ctypes.Structure):
    """hipKernelNodeParams."""

    _fields_ = [
        ("blockDim", Dim3),
        ("extra", ctypes.c_void_p),
        ("func", ctypes.c_void_p),
        ("gridDim", Dim3),
        ("kernelParams", ctypes.c_void_p),
        ("sharedMemBytes", ctypes.c_uint),
    ]


class MemsetParams(ctypes.Structure):
    """hipMemsetParams."""

    _fields_ = [
        ("dst", ctypes.c_void_p),
        ("elementSize", ctypes.c_uint),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("width", ctypes.c_size_t),
    ]


class HostNodeParams(ctypes.Structure):
    """hipHostNodeParams."""

    _fields_ = [("fn", ctypes.c_void_p), ("userData", ctypes.c_void_p)]


class PitchedPtr(ctypes.Structure):
    """hipPitchedPtr."""

    _fields_ = [
        ("ptr", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("xsize", ctypes.c_size_t),
        ("ysize", ctypes.c_size_t),
    ]


class Memcpy3DParms(ctypes.Structure):
    """hipMemcpy3DParms."""

    _fields_ = [
        ("srcArray", ctypes.c_void_p),
        ("srcPos", ctypes.c_size_t * 3),
        ("srcPtr", PitchedPtr),
        ("dstArray", ctypes.c_void_p),
        ("dstPos", ctypes.c_size_t * 3),
        ("dstPtr", PitchedPtr),
        ("extent", ctypes.c_size_t * 3),
        ("kind", ctypes.c_int),
    ]


class Extent(ctypes.Structure):
    """hipExtent."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("width", "height", "depth")]


class MemLocation(ctypes.Structure):
    """hipMemLocation."""

    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class MemAccessDesc(ctypes.Structure):
    """hipMemAccessDesc."""

    _fields_ = [("location", MemLocation), ("flags", ctypes.c_int)]


class MemPoolProps(ctypes.Structure):
    """hipMemPoolProps."""

    _fields_ = [
        ("allocType", ctypes.c_int),
        ("handleTypes", ctypes.c_int),
        ("location", MemLocation),
        ("win32SecurityAttributes", ctypes.c_void_p),
        ("maxSize", ctypes.c_size_t),
        ("reserved", ctypes.c_ubyte * 56),
    ]


class MemAllocNodeParams(ctypes.Structure):
    """hipMemAllocNodeParams."""

    _fields_ = [
        ("poolProps", MemPoolProps),
        ("accessDescs", ctypes.c_void_p),
        ("accessDescCount", ctypes.c_size_t),
        ("bytesize", ctypes.c_size_t),
        ("dptr", ctypes.c_uint64),
    ]


class PointerAttributes(ctypes.Structure):
    """hipPointerAttribute_t."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("device", ctypes.c_int),
        ("devicePointer", ctypes.c_void_p),
        ("hostPointer", ctypes.c_void_p),
        ("isManaged", ctypes.c_int),
        ("allocationFlags", ctypes.c_uint),
    ]


@functools.cache
def library() -> ctypes.CDLL:
    """The library under test."""
    loaded = ctypes.CDLL(str(library_path()))
    for name in ("hipGetErrorName", "hipGetErrorString", "hipApiName", "hipgraphEmuLastReport"):
        getattr(loaded, name).restype = ctypes.c_char_p
    return loaded


def argument(value: Any) -> Any:
    """A Python value as a C argument."""
    if value is None:
        return ctypes.c_void_p()
    if isinstance(value, int):
        return ctypes.c_uint64(value & 0xFFFF_FFFF_FFFF_FFFF)
    return value


def code(name: str, *args: Any) -> int:
    """Call a function; return its error number."""
    return int(getattr(library(), name)(*map(argument, args)))


def ok(name: str, *args: Any) -> None:
    """Call a function that must succeed."""
    result = code(name, *args)
    assert result == 0, f"{name} returned {result}"


def out(name: str, *args: Any, kind: Any = ctypes.c_uint64) -> int:
    """Call a function whose first argument is where its one result goes."""
    result = kind(0)
    ok(name, ctypes.byref(result), *args)
    return int(result.value)


def last_error() -> int:
    """Take the thread's last error."""
    return code("hipGetLastError")


def stream(flags: int = NON_BLOCKING) -> int:
    """Make a stream; by default one that the null stream has no part in."""
    return out("hipStreamCreateWithFlags", flags)


def event(flags: int = 2) -> int:
    """Make an event, by default one without timing."""
    return out("hipEventCreateWithFlags", flags)


def malloc(nbytes: int) -> int:
    """Allocate device memory."""
    return out("hipMalloc", nbytes)


def begin(handle: int, mode: int = GLOBAL) -> None:
    """Begin a capture."""
    ok("hipStreamBeginCapture", handle, mode)


def end(handle: int) -> int:
    """End a capture that must give a graph."""
    graph = ctypes.c_uint64(0)
    ok("hipStreamEndCapture", handle, ctypes.byref(graph))
    return graph.value


def end_code(handle: int) -> int:
    """End a capture; the error number. A refused one must give a null graph."""
    graph = ctypes.c_uint64(1)
    result = code("hipStreamEndCapture", handle, ctypes.byref(graph))
    if result:
        assert graph.value == 0
    else:
        ok("hipGraphDestroy", graph.value)
    return result


def status(handle: int) -> int:
    """Status of a stream's capture."""
    value = ctypes.c_int(-1)
    ok("hipStreamIsCapturing", handle, ctypes.byref(value))
    return value.value


def frontier(handle: int) -> list[int]:
    """Nodes that the next call captured on the stream would depend on."""
    value, number = ctypes.c_int(), ctypes.c_uint64()
    nodes, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_size_t()
    refs = (ctypes.byref(x) for x in (value, number))
    ok("hipStreamGetCaptureInfo_v2", handle, *refs, None, ctypes.byref(nodes), ctypes.byref(count))
    return [nodes[i] for i in range(count.value)]


def capture_graph(handle: int) -> int:
    """The graph under construction."""
    value, graph = ctypes.c_int(), ctypes.c_uint64()
    refs = ctypes.byref(value), None, ctypes.byref(graph)
    ok("hipStreamGetCaptureInfo_v2", handle, *refs, None, None)
    return graph.value


def handles(name: str, subject: int) -> list[int]:
    """All handles that a call with the count protocol gives."""
    count = ctypes.c_size_t(0)
    ok(name, subject, None, ctypes.byref(count))
    if count.value == 0:
        return []
    array = (ctypes.c_uint64 * count.value)()
    ok(name, subject, array, ctypes.byref(count))
    return list(array)


def nodes(graph: int) -> list[int]:
    """A graph's nodes in topological order."""
    return handles("hipGraphGetNodes", graph)


def edges(graph: int) -> list[tuple[int, int]]:
    """A graph's edges."""
    count = ctypes.c_size_t(0)
    ok("hipGraphGetEdges", graph, None, None, ctypes.byref(count))
    ends = [(ctypes.c_uint64 * max(count.value, 1))() for _ in range(2)]
    ok("hipGraphGetEdges", graph, *ends, ctypes.byref(count))
    return list(zip(ends[0], ends[1], strict=True))[: count.value]


def node_type(node: int) -> int:
    """A node's kind."""
    value = ctypes.c_int(-1)
    ok("hipGraphNodeGetType", node, ctypes.byref(value))
    return value.value


def array(handles_: Sequence[int]) -> Any:
    """Handles as a C array."""
    return (ctypes.c_uint64 * max(len(handles_), 1))(*handles_)


def instantiate(graph: int) -> int:
    """Instantiate a graph."""
    return out("hipGraphInstantiateWithFlags", graph, 0)


def launch(exec_: int, handle: int) -> None:
    """Launch an exec and wait for the stream."""
    ok("hipGraphLaunch", exec_, handle)
    ok("hipStreamSynchronize", handle)


def module(image: bytes) -> int:
    """Load a code object."""
    return out("hipModuleLoadData", image)


def function(module_: int, name: str) -> int:
    """A kernel of a module."""
    return out("hipModuleGetFunction", module_, name.encode())


def parameters(*values: Any) -> tuple[Any, list[Any]]:
    """A kernelParams array from ctypes values, and what must outlive it."""
    kept = list(values)
    pointers = (ctypes.c_void_p * len(kept))(*[ctypes.addressof(value) for value in kept])
    return pointers, kept


def block_of(data: bytes) -> tuple[Any, list[Any]]:
    """An extra array {POINTER, block, SIZE, &size, END} from packed bytes, and what it needs."""
    block = ctypes.create_string_buffer(data, len(data))
    size = ctypes.c_size_t(len(data))
    fields = (1, ctypes.addressof(block), 2, ctypes.addressof(size), 3)
    return (ctypes.c_void_p * 5)(*fields), [block, size]


def launch_kernel(
    function_: int,
    handle: int,
    params: Any,
    *,
    grid: Sequence[int] = (1, 1, 1),
    block: Sequence[int] = (64, 1, 1),
    lds: int = 0,
    extra: Any = None,
) -> int:
    """Launch a kernel; the error number."""
    return code("hipModuleLaunchKernel", function_, *grid, *block, lds, handle, params, extra)


def to_device(address: int, data: bytes) -> None:
    """Blocking copy in."""
    ok("hipMemcpy", address, data, len(data), H2D)


def from_device(address: int, nbytes: int) -> bytes:
    """Blocking copy out."""
    data = ctypes.create_string_buffer(nbytes)
    ok("hipMemcpy", data, address, nbytes, D2H)
    return data.raw


def in_thread(call: Callable[[], Any]) -> Any:
    """What `call` returns in a thread of its own."""
    results: list[Any] = []
    worker = threading.Thread(target=lambda: results.append(call()))
    worker.start()
    worker.join(60)
    assert results, "the thread did not finish"
    return results[0]
