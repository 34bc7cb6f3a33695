"""The beginning and the end: `init` finds this process's place among the PEs, `finalize` leaves."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from pathlib import Path

from ..devices import device_info, on_device, runtime_info
from ..env import Launched, launched, settings
from ..errors import ShmemError
from ..runtime import library, relaxed, state
from ..stream import Stream
from .library import UNIQUE_ID_BYTES, Provider, open_provider
from .modules import prepare_symbols
from .rendezvous import Rendezvous, broadcast_by_mpi, file_of
from .world import World, blocking_world, current_world, initialized, set_world

__all__ = [
    "check",
    "choose_device",
    "finalize",
    "init",
    "my_pe",
    "n_pes",
    "provider_name",
    "unique_id",
]

_PROVIDER = "shmem provider"
_GENERATION = "shmem generation"
_ALONE = Launched("no launcher", 0, 1, 0, 1, "alone")


def init(
    *,
    pe: int | None = None,
    n_pes: int | None = None,
    unique_id: bytes | None = None,
    rendezvous: str | Path | None = None,
    heap_bytes: int | None = None,
    timeout: float | None = None,
    device: int | None = None,
    share_device: bool = False,
) -> None:
    """Join the PEs of this program; collective. It may be called again after `finalize`.

    Without `pe` and `n_pes` the place is the one that the launcher set: `hipgraph-shmem run`,
    Open MPI, Slurm or another PMI, torchrun; with none of them the process is the only PE.

    Args:
        pe: This process's ordinal, with `n_pes`.
        n_pes: How many PEs there are.
        unique_id: What `unique_id()` returned on PE 0, brought to all PEs by the caller.
        rendezvous: A file that all PEs see, in place of `unique_id`; must not exist yet.
        heap_bytes: Size of each PE's symmetric heap; None: HIPGRAPH_SHMEM_HEAP_BYTES.
        timeout: Seconds to wait for other PEs, here and later; None: HIPGRAPH_SHMEM_TIMEOUT.
        device: This PE's device; None: the ordinal on its node, modulo the number of devices.
        share_device: Let PEs share a GPU where there are more PEs than GPUs on the node. On the
            emulated device they always may.

    Raises:
        ShmemError: It was called before; or some PE did not come (ShmemTimeoutError), or the PEs
            disagree.
        ValueError: Arguments or launcher variables that are no place.
    """
    if initialized():
        raise ShmemError("init", "SHMEM is initialised already; call finalize() first")
    defaults = settings()
    place = _place(pe, n_pes)
    seconds = defaults.shmem_timeout if timeout is None else timeout
    if not seconds > 0:
        raise ValueError(f"timeout={timeout}: seconds, more than 0")
    heap = defaults.shmem_heap_bytes if heap_bytes is None else heap_bytes
    # Chosen before anything could settle on device 0.
    if device is None:
        share = share_device or library().kind == "emu"
        ordinal = choose_device(place, len(runtime_info().devices), share=share)
    else:
        ordinal = device_info(device).ordinal
    provider = _provider(heap, seconds)
    if provider.is_local and place.local_pes != place.n_pes:
        raise ShmemError(
            "init",
            f"{place.local_pes} of {place.n_pes} PEs are on this node: the local provider connects "
            "PEs of one node; build rocSHMEM's shim with `hipgraph-shmem build-rocshmem`",
        )
    named = defaults.shmem_rendezvous if rendezvous is None else Path(rendezvous)
    with on_device(ordinal), relaxed():
        meeting = _Meeting(provider, place, named, seconds)
        identity = unique_id if unique_id is not None else meeting.exchange()
        if len(identity) != UNIQUE_ID_BYTES:
            raise ValueError(f"unique_id has {len(identity)} bytes, not {UNIQUE_ID_BYTES}")
        try:
            provider.call("init", place.pe, place.n_pes, identity, heap, seconds)
        finally:
            meeting.end()
        world = World(provider, place.pe, place.n_pes, ordinal, Stream(ordinal))
        try:
            prepare_symbols(world)
        except BaseException:
            _end(world)
            raise
    set_world(world)
    state.after_waiting.append(check)


def finalize(*, strict: bool = False) -> tuple[str, ...]:
    """Leave the other PEs; collective. Symmetric memory is gone afterwards, freed or not.

    Graphs that use it refuse to be launched.

    Args:
        strict: Raise when collective objects were not freed.

    Returns:
        What was not freed. Objects that were dropped are also named in a ResourceWarning.

    Raises:
        PeerLostError, ShmemTimeoutError: Another PE did not come; this one has left all the same.
        CaptureError: This thread captures a stream.
    """
    world = blocking_world("finalize", "finalize after the capture")
    orphans = tuple(world.orphans)
    unfreed = (*orphans, *(what for _, what in world.live.values()))
    state.after_waiting.remove(check)
    set_world(None)
    _end(world)
    if strict and unfreed:
        raise ShmemError("finalize", f"not freed: {'; '.join(unfreed)}")
    if orphans:
        warnings.warn(
            f"dropped without free(), which only all PEs together can do: {'; '.join(orphans)}",
            ResourceWarning,
            stacklevel=2,
        )
    return unfreed


def _end(world: World) -> None:
    try:
        with on_device(world.device), relaxed():
            for end in world.at_end:
                end()
            world.provider.call("finalize")
    finally:
        world.closed = True
        state.closes += 1
        with relaxed():
            for pinned in world.symbols.values():
                pinned.close()
        world.stream.close()


def my_pe() -> int:
    """Return this process's ordinal among the PEs."""
    return current_world("my_pe").pe


