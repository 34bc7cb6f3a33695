"""Handle: a HIP object that is destroyed exactly once, and before everything it depends on."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar, TypeVar

from .captures import refuse_while_capturing
from .errors import Error
from .runtime import clean_up, discard, state

__all__ = ["Handle"]

_H = TypeVar("_H", bound="Handle")


class Handle:
    """A HIP object: `close` destroys it, and so does dropping the last reference.

    What it needs (`needs`) stays alive until then. Two handles are equal when they are of one
    type and stand for the same HIP object. A borrowed handle belongs to someone else: closing it
    only forgets it.
    """

    destroy: ClassVar[str]
    """The HIP call that destroys the object."""

    frees_memory: ClassVar[bool] = False
    """Whether HIP refuses to destroy the object while a stream captures."""

    __slots__ = ("__weakref__", "_finalizer", "_raw")

    def __init__(self, raw: int, *needs: object) -> None:
        self._raw = raw
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._own(object(), needs)

    def _own(self, token: object, needs: tuple[object, ...]) -> None:
        cls = type(self)
        state.live[token] = cls.__name__
        finalizer = weakref.finalize(self, _dispose, token, cls.destroy, self._raw, needs)
        # The end of the process frees everything, and freeing could wait for work that never ends.
        finalizer.atexit = False
        self._finalizer = finalizer

    @classmethod
    def borrow(cls: type[_H], raw: int) -> _H:
        """Wrap a HIP object that someone else owns and keeps alive."""
        borrowed = cls.__new__(cls)
        borrowed._raw = raw
        borrowed._finalizer = None
        return borrowed

    @property
    def handle(self) -> int:
        """The HIP object, as HIP's C functions take it.

        Raises:
            ValueError: the handle is closed.
        """
        finalizer = self._finalizer
        if finalizer is not None and not finalizer.alive:
            raise ValueError(f"{self!r} is closed: use it before close(), or make a new one")
        return self._raw

    @property
    def closed(self) -> bool:
        """Whether the HIP object is gone."""
        finalizer = self._finalizer
        return finalizer is not None and not finalizer.alive

    @property
    def owned(self) -> bool:
        """Whether closing destroys the HIP object."""
        return self._finalizer is not None

    def close(self) -> None:
        """Destroy the HIP object; a second call does nothing.

        Raises:
            CaptureError: HIP would lose an open capture; the handle stays usable.
        """
        finalizer = self._finalizer
        if finalizer is None or not finalizer.alive:
            return
        cls = type(self)
        if cls.frees_memory:
            refuse_while_capturing(cls.destroy, f"close the {cls.__name__} after the capture")
        detached = finalizer.detach()
        if detached is None:
            return
        token, destroy, raw, needs = detached[2]
        state.live.pop(token, None)
        try:
            clean_up(destroy, raw)
        except Error:
            self._own(token, needs)
            raise
        if cls.frees_memory:
            state.closes += 1

    def _exchange(self, raw: int, *needs: object) -> None:
        """Own another HIP object from now on, and destroy the one before."""
        detached = None if self._finalizer is None else self._finalizer.detach()
        self._raw, before = raw, self._raw
        if detached is None:
            self._own(object(), needs)
        else:
            self._own(detached[2][0], needs)
            discard(type(self).destroy, before)

    def __enter__(self: _H) -> _H:
        return self

    def __exit__(self, *_: object) -> None:
        finalizer = self._finalizer
        if finalizer is None or not finalizer.alive:
            return
        finalizer()
        if type(self).frees_memory:
            state.closes += 1

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._raw == other._raw

    def __hash__(self) -> int:
        return hash((type(self), self._raw))

    def __repr__(self) -> str:
        ending = " closed" if self.closed else "" if self.owned else " borrowed"
        return f"<{type(self).__name__} {self._raw:#x}{ending}>"


def _dispose(token: object, destroy: str, raw: int, needs: tuple[object, ...]) -> None:
    state.live.pop(token, None)
    discard(destroy, raw, needs=needs)
