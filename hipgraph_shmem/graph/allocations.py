"""Allocations: what HIP knows about the memory at an address."""

from __future__ import annotations

from ..errors import HipError
from ..hip_abi import ErrorCode
from ..runtime import call
from .ranges import Range

__all__ = ["Allocations"]

#: Releases differ in how they say that an address is in no allocation.
_UNKNOWN = (ErrorCode.NOT_FOUND, ErrorCode.INVALID_VALUE, ErrorCode.INVALID_DEVICE_POINTER)


class Allocations:
    """The live allocations, asked for once per address; legal while streams capture."""

    __slots__ = ("_added", "_found")

    def __init__(self) -> None:
        self._added: list[Range] = []
        self._found: dict[int, Range | None] = {}

    def add(self, allocation: Range) -> None:
        """Count memory as live that exists only while a graph runs."""
        self._added.append(allocation)

    def around(self, address: int) -> Range | None:
        """Return the live allocation that an address lies in."""
        for each in self._added:
            if each.start <= address < each.stop:
                return each
        if address not in self._found:
            self._found[address] = _ask(address)
        return self._found[address]

    def holds(self, wanted: Range) -> bool:
        """Tell whether a range lies in one live allocation."""
        found = self.around(wanted.start)
        return found is not None and wanted.stop <= found.stop


def _ask(address: int) -> Range | None:
    try:
        base, nbytes = call("hipMemGetAddressRange", address)
    except HipError as error:
        if error.code not in _UNKNOWN:
            raise
        return None
    return Range(base, base + nbytes)
