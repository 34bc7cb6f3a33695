"""Which way each HIP call goes, hip-python's wrapper or a C function pointer, and why.

Both ways end in the same library. hip-python's releases 6.4, 7.2 and 10 were compared wrapper by
wrapper: a call goes through the binding where all three take the same arguments, pass them on
unharmed and cannot wait (6.4 and 7.2 hold the GIL while they call).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from .hip_abi import CaptureMode

__all__ = ["ROUTES", "Out", "Route", "Way"]


class Way(Enum):
    """Through hip-python's wrapper, or through a typed C function pointer."""

    BINDING = "binding"
    POINTER = "pointer"


@dataclass(frozen=True, slots=True)
class Out:
    """A parameter that the call writes; its value becomes part of the result."""

    type: type


@dataclass(frozen=True, slots=True)
class Route:
    """The way of one call, its C parameters in order, and the reason for the way."""

    way: Way
    parameters: tuple[type | Out, ...]
    reason: str

    @property
    def inputs(self) -> tuple[type, ...]:
        """The parameters that the caller gives."""
        return tuple(p for p in self.parameters if not isinstance(p, Out))


_ALIKE = "same arguments in 6.4, 7.2 and 10, passed on unharmed; never waits"
_WAITS = "may wait for the device, and the wrappers of 6.4 and 7.2 hold the GIL meanwhile"
_HOT = "on the replay path: the pointer takes a third of the wrapper's time"
_COUNT = "the wrappers pass an uninitialised count and room for one handle"
_EDGES = "6.4 and 7.2 treat the dependency list as an output; 10 takes a ctypes array only"
_ARITY = "the wrappers' arguments changed between 7.2 and 10"
_MODE = "the wrappers take no mode and send an uninitialised one"
_SYMBOL = "the struct layout belongs to the R0600 symbol; the wrappers' arguments changed"
_STRUCT = "the wrappers want their own struct classes, whose fields differ between releases"
_UNKNOWN = "used to explain a failure, so it must work when the wrapper cannot"
_FLOAT = "the only wrapper with a float result; every other result is an integer"
_UNCOMPARED = "the wrappers of the three releases were not compared; the pointer needs no wrapper"
_QUERY = "polled while waiting; the wrappers of 6.4 and 7.2 hold the GIL"

_P = ctypes.c_void_p
_S = ctypes.c_size_t
_I = ctypes.c_int
_U = ctypes.c_uint
_U64 = ctypes.c_ulonglong
_TEXT = ctypes.c_char_p


def _binding(*parameters: type | Out) -> Route:
    return Route(Way.BINDING, parameters, _ALIKE)


def _pointer(reason: str, *parameters: type | Out) -> Route:
    return Route(Way.POINTER, parameters, reason)


_HANDLE = Out(_P)
_LAUNCH = (_P, _U, _U, _U, _U, _U, _U, _U, _P, _P, _P)

