"""What a graph exec that does not end looked like: kernels reached, and every counter's value."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from ..allocation import PinnedBuffer
from ..emulated import look_on
from ..errors import Error, HangError
from ..hip_abi import MemcpyKind
from ..runtime import call, relaxed, state
from ..stream import Stream
from .recording import CounterSlot

__all__ = ["CounterReader", "counter_reader", "explain"]

_WORD = 4
_WORDS = 1024
_READ_SECONDS = 2.0


class CounterReader:
    """Reads words of a device while its other streams are stuck.

    Everything that it needs is made beforehand: an allocation behind a hang may wait for it.
    """

    def __init__(self, device: int) -> None:
        """Make the stream and the host memory, also while another thread captures."""
        with relaxed():
            self._stream = Stream(device, priority=-1)
            self._words = PinnedBuffer(_WORDS, "uint32")
        look_on(self._stream.handle)

    def read(self, address: int, words: int) -> tuple[int, ...] | None:
        """Return the values, None where they do not come in time."""
        values: list[int] = []
        while len(values) < words:
            count = min(words - len(values), _WORDS)
            source = address + len(values) * _WORD
            if not self._copy(source, count):
                return None
            values += (ctypes.c_uint32 * count).from_address(self._words.address)
        return tuple(values)

    def _copy(self, source: int, count: int) -> bool:
        kind = MemcpyKind.DEVICE_TO_HOST
        size = count * _WORD
        try:
            call("hipMemcpyAsync", self._words.address, source, size, kind, self._stream.handle)
            self._stream.synchronize(timeout=_READ_SECONDS)
        except Error:
            return False
        return True


def counter_reader(device: int) -> CounterReader:
    """Return the reader of a device, made at the first use."""
    key = (CounterReader, device)
    with state.lock:
        if key not in state.shared:
            state.shared[key] = CounterReader(device)
        reader: CounterReader = state.shared[key]
    return reader


def explain(
    hang: HangError, graph_exec: object, slots: Sequence[CounterSlot], reader: CounterReader
) -> HangError:
    """Add to a hang what is known of the graph exec."""
    return HangError(
        repr(graph_exec),
        hang.seconds,
        hang.state,
        hang.report,
        hang.kernels,
        tuple((slot.kernel, slot.address, reader.read(slot.address, slot.words)) for slot in slots),
    )