def n_pes() -> int:
    """Return how many PEs there are."""
    return current_world("n_pes").n_pes


def provider_name() -> str:
    """Return what the provider calls itself: "local", or rocSHMEM's release and backends."""
    return current_world("provider_name").provider.name


def check() -> None:
    """Raise what a kernel reported: a barrier or wait that gave up, a PE or address out of range.

    Waiting for a stream, an event or a graph exec does the same. The failure stays: what the PEs
    computed since is not to be used, and their barriers are out of step until `finalize`.

    Raises:
        ShmemTimeoutError: A PE or a signal did not come in time.
        PeerLostError: It cannot come any more.
    """
    current_world("check").provider.call("check")


def unique_id() -> bytes:
    """Make the id that PE 0 passes to all PEs, for `init(pe=, n_pes=, unique_id=)`."""
    defaults = settings()
    provider = _provider(defaults.shmem_heap_bytes, defaults.shmem_timeout)
    made = ctypes.create_string_buffer(UNIQUE_ID_BYTES)
    with relaxed():
        provider.call("get_uniqueid", made)
    return made.raw


class _Meeting:
    """One `init`'s exchange of the unique id, by the means that the launch allows."""

    def __init__(
        self, provider: Provider, place: Launched, named: Path | None, timeout: float
    ) -> None:
        self._provider = provider
        self._place = place
        self._named = named
        self._timeout = timeout
        self._end: Callable[[], None] | None = None

    def exchange(self) -> bytes:
        """Return PE 0's id."""
        place = self._place
        if place.n_pes == 1:
            return unique_id()
        if self._named is None and place.local_pes != place.n_pes:
            return broadcast_by_mpi(unique_id, place.pe)
        if self._named is None and place.launcher == _GIVEN:
            raise ValueError(
                f"n_pes={place.n_pes}: the PEs must find each other: give unique_id, or "
                "rendezvous, a file that all see"
            )
        generation = state.shared[_GENERATION] = state.shared.get(_GENERATION, -1) + 1
        meeting = Rendezvous(file_of(place, self._named, generation), self._timeout)
        if place.pe:
            return meeting.read()
        made = unique_id()
        meeting.publish(made)
        self._end = meeting.withdraw
        return made

    def end(self) -> None:
        """Remove what the exchange left."""
        if self._end is not None:
            self._end()


_GIVEN = "init's arguments"


def _place(pe: int | None, n_pes: int | None) -> Launched:
    if pe is None and n_pes is None:
        return launched() or _ALONE
    if pe is None or n_pes is None:
        raise ValueError(f"pe={pe}, n_pes={n_pes}: give both, or neither")
    if not 0 <= pe < n_pes:
        raise ValueError(f"pe={pe}, n_pes={n_pes}: PEs count from 0 to n_pes - 1")
    return Launched(_GIVEN, pe, n_pes, pe, n_pes, "")


def choose_device(place: Launched, count: int, *, share: bool) -> int:
    """Return the device of a PE: its ordinal on the node, modulo the number of devices.

    Raises:
        ShmemError: PEs would share a device, and it was not said that they may.
    """
    if place.local_pes > count and not share:
        table = ", ".join(f"PE {pe} on {pe % count}" for pe in range(place.local_pes))
        raise ShmemError(
            "init",
            f"{place.local_pes} PEs and {count} devices on this node: {table}; start fewer, or "
            "say init(share_device=True)",
        )
    return place.local_pe % count


def _provider(heap_bytes: int, timeout: float) -> Provider:
    """Return the provider's library, loaded once a process."""
    try:
        provider: Provider = state.shared[_PROVIDER]
    except KeyError:
        provider = state.shared[_PROVIDER] = open_provider(heap_bytes, timeout)
    return provider
