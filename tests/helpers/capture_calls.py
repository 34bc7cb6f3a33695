"""Calls by the class that capture rules put them into, with harmless arguments."""

from __future__ import annotations

import ctypes

from helpers import hip_ctypes as hip

# Calls with harmless arguments, and what each returns where capture allows it.
ALLOC_LIKE = {
    "hipMalloc": (ctypes.byref(ctypes.c_uint64()), 0),
    "hipMallocManaged": (ctypes.byref(ctypes.c_uint64()), 0, 1),
    "hipFree": (None,),
    "hipHostMalloc": (ctypes.byref(ctypes.c_uint64()), 0, 0),
    "hipExtHostAlloc": (ctypes.byref(ctypes.c_uint64()), 0, 0),
    "hipHostAlloc": (ctypes.byref(ctypes.c_uint64()), 0, 0),
    "hipHostFree": (None,),
    "hipHostRegister": (None, 0, 0),
    "hipHostUnregister": (None,),
    "hipModuleUnload": (None,),
    "hipMallocPitch": (ctypes.byref(ctypes.c_uint64()), ctypes.byref(ctypes.c_uint64()), 0, 0),
    "hipMemAllocPitch": (ctypes.byref(ctypes.c_uint64()), None, 0, 0, 4),
    "hipMalloc3D": (ctypes.byref(hip.PitchedPtr()), hip.Extent()),
    "hipMallocHost": (ctypes.byref(ctypes.c_uint64()), 0),
    "hipMemAllocHost": (ctypes.byref(ctypes.c_uint64()), 0),
    "hipFreeHost": (None,),
    "hipDeviceSetCacheConfig": (0,),
    "hipDeviceSetSharedMemConfig": (0,),
    "hipMemAdvise": (None, 0, 1, 0),
    "hipMemAdvise_v2": (None, 0, 1, hip.MemLocation(1, 0)),
    "hipMemPrefetchAsync": (None, 0, 0, None),
    "hipMemPrefetchAsync_v2": (None, 0, hip.MemLocation(1, 0), 0, None),
    "hipDeviceSetMemPool": (0, None),
    "hipMemPoolCreate": (None, None),
    "hipMemPoolDestroy": (None,),
}
LEGAL_CODE = {
    "hipMallocManaged": 1,
    "hipHostRegister": 1,
    "hipHostUnregister": 1,
    "hipModuleUnload": 400,
    **dict.fromkeys(
        [
            "hipMemAllocPitch",
            "hipMemAdvise",
            "hipMemAdvise_v2",
            "hipMemPrefetchAsync",
            "hipMemPrefetchAsync_v2",
            "hipDeviceSetMemPool",
            "hipMemPoolCreate",
            "hipMemPoolDestroy",
        ],
        1,
    ),
}
BLOCKING = {
    "hipMemcpy": (None, None, 0, 0),
    "hipMemcpyHtoD": (None, None, 0),
    "hipMemcpyDtoH": (None, None, 0),
    "hipMemcpyDtoD": (None, None, 0),
    "hipMemcpy2D": (None, 0, None, 0, 0, 0, 0),
    "hipMemset": (None, 0, 0),
    "hipMemsetD8": (None, 0, 0),
    "hipMemsetD16": (None, 0, 0),
    "hipMemsetD32": (None, 0, 0),
    "hipMemset2D": (None, 0, 0, 0, 0),
    "hipMemset3D": (hip.PitchedPtr(), 0, hip.Extent()),
    "hipMemsetD2D8": (None, 0, 0, 0, 0),
    "hipMemsetD2D16": (None, 0, 0, 0, 0),
    "hipMemsetD2D32": (None, 0, 0, 0, 0),
    "hipMemcpyPeer": (None, 0, None, 0, 0),
    "hipMemcpy3D": (None,),
    "hipMemcpy3DPeer": (None,),
    "hipMemcpyParam2D": (None,),
    "hipDrvMemcpy2DUnaligned": (None,),
    "hipDrvMemcpy3D": (None,),
    "hipMemcpyToSymbol": (None, None, 0, 0, 0),
    "hipMemcpyFromSymbol": (None, None, 0, 0, 0),
}

CAPTURABLE = {
    "hipMemsetAsync": lambda out, s: (out, 0, 16, s),
    "hipMemsetD8Async": lambda out, s: (out, 0, 16, s),
    "hipMemsetD16Async": lambda out, s: (out, 0, 16, s),
    "hipMemsetD32Async": lambda out, s: (out, 0, 16, s),
    "hipMemset2DAsync": lambda out, s: (out, 32, 0, 16, 2, s),
    "hipMemcpyAsync": lambda out, s: (out, out + 128, 16, hip.D2D, s),
    "hipMemcpyDtoDAsync": lambda out, s: (out, out + 128, 16, s),
    "hipMemcpyHtoDAsync": lambda out, s: (out, bytes(16), 16, s),
    "hipMemcpyDtoHAsync": lambda out, s: (ctypes.create_string_buffer(16), out, 16, s),
    "hipMemcpy2DAsync": lambda out, s: (out, 32, out + 128, 32, 16, 2, hip.D2D, s),
    "hipLaunchHostFunc": lambda _, s: (s, hip.HOST_FUNCTION(lambda _: None), None),
}

LOADING = ("hipModuleLoad", "hipModuleLoadData", "hipModuleLoadDataEx")

#: Calls of each class that other tests try.
ELSEWHERE = {
    "Capturable": {
        *("hipEventRecord", "hipStreamWaitEvent", "hipModuleLaunchKernel"),  # below
        *("hipEventRecordWithFlags", "hipMallocAsync", "hipFreeAsync"),
        *("hipLaunchKernel", "hipLaunchByPtr", "hipExtLaunchKernel", "hipExtModuleLaunchKernel"),
        *("hipLaunchCooperativeKernel", "hipModuleLaunchCooperativeKernel"),
        *("hipStreamWaitValue32", "hipStreamWaitValue64", "hipStreamBatchMemOp"),
        *("hipStreamWriteValue32", "hipStreamWriteValue64"),
        *("hipMemcpyToSymbolAsync", "hipMemcpyFromSymbolAsync"),
        *("hipMallocFromPoolAsync", "hipMemcpyParam2DAsync"),
        *("hipMemcpy3DAsync", "hipDrvMemcpy3DAsync", "hipMemset3DAsync"),
        *(f"hipMemsetD2D{bits}Async" for bits in (8, 16, 32)),
    },
    "Callback": {"hipStreamAddCallback"},
    "Eager": {
        *("hipGraphLaunch_spt", "hipMemcpyPeerAsync", "hipMemcpy3DPeerAsync"),
        "hipStreamAttachMemAsync",
    },
    "StreamSync": {"hipMemcpyWithStream"},
}
