"""Operations between PEs in stream order; each may be captured, and then happens at each replay.

The collectives are here too: `alltoall`, `broadcast`, `reduce`.
"""

from __future__ import annotations

from typing import Any

from ..access import Access
from ..captures import keep_while_captured
from .collectives import alltoall, broadcast, reduce
from .operands import SIGNAL_BYTES, signal_word, user_stream
from .rma import copy_operands
from .signals import Comparison, SignalOp, as_signal_value, as_word
from .team import Team, as_team
from .touched import declared, on_pe
from .world import current_world

__all__ = [
    "alltoall",
    "barrier",
    "broadcast",
    "get",
    "put",
    "put_signal",
    "quiet",
    "reduce",
    "signal_add",
    "signal_set",
    "sync",
    "wait_until",
]


def put(target: Any, source: Any, pe: int, stream: Any, *, nbytes: int | None = None) -> None:
    """Copy this PE's memory into another PE's; see `shmem.put`.

    Args:
        target: Symmetric array or part of one, or an address in one.
        source: Device array of this PE, or an address.
        pe: Whose `target` is written.
        stream: A Stream or raw handle; not the null stream.
        nbytes: How much, where both are addresses.
    """
    world = current_world("on_stream.put")
    there, here, size = copy_operands(world, target, source, nbytes, remote="target")
    raw = user_stream(stream, world)
    ends = there.address, here.address, size
    with declared(
        raw,
        lambda: Access(reads=((here.address, size),), writes=on_pe(world, there.address, size, pe)),
    ):
        world.provider.call("putmem_on_stream", *ends, world.check_pe(pe), raw)
    keep_while_captured(raw, world, there.owner, here.owner)


def get(target: Any, source: Any, pe: int, stream: Any, *, nbytes: int | None = None) -> None:
    """Copy another PE's memory into this PE's; see `put`, with the ends' roles exchanged."""
    world = current_world("on_stream.get")
    here, there, size = copy_operands(world, target, source, nbytes, remote="source")
    raw = user_stream(stream, world)
    ends = here.address, there.address, size
    with declared(
        raw,
        lambda: Access(reads=on_pe(world, there.address, size, pe), writes=((here.address, size),)),
    ):
        world.provider.call("getmem_on_stream", *ends, world.check_pe(pe), raw)
    keep_while_captured(raw, world, there.owner, here.owner)


def put_signal(
    target: Any,
    source: Any,
    signal: Any,
    value: int,
    pe: int,
    stream: Any,
    *,
    op: SignalOp = SignalOp.SET,
    nbytes: int | None = None,
) -> None:
    """Copy into another PE's memory, then update its signal: who sees that sees the copy too.

    Under replays use `SignalOp.ADD` with waits that compare by GE: a signal set to the same value
    again tells nothing new.

    Args:
        target: Symmetric array or part of one, or an address in one.
        source: Device array of this PE, or an address.
        signal: One symmetric uint64, or its address.
        value: What the signal is set to, or what is added.
        pe: Whose `target` and `signal` are written.
        stream: A Stream or raw handle; not the null stream.
        op: Set or add.
        nbytes: How much, where both are addresses.
    """
    world = current_world("on_stream.put_signal")
    there, here, size = copy_operands(world, target, source, nbytes, remote="target")
    word = signal_word(signal, world)
    how = as_word(op, SignalOp, "op")
    raw = user_stream(stream, world)
    ends = (there.address, here.address, size)
    update = (word.address, as_signal_value(value), how, world.check_pe(pe))
    with declared(
        raw,
        lambda: Access(
            reads=((here.address, size),),
            writes=on_pe(world, there.address, size, pe),
            atomics=on_pe(world, word.address, SIGNAL_BYTES, pe),
        ),
    ):
        world.provider.call("putmem_signal_on_stream", *ends, *update, raw)
    keep_while_captured(raw, world, there.owner, here.owner, word.owner)


def signal_set(signal: Any, value: int, pe: int, stream: Any) -> None:
    """Set another PE's signal, after the work that is in the stream now."""
    _signal("signal_set", signal, value, pe, stream)


def signal_add(signal: Any, value: int, pe: int, stream: Any) -> None:
    """Add to another PE's signal, after the work that is in the stream now."""
    _signal("signal_add", signal, value, pe, stream)


def wait_until(signal: Any, comparison: Comparison, value: int, stream: Any) -> None:
    """Let later work in the stream wait until this PE's signal compares true with a value.

    The wait ends by itself after the timeout given to `init`; that failure is raised by the next
    synchronisation, or by `shmem.check`.
    """
    world = current_world("on_stream.wait_until")
    word = signal_word(signal, world)
    how = as_word(comparison, Comparison, "comparison")
    raw = user_stream(stream, world)
    wanted = as_signal_value(value)
    with declared(raw, lambda: Access(atomics=((word.address, SIGNAL_BYTES),))):
        world.provider.call("signal_wait_until_on_stream", word.address, how, wanted, raw)
    keep_while_captured(raw, world, word.owner)


def quiet(stream: Any) -> None:
    """Let later work in the stream wait until this PE's earlier puts are done on their targets."""
    world = current_world("on_stream.quiet")
    raw = user_stream(stream, world)
    with declared(raw, Access):
        world.provider.call("quiet_on_stream", raw)
    keep_while_captured(raw, world)


def barrier(stream: Any, team: Team | None = None) -> None:
    """Let later work in the stream wait for all PEs of a team, None for all there are.

    What was put before the barrier, in stream order, is there behind it. Each PE must run or
    replay it equally often; one that does not come lets the others give up after the timeout of
    `init`, which the next synchronisation raises.
    """
    _meet("barrier_all_on_stream", "barrier_on_stream", stream, team)


def sync(stream: Any, team: Team | None = None) -> None:
    """Let later work in the stream wait for all PEs of a team, without `quiet`; see `barrier`."""
    _meet("sync_all_on_stream", "team_sync_on_stream", stream, team)


def _signal(operation: str, signal: Any, value: int, pe: int, stream: Any) -> None:
    world = current_world(f"on_stream.{operation}")
    word = signal_word(signal, world)
    raw = user_stream(stream, world)
    place = (word.address, as_signal_value(value), world.check_pe(pe), raw)
    with declared(raw, lambda: Access(atomics=on_pe(world, word.address, SIGNAL_BYTES, pe))):
        world.provider.call(f"{operation}_on_stream", *place)
    keep_while_captured(raw, world, word.owner)


def _meet(of_all: str, of_team: str, stream: Any, team: Team | None) -> None:
    world = current_world(of_all)
    raw = user_stream(stream, world)
    if team is None:
        with declared(raw, Access):
            world.provider.call(of_all, raw)
        keep_while_captured(raw, world)
    else:
        members = as_team(team, world)
        with declared(raw, Access):
            world.provider.call(of_team, members.handle, raw)
        keep_while_captured(raw, world, members)
