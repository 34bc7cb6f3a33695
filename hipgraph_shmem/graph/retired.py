"""What a closed exec held, kept until its last launch has ended."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable

from ..errors import HipError
from ..runtime import state
from ..stream import Event

__all__ = ["Holding", "drain_retired", "retire"]


class Holding:
    """Objects that work in flight needs; they outlive this object until `event` has happened.

    Attributes:
        event: Recorded after the last work; None before there is any.
    """

    __slots__ = ("__weakref__", "_content")

    def __init__(self) -> None:
        self._content = _Content()
        weakref.finalize(self, _retire, self._content).atexit = False

    @property
    def event(self) -> Event | None:
        """The event after the last work."""
        return self._content.event

    @event.setter
    def event(self, event: Event) -> None:
        self._content.event = event

    @property
    def objects(self) -> tuple[object, ...]:
        """The objects held."""
        return tuple(each for held in self._content.objects.values() for each in held)

    def hold(self, key: Hashable, objects: Iterable[object]) -> None:
        """Hold objects under a key instead of those that were; no work in flight needs these."""
        self._content.objects[key] = tuple(objects)

    def drop(self) -> None:
        """Let go of everything that no work in flight needs."""
        self._content.objects.clear()


class _Content:
    """What a Holding holds; it goes to the retired list when the Holding goes."""

    __slots__ = ("event", "objects")

    def __init__(self) -> None:
        self.objects: dict[Hashable, tuple[object, ...]] = {}
        self.event: Event | None = None


def retire(event: Event, *objects: object) -> None:
    """Keep objects until an event has happened."""
    content = _Content()
    content.objects[0], content.event = objects, event
    _retire(content)


def _retire(content: _Content) -> None:
    """Keep a content until its event has happened; called by finalisers, so it calls no HIP."""
    if content.event is not None:
        state.retired.append(content)


def drain_retired() -> None:
    """Let go of what no work in flight needs; does nothing while a capture is open."""
    if state.open_captures or not state.retired:
        return
    with state.lock:
        # A finaliser may append at any moment, so the list is never replaced.
        for _ in range(len(state.retired)):
            content: _Content = state.retired.pop(0)
            if content.event is not None and not _is_over(content.event):
                state.retired.append(content)


def _is_over(event: Event) -> bool:
    try:
        return event.query()
    except HipError:
        # The device failed: what was in flight there has ended.
        return True
