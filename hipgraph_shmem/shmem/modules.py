"""Device symbols of loaded modules: set by stream-ordered copies, never on the legacy stream.

A code object that was built apart from the SHMEM library has context symbols of its own, which
nobody initialised (rocSHMEM issue 323). rocSHMEM's own remedies are a blocking symbol copy, which
a capture forbids, and from release 3.3 on a call that only records when its stream captures.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..allocation import PinnedBuffer
from ..captures import capture_info, keep_while_captured
from ..errors import HipError, ModuleSymbolError
from ..hip_abi import CaptureStatus, ErrorCode, MemcpyKind
from ..module import Module
from ..runtime import call, relaxed, state
from .operands import user_stream
from .world import World, current_world

__all__ = ["ModuleReport", "device_ctx", "module_init", "prepare_symbols"]

_REGISTRY = "shmem modules"
CONTEXT = "ROCSHMEM_CTX_DEFAULT"
MAX_SYMBOL_BYTES = 4096

#: Every symbol that a provider may set, with the names that rocSHMEM's releases gave it: plain
#: from 3.1 on, C++ names of namespace rocshmem before, of rocshmem::device in some 2026 builds.
SYMBOLS: dict[str, tuple[str, ...]] = {
    CONTEXT: (CONTEXT, "_ZN8rocshmem20ROCSHMEM_CTX_DEFAULTE"),
    "ROCSHMEM_TEAM_WORLD": (
        "ROCSHMEM_TEAM_WORLD",
        "_ZN8rocshmem19ROCSHMEM_TEAM_WORLDE",
        "_ZN8rocshmem6device19ROCSHMEM_TEAM_WORLDE",
    ),
    "ROCSHMEM_TEAM_SHARED": (
        "ROCSHMEM_TEAM_SHARED",
        "_ZN8rocshmem20ROCSHMEM_TEAM_SHAREDE",
        "_ZN8rocshmem6device20ROCSHMEM_TEAM_SHAREDE",
    ),
    "constmem": ("_ZN8rocshmem8constmemE",),
}


@dataclass(frozen=True, slots=True)
class ModuleReport:
    """What `module_init` did: symbols set, with their addresses, and symbols that are not there.

    Attributes:
        found: Symbol to its address in the module.
        missing: Symbols that the provider has and the module does not use.
    """

    found: dict[str, int]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Copy:
    """One symbol of a module and the bytes that it must hold."""

    symbol: str
    address: int
    source: PinnedBuffer


def module_init(module: Module | int, stream: Any = None, *, strict: bool = False) -> ModuleReport:
    """Set the SHMEM symbols of a loaded module, so that its kernels reach the other PEs.

    Legal while this or another thread captures, in any mode; it may be called again.

    - Without a stream the copies are complete on return.
    - With a stream they are ordered in it.
    - With a stream that captures they are complete on return, and also recorded: the module is
      ready before the first replay and set again at each.

    The module is set anew by a later `init`, cleared by `finalize`, and forgotten when it is
    closed. A raw handle is set this once: nobody tells when it is unloaded.

    Args:
        module: A Module, or a raw hipModule_t of this device.
        stream: A Stream or raw handle, not the null stream; None: the package's own.
        strict: Whether every symbol that the provider has must be in the module.

    Raises:
        ShmemError: SHMEM is not initialised.
        ModuleSymbolError: The module has no SHMEM symbols, lacks one that is needed, or has one of
            another size: it was built for another release.
    """
    world = current_world("module_init")
    raw_stream = None if stream is None else user_stream(stream, world)
    if isinstance(module, Module) and module.device != world.device:
        raise ValueError(
            f"module={module!r} is loaded on device {module.device}, the symmetric heap is on "
            f"{world.device}: load it there"
        )
    copies, missing = _plan(module, world, strict=strict)
    if raw_stream is None:
        _copy_now(copies, world)
    else:
        if capture_info(raw_stream).status is CaptureStatus.ACTIVE:
            _copy_now(copies, world)
        _enqueue(copies, raw_stream)
        keep_while_captured(raw_stream, world, module, *(each.source for each in copies))
    if isinstance(module, Module):
        _registry().add(module)
    return ModuleReport({each.symbol: each.address for each in copies}, missing)


def device_ctx() -> int:
    """Return the device's default context, as `rocshmem_get_device_ctx` does.

    It was read once by `init`, so this calls no HIP and may be used inside a capture.
    """
    return int(current_world("device_ctx").provider.call("get_device_ctx"))


def prepare_symbols(world: World) -> None:
    """Cache what the symbols must hold, and set the modules that an earlier `init` knew."""
    world.symbols.update(_read(world))
    for module in _live_modules():
        copies, _missing = _plan(module, world, strict=False)
        _copy_now(copies, world)
    world.at_end.append(lambda: _clear(world))


def _read(world: World) -> Iterable[tuple[str, PinnedBuffer]]:
    room = ctypes.create_string_buffer(MAX_SYMBOL_BYTES)
    for symbol in SYMBOLS:
        size = world.provider.call("symbol_bytes", symbol.encode(), room, MAX_SYMBOL_BYTES)
        if size:
            pinned = PinnedBuffer(size, device=world.device)
            pinned.array[:] = np.frombuffer(room.raw, np.uint8, size)
            yield symbol, pinned


def _plan(
    module: Module | int, world: World, *, strict: bool
) -> tuple[list[_Copy], tuple[str, ...]]:
    """Find a module's symbols and check their sizes, before anything is copied."""
    copies, missing = [], []
    for symbol, source in world.symbols.items():
        place = _find(module, SYMBOLS[symbol])
        if place is None:
            missing.append(symbol)
            continue
        address, size = place
        if size != source.nbytes:
            raise ModuleSymbolError(
                "module_init",
                f"{symbol} of {module!r} has {size} bytes, {world.provider.name} gives "
                f"{source.nbytes}: built for another release; rebuild one of them",
            )
        copies.append(_Copy(symbol, address, source))
    if not copies:
        raise ModuleSymbolError(
            "module_init",
            f"{module!r} has none of {', '.join(world.symbols)}: it contains no SHMEM device code",
        )
    needed = tuple(missing) if strict else tuple({CONTEXT}.intersection(missing))
    if needed:
        raise ModuleSymbolError(
            "module_init", f"{module!r} lacks {', '.join(needed)}; was it dropped at its link?"
        )
    return copies, tuple(missing)


