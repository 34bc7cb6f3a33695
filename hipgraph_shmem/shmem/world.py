"""World: the PEs of one `init`, from there to `finalize`, and what must end with them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ..errors import CaptureError, ShmemError
from ..runtime import state

if TYPE_CHECKING:
    from ..allocation import PinnedBuffer
    from ..stream import Stream
    from .library import Provider

__all__ = ["World", "blocking_world", "current_world", "initialized", "set_world"]

_KEY = "shmem world"


class World:
    """All PEs of one `init`.

    Attributes:
        provider: The library that connects them.
        pe: This process's ordinal.
        n_pes: How many there are.
        device: The device of this PE's symmetric heap.
        stream: For the package's own copies: no other work ever waits in it.
        handle: The provider's team of all PEs.
        live: What holds collective memory or teams, by address: what it is called.
        orphans: Collective objects that were dropped without being freed.
        symbols: Device symbols that modules need, with the bytes of each in pinned memory.
        at_end: Called by `finalize` while the provider still works.
    """

    #: A graph that uses this world's PEs must not be launched after its end.
    frees_memory: ClassVar[bool] = True

    def __init__(
        self, provider: Provider, pe: int, n_pes: int, device: int, stream: Stream
    ) -> None:
        self.provider = provider
        self.pe = pe
        self.n_pes = n_pes
        self.device = device
        self.stream = stream
        self.handle: int = provider.call("team_world")
        self.live: dict[int, tuple[int, str]] = {}
        self.orphans: list[str] = []
        self.symbols: dict[str, PinnedBuffer] = {}
        self.at_end: list[Callable[[], None]] = []
        self.closed = False

    def holds(self, address: int, nbytes: int) -> bool:
        """Tell whether bytes lie in one live symmetric array."""
        return any(
            start <= address and address + nbytes <= start + size
            for start, (size, _) in tuple(self.live.items())
        )

    def orphan(self, description: str) -> None:
        """Note that a collective object was dropped: only all PEs together may free it."""
        if not self.closed:
            self.orphans.append(description)

    def check_pe(self, pe: int, name: str = "pe") -> int:
        """Return a PE's ordinal after checking it."""
        if not 0 <= pe < self.n_pes:
            raise ValueError(f"{name}={pe}: there are {self.n_pes} PEs, count from 0")
        return int(pe)

    def __repr__(self) -> str:
        ending = " finalized" if self.closed else ""
        return f"<World PE {self.pe} of {self.n_pes} through {self.provider.name}{ending}>"


def initialized() -> bool:
    """Tell whether `init` has been called, and `finalize` not since."""
    return state.shared.get(_KEY) is not None


def current_world(operation: str) -> World:
    """Return the world of this process.

    Raises:
        ShmemError: Before `init` or after `finalize`.
    """
    world: World | None = state.shared.get(_KEY)
    if world is None:
        raise ShmemError(operation, "SHMEM is not initialised: call shmem.init() first")
    return world


def blocking_world(operation: str, cure: str) -> World:
    """Return the world for an operation that waits for other PEs or for copies.

    Raises:
        CaptureError: This thread captures a stream: the operation would not be recorded.
        ShmemError: Before `init` or after `finalize`.
    """
    world = current_world(operation)
    for recorder in tuple(state.open_captures.values()):
        if recorder.thread == threading.get_ident():
            raise CaptureError(operation, recorder.stream, cure)
    return world


def set_world(world: World | None) -> None:
    """Begin or end a world; `setup` is the caller."""
    if world is None:
        state.shared.pop(_KEY, None)
    else:
        state.shared[_KEY] = world
