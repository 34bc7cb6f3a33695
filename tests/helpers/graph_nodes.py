"""Nodes of every kind for tests that build graphs by hand, through hip_ctypes."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from helpers import hip_ctypes as hip


class NodeParams(ctypes.Structure):
    """hipGraphNodeParams: the union as bytes."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("reserved0", ctypes.c_int * 3),
        ("union", ctypes.c_ubyte * 232),
        ("reserved2", ctypes.c_longlong),
    ]


def generic(kind: int, params: Any = None) -> NodeParams:
    """Describe a node by its kind; a copy's parameters follow its flags."""
    made = NodeParams(type=kind)
    if params is not None:
        at = 16 if kind == hip.MEMCPY else 0
        data = bytes(params)
        made.union[at : at + len(data)] = data
    return made


def ref(value: Any) -> Any:
    return ctypes.byref(value)


def ints(address: int, count: int = 64) -> list[int]:
    return list(struct.unpack(f"{count}i", hip.from_device(address, 4 * count)))


def add(call: str, graph: int, *args: Any, after: tuple[int, ...] = ()) -> int:
    """Add a node behind others."""
    return hip.out(call, graph, hip.array(after), len(after), *args)


def empty(graph: int, *after: int) -> int:
    return add("hipGraphAddEmptyNode", graph, after=after)


class Launch:
    """A launch of a kernel (int* out, int value) with 64 work-items, and what it points at."""

    def __init__(self, function: int, out: int, value: int, **changes: Any):
        self.pointers, self.kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(value))
        one, block = hip.Dim3(1, 1, 1), hip.Dim3(64, 1, 1)
        at = ctypes.addressof(self.pointers)
        self.params = hip.KernelNodeParams(block, None, function, one, at, 0)
        for name, new in changes.items():
            setattr(self.params, name, new)

    def node(self, graph: int, *after: int) -> int:
        return add("hipGraphAddKernelNode", graph, ref(self.params), after=after)


def fill(out: int, value: int, **changes: Any) -> hip.MemsetParams:
    fields = {"dst": out, "elementSize": 4, "height": 1, "pitch": 0, "value": value, "width": 64}
    return hip.MemsetParams(**fields | changes)


def fill_node(graph: int, out: int, value: int, *after: int) -> int:
    return add("hipGraphAddMemsetNode", graph, ref(fill(out, value)), after=after)


def memory(nbytes: int) -> hip.MemAllocNodeParams:
    """Pinned memory of the first device."""
    params = hip.MemAllocNodeParams(bytesize=nbytes)
    params.poolProps.allocType = 1
    params.poolProps.location = hip.MemLocation(1, 0)
    return params


def copy(to: int, source: int, kind: int, width: int = 256) -> hip.Memcpy3DParms:
    """One row as a pitched copy."""
    return hip.Memcpy3DParms(
        srcPtr=hip.PitchedPtr(source, width, width, 1),
        dstPtr=hip.PitchedPtr(to, width, width, 1),
        extent=(width, 1, 1),
        kind=kind,
    )


def run(graph: int, stream: int) -> None:
    """Instantiate, launch, wait, destroy."""
    exec_ = hip.instantiate(graph)
    hip.launch(exec_, stream)
    hip.ok("hipGraphExecDestroy", exec_)


class Calls:
    """A host function that notes the user data of every call."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.function = hip.HOST_FUNCTION(lambda data: self.seen.append(data or 0))
        self.address = ctypes.cast(self.function, ctypes.c_void_p).value

    def params(self, data: int) -> hip.HostNodeParams:
        return hip.HostNodeParams(self.address, data)