def _find(module: Module | int, names: tuple[str, ...]) -> tuple[int, int] | None:
    """Return address and size of the first of the names that the module has."""
    for name in names:
        if isinstance(module, Module):
            if name in module.code_object.variables:
                symbol = module.symbol(name)
                return symbol.address, symbol.nbytes
            continue
        try:
            address, size = call("hipModuleGetGlobal", module, name.encode())
        except HipError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
        else:
            return address, size
    return None


def _copy_now(copies: Iterable[_Copy], world: World) -> None:
    # Relaxed: another capture, of this thread too, must not notice.
    with relaxed():
        _enqueue(copies, world.stream.handle)
        call("hipStreamSynchronize", world.stream.handle)


def _enqueue(copies: Iterable[_Copy], stream: int) -> None:
    kind = MemcpyKind.HOST_TO_DEVICE
    for each in copies:
        source = each.source
        call("hipMemcpyAsync", each.address, source.address, source.nbytes, kind, stream)


def _clear(world: World) -> None:
    """Zero the symbols, so that a stale kernel faults instead of using memory that is gone."""
    for source in world.symbols.values():
        source.array[:] = 0
    for module in _live_modules():
        copies, _missing = _plan(module, world, strict=False)
        _copy_now(copies, world)


def _live_modules() -> list[Module]:
    return [module for module in _registry() if not module.closed]


def _registry() -> weakref.WeakSet[Module]:
    registry: weakref.WeakSet[Module] = state.shared.setdefault(_REGISTRY, weakref.WeakSet())
    return registry
