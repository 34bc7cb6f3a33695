"""Team: an ordered part of the PEs, with barriers and collectives of its own."""

from __future__ import annotations

import weakref
from typing import ClassVar

from ..errors import ShmemError
from ..runtime import state
from .world import World, blocking_world, current_world

__all__ = ["Team", "as_team", "team_world"]

_CURE = "make and destroy teams outside captures"


class Team:
    """Some of the PEs, in an order of their own.

    A team has one place where its PEs meet, so one of its barriers or collectives runs at a time.
    Graphs or streams that run side by side take a `duplicate` each. Teams are collective like
    memory: all members make and destroy them together.

    Attributes:
        world: The PEs that it is a part of.
    """

    frees_memory: ClassVar[bool] = True

    def __init__(self, world: World, handle: int, *, owned: bool = True) -> None:
        """Wrap a provider's team; `split_strided` and `team_world` are the usual ways."""
        self.world = world
        self._raw = handle
        self._finalizer: weakref.finalize[..., Team] | None = None
        if owned:
            self._finalizer = weakref.finalize(self, world.orphan, f"team {handle:#x}")
            self._finalizer.atexit = False

    @property
    def closed(self) -> bool:
        """Whether it was destroyed, or its world finalized."""
        gone = self._finalizer is not None and not self._finalizer.alive
        return gone or self.world.closed

    @property
    def handle(self) -> int:
        """The provider's team.

        Raises:
            ValueError: It is gone.
        """
        if self.closed:
            raise ValueError(f"{self!r}: the team is gone; use it before destroy() and finalize()")
        return self._raw

    @property
    def my_pe(self) -> int:
        """This process's ordinal in the team."""
        return int(self.world.provider.call("team_my_pe", self.handle))

    @property
    def n_pes(self) -> int:
        """How many PEs the team has."""
        return int(self.world.provider.call("team_n_pes", self.handle))

    def translate(self, pe: int, target: Team | None = None) -> int | None:
        """Return which PE of another team (None: of the world) a PE of this one is; None if not."""
        if not 0 <= pe < self.n_pes:
            raise ValueError(f"pe={pe}: the team has {self.n_pes} PEs, count from 0")
        other = self.world.handle if target is None else target.handle
        found = int(self.world.provider.call("team_translate_pe", self.handle, pe, other))
        return found if found >= 0 else None

    def split_strided(self, start: int, stride: int, n_pes: int) -> Team | None:
        """Make a team of every `stride`-th PE; collective over this team.

        Args:
            start: The first PE, in this team's order.
            stride: Distance between them, 1 or more.
            n_pes: How many.

        Returns:
            The new team, or None on PEs outside it.
        """
        world = blocking_world("team_split_strided", _CURE)
        size = self.n_pes
        if start < 0 or stride < 1 or n_pes < 1 or start + (n_pes - 1) * stride >= size:
            raise ValueError(
                f"start={start}, stride={stride}, n_pes={n_pes}: not within the {size} PEs of the "
                "team"
            )
        raw = world.provider.call("team_split_strided", self.handle, start, stride, n_pes)
        return Team(world, raw) if raw else None

    def split_2d(self, x_range: int) -> tuple[Team, Team]:
        """Lay the team out in rows of `x_range` PEs; collective over this team.

        Returns:
            The team of this PE's row (x) and that of its column (y).
        """
        world = blocking_world("team_split_2d", _CURE)
        if not 1 <= x_range <= self.n_pes:
            raise ValueError(f"x_range={x_range}: from 1 to the team's {self.n_pes} PEs")
        row, column = world.provider.call("team_split_2d", self.handle, x_range)
        return Team(world, row), Team(world, column)

    def duplicate(self) -> Team:
        """Make a team of the same PEs with a meeting place of its own; collective."""
        made = self.split_strided(0, 1, self.n_pes)
        if made is None:
            raise ShmemError("team_split_strided", f"no team of the {self.n_pes} PEs was made")
        return made

    def destroy(self) -> None:
        """End the team; collective over its PEs. A graph that uses it refuses to be launched.

        Raises:
            ValueError: It is the world, or was destroyed already.
        """
        if self._finalizer is None:
            raise ValueError(f"{self!r}: the world's own team lives until finalize()")
        raw = self.handle
        world = blocking_world("team_destroy", _CURE)
        world.provider.call("team_destroy", raw)
        self._finalizer.detach()
        state.closes += 1

    def __repr__(self) -> str:
        return f"<Team {self._raw:#x}{' gone' if self.closed else ''}>"


def team_world() -> Team:
    """Return the team of all PEs."""
    world = current_world("team_world")
    return Team(world, world.handle, owned=False)


def as_team(team: Team | None, world: World) -> Team:
    """Return the team, or that of all PEs for None."""
    if team is None:
        return Team(world, world.handle, owned=False)
    if not isinstance(team, Team):
        raise TypeError(f"team={team!r}: give a Team, or None for all PEs")
    return team
