"""Collective operations of a team's PEs, in stream order."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import ml_dtypes
import numpy as np

from ..access import Access
from ..captures import keep_while_captured
from .operands import Operand, check_symmetric, symmetric, user_stream
from .signals import as_word
from .team import Team, as_team
from .touched import declared
from .world import World, current_world

__all__ = ["Reduction", "alltoall", "broadcast", "reduce"]

MAX_COUNT = 2**31 - 1


class Reduction(IntEnum):
    """What a reduction does with the PEs' elements; rocSHMEM's numbers."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3


_TYPES = {
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.int32): "int",
    np.dtype(np.int64): "long",
    np.dtype(ml_dtypes.bfloat16): "bfloat16",
}


def alltoall(target: Any, source: Any, stream: Any, team: Team | None = None) -> None:
    """Send block j of `source` to PE j of the team, where it becomes block my_pe of `target`.

    Args:
        target: Symmetric array; its first axis, or its bytes, are divided among the PEs.
        source: Symmetric array of the same size.
        stream: A Stream or raw handle; not the null stream.
        team: Whose PEs take part; None: all.
    """
    world = current_world("on_stream.alltoall")
    to, of = _alike(world, target, source)
    members = as_team(team, world)
    n_pes = members.n_pes
    nbytes = to.nbytes or 0
    if nbytes % n_pes:
        raise ValueError(f"target has {nbytes} bytes: not to be divided among {n_pes} PEs")
    raw = user_stream(stream, world)
    ends = (to.address, of.address, nbytes // n_pes)
    with declared(raw, lambda: _access(to, of)):
        world.provider.call("alltoallmem_on_stream", members.handle, *ends, raw)
    keep_while_captured(raw, world, members, to.owner, of.owner)


def broadcast(target: Any, source: Any, root: int, stream: Any, team: Team | None = None) -> None:
    """Copy `source` of one PE into `target` of every PE of the team, its own too.

    Args:
        target: Symmetric array.
        source: Symmetric array of the same size.
        root: Whose source it is: a PE of the team, in the team's order.
        stream: A Stream or raw handle; not the null stream.
        team: Whose PEs take part; None: all.
    """
    world = current_world("on_stream.broadcast")
    to, of = _alike(world, target, source)
    members = as_team(team, world)
    if not 0 <= root < members.n_pes:
        raise ValueError(f"root={root}: the team has {members.n_pes} PEs, count from 0")
    raw = user_stream(stream, world)
    ends = (to.address, of.address, to.nbytes or 0, root)
    with declared(raw, lambda: _access(to, of)):
        world.provider.call("broadcastmem_on_stream", members.handle, *ends, raw)
    keep_while_captured(raw, world, members, to.owner, of.owner)


def reduce(
    target: Any, source: Any, operation: Reduction, stream: Any, team: Team | None = None
) -> None:
    """Combine the PEs' `source` element by element into `target` of every PE of the team.

    Elements are combined in the team's order, so all PEs and all replays get the same bits. In
    place is allowed. bfloat16 is combined in float32 and rounded once.

    Args:
        target: Symmetric array of float32, float64, bfloat16, int32 or int64.
        source: Symmetric array of the same size and dtype, or `target` itself.
        operation: SUM, MIN, MAX or PROD.
        stream: A Stream or raw handle; not the null stream.
        team: Whose PEs take part; None: all.
    """
    world = current_world("on_stream.reduce")
    to, of = _alike(world, target, source)
    how = as_word(operation, Reduction, "operation")
    kind = _TYPES.get(to.dtype) if to.dtype is not None else None
    if kind is None or to.dtype is None:
        names = ", ".join(map(str, _TYPES))
        raise TypeError(f"target is {to.dtype}: a reduction takes arrays of {names}")
    members = as_team(team, world)
    count = (to.nbytes or 0) // to.dtype.itemsize
    if count > MAX_COUNT:
        raise ValueError(f"target has {count} elements: at most {MAX_COUNT}; take parts")
    raw = user_stream(stream, world)
    name = f"{kind}_{how.name.lower()}_reduce_on_stream"
    with declared(raw, lambda: _access(to, of)):
        world.provider.call(name, members.handle, to.address, of.address, count, raw)
    keep_while_captured(raw, world, members, to.owner, of.owner)


def _access(to: Operand, of: Operand) -> Access:
    """Say what a collective touches of this PE's memory; the other PEs' graphs say the rest."""
    return Access(reads=((of.address, of.nbytes or 0),), writes=((to.address, to.nbytes or 0),))


def _alike(world: World, target: Any, source: Any) -> tuple[Operand, Operand]:
    """Return both ends after checking that they are arrays of one size and type."""
    to, of = symmetric(target, "target", world), symmetric(source, "source", world)
    for each in (to, of):
        if each.nbytes is None:
            raise TypeError(f"{each.name}={each.address:#x}: give the array: its size is needed")
        check_symmetric(world, each, each.nbytes)
    if (to.nbytes, to.dtype) != (of.nbytes, of.dtype):
        raise ValueError(
            f"target has {to.nbytes} bytes of {to.dtype}, source {of.nbytes} of {of.dtype}: "
            "they must be equal"
        )
    return to, of
