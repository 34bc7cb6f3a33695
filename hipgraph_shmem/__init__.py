"""HIP graphs with split-K GEMMs that replay, on an AMD GPU or on an emulated one.

Importing this package loads no HIP library and not hip-python; the first use of a device does.
Public names are found in their modules at first use. SHMEM is the subpackage `shmem`. (`launch` is
both a module and the function in it, so write `from hipgraph_shmem.launch import launch`.)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .access import Access, Region
    from .code_object import CodeObject, KernelMetadata, Target
    from .devices import DeviceInfo, RuntimeInfo, device_info, runtime_info
    from .errors import (
        CaptureError,
        CodeObjectError,
        CollectiveMismatchError,
        CounterPoolError,
        DirtyCounterError,
        Error,
        GraphError,
        HangError,
        HipError,
        ModuleSymbolError,
        PeerLostError,
        RuntimeLibraryError,
        ShmemError,
        ShmemTimeoutError,
        ShmemUnavailable,
        SymmetricMemoryError,
    )
    from .graph import Finding, FindingKind, Graph, GraphExec
    from .graph.capture import capture
    from .hip_abi import CaptureMode, CaptureStatus, NodeKind
    from .launch import LaunchConfig
    from .memory import Buffer, PinnedBuffer
    from .module import Kernel, Module, Symbol
    from .stream import Event, Stream

__all__ = [
    "Access",
    "Buffer",
    "CaptureError",
    "CaptureMode",
    "CaptureStatus",
    "CodeObject",
    "CodeObjectError",
    "CollectiveMismatchError",
    "CounterPoolError",
    "DeviceInfo",
    "DirtyCounterError",
    "Error",
    "Event",
    "Finding",
    "FindingKind",
    "Graph",
    "GraphError",
    "GraphExec",
    "HangError",
    "HipError",
    "Kernel",
    "KernelMetadata",
    "LaunchConfig",
    "Module",
    "ModuleSymbolError",
    "NodeKind",
    "PeerLostError",
    "PinnedBuffer",
    "Region",
    "RuntimeInfo",
    "RuntimeLibraryError",
    "ShmemError",
    "ShmemTimeoutError",
    "ShmemUnavailable",
    "Stream",
    "Symbol",
    "SymmetricMemoryError",
    "Target",
    "capture",
    "device_info",
    "runtime_info",
]

__version__ = "0.1.0"

_HOMES = (
    "errors",
    "hip_abi",
    "code_object",
    "devices",
    "stream",
    "memory",
    "access",
    "module",
    "launch",
    "graph",
)


def __getattr__(name: str) -> Any:
    """Find a public name in its module at its first use, so that importing stays light."""
    if name in __all__:
        for home in _HOMES:
            module = importlib.import_module(f"{__name__}.{home}")
            if name in module.__all__:
                value = globals()[name] = getattr(module, name)
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
