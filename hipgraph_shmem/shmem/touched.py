"""What recorded operations touch, declared for `Graph.check`: the kernels are the provider's."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator

from ..access import Access
from ..captures import capture_info
from ..hip_abi import CaptureStatus, NodeKind
from ..runtime import call, state
from .world import World

__all__ = ["declared", "on_pe"]


@contextlib.contextmanager
def declared(stream: int, access: Callable[[], Access]) -> Iterator[None]:
    """Declare that the kernels which the block records in a stream touch this and no more.

    What the provider keeps for itself is left out: it orders its own kernels.
    """
    before = capture_info(stream)
    yield
    if before.status is not CaptureStatus.ACTIVE:
        return
    recorder = state.open_captures.get(before.id)
    if recorder is None:
        return
    touched = access()
    for node in _added(capture_info(stream).frontier, before.frontier):
        if call("hipGraphNodeGetType", node) == NodeKind.KERNEL:
            recorder.declare(node, touched)


def on_pe(world: World, address: int, nbytes: int, pe: int) -> tuple[tuple[int, int], ...]:
    """Return where symmetric memory of a PE is for this one, nothing if it cannot be reached."""
    there = world.provider.call("ptr", address, pe) if nbytes else 0
    return ((there, nbytes),) if there else ()


def _added(frontier: tuple[int, ...], before: tuple[int, ...]) -> Iterator[int]:
    """Yield the nodes from a stream's frontier back to an earlier one."""
    seen = set(before)
    left = list(frontier)
    while left:
        node = left.pop()
        if node not in seen:
            seen.add(node)
            yield node
            left.extend(_dependencies(node))


def _dependencies(node: int) -> tuple[int, ...]:
    count = ctypes.c_size_t()
    call("hipGraphNodeGetDependencies", node, None, ctypes.byref(count))
    found = (ctypes.c_void_p * count.value)()
    if count.value:
        call("hipGraphNodeGetDependencies", node, found, ctypes.byref(count))
    return tuple(each or 0 for each in found)