ROUTES: Mapping[str, Route] = MappingProxyType(
    {
        # device
        "hipRuntimeGetVersion": _binding(Out(_I)),
        "hipGetDeviceCount": _binding(Out(_I)),
        "hipGetDevice": _pointer(_HOT, Out(_I)),
        "hipSetDevice": _pointer(_HOT, _I),
        "hipGetDevicePropertiesR0600": _pointer(_SYMBOL, _P, _I),
        "hipDeviceSynchronize": _pointer(_WAITS),
        "hipMemGetInfo": _binding(Out(_S), Out(_S)),
        "hipPeekAtLastError": _pointer(_UNKNOWN),
        # stream
        "hipStreamCreateWithPriority": _binding(_HANDLE, _U, _I),
        "hipStreamDestroy": _pointer(_WAITS, _P),
        "hipStreamGetDevice": _binding(_P, Out(_I)),
        "hipStreamSynchronize": _pointer(_WAITS, _P),
        "hipStreamQuery": _pointer(_QUERY, _P),
        "hipStreamWaitEvent": _binding(_P, _P, _U),
        # event
        "hipEventCreateWithFlags": _binding(_HANDLE, _U),
        "hipEventDestroy": _pointer(_WAITS, _P),
        "hipEventRecord": _binding(_P, _P),
        "hipEventSynchronize": _pointer(_WAITS, _P),
        "hipEventQuery": _pointer(_QUERY, _P),
        "hipEventElapsedTime": _pointer(_FLOAT, Out(ctypes.c_float), _P, _P),
        # memory
        "hipMalloc": _binding(_HANDLE, _S),
        "hipFree": _pointer(_WAITS, _P),
        "hipHostMalloc": _binding(_HANDLE, _S, _U),
        "hipHostFree": _pointer(_WAITS, _P),
        "hipMemcpyAsync": _pointer(_WAITS, _P, _P, _S, _I, _P),
        "hipMemsetD8Async": _binding(_P, ctypes.c_ubyte, _S, _P),
        "hipMemsetD16Async": _binding(_P, ctypes.c_ushort, _S, _P),
        "hipMemsetD32Async": _binding(_P, _I, _S, _P),
        "hipMemset2DAsync": _binding(_P, _S, _I, _S, _S, _P),
        "hipPointerGetAttributes": _pointer(_STRUCT, _P, _P),
        "hipMemGetAddressRange": _binding(_HANDLE, Out(_S), _P),
        # module
        "hipModuleLoadData": _binding(_HANDLE, _TEXT),
        "hipModuleUnload": _pointer(_WAITS, _P),
        "hipModuleGetFunction": _binding(_HANDLE, _P, _TEXT),
        "hipModuleGetGlobal": _binding(_HANDLE, Out(_S), _P, _TEXT),
        "hipModuleLaunchKernel": _pointer(_HOT, *_LAUNCH),
        # capture
        "hipStreamBeginCapture": _binding(_P, CaptureMode),
        "hipStreamEndCapture": _binding(_P, _HANDLE),
        "hipStreamIsCapturing": _binding(_P, Out(_I)),
        "hipStreamGetCaptureInfo_v2": _pointer(
            _EDGES, _P, Out(_I), Out(_U64), _HANDLE, _HANDLE, Out(_S)
        ),
        "hipThreadExchangeStreamCaptureMode": _pointer(_MODE, _P),
        # graph
        "hipGraphCreate": _binding(_HANDLE, _U),
        "hipGraphDestroy": _pointer(_WAITS, _P),
        "hipGraphAddKernelNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphAddMemsetNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphAddMemcpyNode1D": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P, _P, _S, _I),
        "hipGraphAddEmptyNode": _pointer(_EDGES, _HANDLE, _P, _P, _S),
        "hipGraphAddHostNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphAddEventRecordNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphAddEventWaitNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphAddChildGraphNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphAddMemAllocNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphAddMemFreeNode": _pointer(_EDGES, _HANDLE, _P, _P, _S, _P),
        "hipGraphRemoveDependencies": _pointer(_EDGES, _P, _P, _P, _S),
        "hipGraphDestroyNode": _pointer(_UNCOMPARED, _P),
        "hipGraphClone": _pointer(_UNCOMPARED, _HANDLE, _P),
        "hipGraphChildGraphNodeGetGraph": _pointer(_UNCOMPARED, _P, _HANDLE),
        "hipGraphHostNodeGetParams": _pointer(_STRUCT, _P, _P),
        "hipGraphEventRecordNodeGetEvent": _pointer(_UNCOMPARED, _P, _HANDLE),
        "hipGraphEventWaitNodeGetEvent": _pointer(_UNCOMPARED, _P, _HANDLE),
        "hipGraphMemAllocNodeGetParams": _pointer(_STRUCT, _P, _P),
        "hipGraphMemFreeNodeGetParams": _pointer(_STRUCT, _P, _P),
        "hipGraphKernelNodeSetParams": _pointer(_STRUCT, _P, _P),
        "hipGraphMemsetNodeSetParams": _pointer(_STRUCT, _P, _P),
        "hipGraphMemcpyNodeSetParams1D": _pointer(_UNCOMPARED, _P, _P, _P, _S, _I),
        "hipGraphHostNodeSetParams": _pointer(_STRUCT, _P, _P),
        "hipGraphEventRecordNodeSetEvent": _pointer(_UNCOMPARED, _P, _P),
        "hipGraphEventWaitNodeSetEvent": _pointer(_UNCOMPARED, _P, _P),
        "hipGraphAddDependencies": _pointer(_EDGES, _P, _P, _P, _S),
        "hipGraphGetNodes": _pointer(_COUNT, _P, _P, _P),
        "hipGraphGetEdges": _pointer(_COUNT, _P, _P, _P, _P),
        "hipGraphNodeGetDependencies": _pointer(_COUNT, _P, _P, _P),
        "hipGraphNodeGetType": _binding(_P, Out(_I)),
        "hipGraphKernelNodeGetParams": _pointer(_ARITY, _P, _P),
        "hipGraphMemsetNodeGetParams": _pointer(_STRUCT, _P, _P),
        "hipGraphMemcpyNodeGetParams": _pointer(_STRUCT, _P, _P),
        # graph exec
        "hipGraphInstantiateWithFlags": _binding(_HANDLE, _P, _U64),
        "hipGraphExecDestroy": _pointer(_WAITS, _P),
        "hipGraphUpload": _binding(_P, _P),
        "hipGraphLaunch": _pointer(_HOT, _P, _P),
        "hipGraphExecKernelNodeSetParams": _pointer(_STRUCT, _P, _P, _P),
        "hipGraphExecMemsetNodeSetParams": _pointer(_STRUCT, _P, _P, _P),
        "hipGraphExecMemcpyNodeSetParams1D": _pointer(_UNCOMPARED, _P, _P, _P, _P, _S, _I),
        "hipGraphExecHostNodeSetParams": _pointer(_STRUCT, _P, _P, _P),
        "hipGraphExecEventRecordNodeSetEvent": _pointer(_UNCOMPARED, _P, _P, _P),
        "hipGraphExecEventWaitNodeSetEvent": _pointer(_UNCOMPARED, _P, _P, _P),
        "hipGraphExecChildGraphNodeSetParams": _pointer(_UNCOMPARED, _P, _P, _P),
        "hipGraphNodeSetEnabled": _pointer(_UNCOMPARED, _P, _P, _U),
        "hipGraphNodeGetEnabled": _pointer(_UNCOMPARED, _P, _P, Out(_U)),
        "hipGraphExecUpdate": _pointer(_UNCOMPARED, _P, _P, _HANDLE, Out(_I)),
        "hipLaunchHostFunc": _pointer(_UNCOMPARED, _P, _P, _P),
    }
)
