"""Update: what became of an exec that was to run what another graph describes."""

from __future__ import annotations

import ctypes
import enum
from dataclasses import dataclass

from ..hip_abi import error_name
from ..runtime import pointer

__all__ = ["UPDATES_IN_PLACE", "Update", "update_in_place"]

#: HIP's runtime does not reuse the argument memory of an exec's updates before it is destroyed, and
#: fails after some thousands (ROCm/rocm-systems issue 10021), so then the exec is made anew.
UPDATES_IN_PLACE = 1000


class _Result(enum.IntEnum):
    """hipGraphExecUpdateResult."""

    SUCCESS = 0
    ERROR = 1
    TOPOLOGY_CHANGED = 2
    NODE_TYPE_CHANGED = 3
    FUNCTION_CHANGED = 4
    PARAMETERS_CHANGED = 5
    NOT_SUPPORTED = 6
    UNSUPPORTED_FUNCTION_CHANGE = 7


@dataclass(frozen=True, slots=True)
class Update:
    """What `GraphExec.update` did.

    Attributes:
        in_place: Whether HIP changed the exec. If not, it was instantiated anew: its raw handle is
            another one, and its nodes are addressed by those of the new graph.
        reason: Why not in place; empty if it was.
        node: The handle of the node that HIP could not take; 0 if it named none.
    """

    in_place: bool
    reason: str = ""
    node: int = 0


def update_in_place(graph_exec: int, graph: int) -> Update:
    """Let an exec run what a graph of the same shape describes.

    HIP is not atomic here: if the result is not `in_place`, some nodes may have changed.
    """
    node, result = ctypes.c_void_p(), ctypes.c_int()
    function = pointer("hipGraphExecUpdate")
    code = function(graph_exec, graph, ctypes.byref(node), ctypes.byref(result))
    if not code:
        return Update(in_place=True)
    word = _Result(result.value).name if result.value in tuple(_Result) else str(result.value)
    reason = f"hipGraphExecUpdate: {error_name(code)}, {word}"
    return Update(in_place=False, reason=reason, node=node.value or 0)
