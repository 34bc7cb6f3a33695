"""Blocking copies between PEs and the host's ordering calls."""

from __future__ import annotations

from typing import Any

from .operands import Operand, check_symmetric, copy_bytes, local, symmetric
from .team import Team, as_team
from .world import World, blocking_world

__all__ = ["barrier", "copy_operands", "fence", "get", "put", "quiet", "sync"]

_CURE = "record shmem.on_stream.{} instead"


def put(target: Any, source: Any, pe: int, *, nbytes: int | None = None) -> None:
    """Copy this PE's memory into another PE's; done there when this returns.

    It is ordered with no stream: work that writes `source` must have ended.

    Args:
        target: Symmetric array or part of one, or an address in one.
        source: Device array of this PE, or an address.
        pe: Whose `target` is written.
        nbytes: How much, where both are addresses.

    Raises:
        CaptureError: This thread captures a stream.
    """
    world = blocking_world("put", _CURE.format("put"))
    there, here, size = copy_operands(world, target, source, nbytes, remote="target")
    world.provider.call("putmem", there.address, here.address, size, world.check_pe(pe))


def get(target: Any, source: Any, pe: int, *, nbytes: int | None = None) -> None:
    """Copy another PE's memory into this PE's; done when this returns.

    Args:
        target: Device array of this PE, or an address.
        source: Symmetric array or part of one, or an address in one.
        pe: Whose `source` is read.
        nbytes: How much, where both are addresses.

    Raises:
        CaptureError: This thread captures a stream.
    """
    world = blocking_world("get", _CURE.format("get"))
    here, there, size = copy_operands(world, target, source, nbytes, remote="source")
    world.provider.call("getmem", here.address, there.address, size, world.check_pe(pe))


def fence() -> None:
    """Order this PE's puts before its later ones, per target PE."""
    blocking_world("fence", "work in a stream is in order already").provider.call("fence")


def quiet() -> None:
    """Wait until this PE's puts are done on their targets."""
    blocking_world("quiet", _CURE.format("quiet")).provider.call("quiet")


def barrier(team: Team | None = None) -> None:
    """Wait for all PEs of a team, None for all there are, with `quiet` first.

    Raises:
        PeerLostError, ShmemTimeoutError: Some PE cannot come, or did not in time.
        CaptureError: This thread captures a stream.
    """
    world = blocking_world("barrier", _CURE.format("barrier"))
    if team is None:
        world.provider.call("barrier_all")
    else:
        world.provider.call("barrier", as_team(team, world).handle)


def sync(team: Team | None = None) -> None:
    """Wait for all PEs of a team, None for all there are, without `quiet`; see `barrier`."""
    world = blocking_world("sync", _CURE.format("sync"))
    if team is None:
        world.provider.call("sync_all")
    else:
        world.provider.call("team_sync", as_team(team, world).handle)


def copy_operands(
    world: World, target: Any, source: Any, nbytes: int | None, *, remote: str
) -> tuple[Operand, Operand, int]:
    """Return both ends of a copy and its size; `remote` names the end on the other PE."""
    if remote == "target":
        ends = symmetric(target, "target", world), local(source, "source")
        far = ends[0]
    else:
        ends = local(target, "target"), symmetric(source, "source", world)
        far = ends[1]
    size = copy_bytes(*ends, nbytes)
    check_symmetric(world, far, size)
    return *ends, size
