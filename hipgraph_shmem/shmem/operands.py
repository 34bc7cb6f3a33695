"""What operations on PEs take: symmetric and local memory, signals, streams; all checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device_span import as_array_view
from ..hip_abi import PER_THREAD_STREAM
from ..stream import Stream, as_stream
from .heap import PeerArray, SymmetricArray, SymmetricView
from .world import World

__all__ = [
    "SIGNAL_BYTES",
    "Operand",
    "check_symmetric",
    "copy_bytes",
    "local",
    "signal_word",
    "symmetric",
    "user_stream",
]

SIGNAL_BYTES = 8
_SIGNAL = np.dtype(np.uint64)


@dataclass(frozen=True, slots=True)
class Operand:
    """Memory that an operation reads or writes; `owner` keeps it, None: the caller does."""

    name: str
    address: int
    nbytes: int | None
    dtype: np.dtype[Any] | None
    owner: object


def symmetric(memory: Any, name: str, world: World) -> Operand:
    """Return the place of symmetric memory, given as array, part of one, or raw address.

    Raises:
        TypeError: Memory that other PEs do not have.
        ValueError: An address outside every symmetric array, or memory of another world.
    """
    if isinstance(memory, SymmetricArray | SymmetricView):
        if memory.array.world is not world:
            raise ValueError(f"{name}={memory!r}: it is not of the current init(); allocate anew")
        return Operand(name, memory.address, memory.nbytes, memory.dtype, memory)
    if isinstance(memory, int) and not isinstance(memory, bool):
        return Operand(name, memory, None, None, None)
    cure = "give a SymmetricArray, a part of one, or an address in one"
    if isinstance(memory, PeerArray):
        cure = "give this PE's array: the operation finds the other PE's by itself"
    raise TypeError(f"{name}={memory!r}: {cure}")


def local(memory: Any, name: str) -> Operand:
    """Return the place of this PE's device memory, given as array or raw address.

    Raises:
        TypeError: Host memory, or no array.
        ValueError: An array that is not C-contiguous.
    """
    if isinstance(memory, int) and not isinstance(memory, bool):
        return Operand(name, memory, None, None, None)
    view = as_array_view(memory, name)
    if not view.is_contiguous:
        raise ValueError(f"{name} has shape {view.shape}: make it C-contiguous")
    return Operand(name, view.address, view.nbytes, view.dtype, view.owner)


def copy_bytes(target: Operand, source: Operand, nbytes: int | None) -> int:
    """Return how many bytes a copy moves, after checking that both ends have them."""
    sizes = {each.nbytes for each in (target, source) if each.nbytes is not None}
    if nbytes is not None:
        sizes.add(nbytes)
    if not sizes:
        raise ValueError(f"nbytes=None: {target.name} and {source.name} are addresses, say how far")
    if len(sizes) > 1 or min(sizes) < 0:
        facts = f"{target.name} has {target.nbytes}, {source.name} {source.nbytes}"
        raise ValueError(f"nbytes={nbytes}: {facts} bytes: they must be equal; take a part")
    byte = np.dtype(np.uint8)
    kinds = {each.dtype for each in (target, source)} - {None, byte}
    if len(kinds) > 1:
        raise ValueError(f"{target.name} is {target.dtype}, {source.name} {source.dtype}")
    (size,) = sizes
    return size


def check_symmetric(world: World, operand: Operand, nbytes: int) -> None:
    """Refuse raw addresses of which other PEs have no counterpart."""
    if operand.owner is None and nbytes and not world.holds(operand.address, nbytes):
        raise ValueError(
            f"{operand.name}={operand.address:#x}: {nbytes} bytes there are not in one live "
            "symmetric array; allocate with shmem.empty"
        )


def signal_word(signal: Any, world: World) -> Operand:
    """Return the place of a signal: one symmetric uint64, or its address."""
    word = symmetric(signal, "signal", world)
    if word.nbytes is not None and (word.nbytes, word.dtype) != (SIGNAL_BYTES, _SIGNAL):
        raise ValueError(
            f"signal={signal!r}: one uint64 is needed; take an element of the array: signals[0]"
        )
    check_symmetric(world, word, SIGNAL_BYTES)
    if word.address % SIGNAL_BYTES:
        raise ValueError(f"signal={word.address:#x}: must be a multiple of {SIGNAL_BYTES}")
    return word


def user_stream(stream: Any, world: World) -> int:
    """Return the raw handle of a stream that may be captured, on the world's device.

    Raises:
        ValueError: The null, legacy or per-thread stream, or one of another device.
    """
    raw = as_stream(stream)
    if raw <= PER_THREAD_STREAM:
        raise ValueError(
            f"stream={raw}: the null, legacy and per-thread streams wait for others; make a Stream"
        )
    if isinstance(stream, Stream) and stream.device != world.device:
        raise ValueError(
            f"stream={stream!r} is of device {stream.device}, the symmetric heap of "
            f"{world.device}: use a stream of that device"
        )
    return raw
