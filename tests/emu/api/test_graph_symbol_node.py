"""Nodes that copy to and from symbols (api/graph_symbol_node.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.graph_nodes import ref
from helpers.hip_programs import run_program

INVALID, BAD_SYMBOL = 1, 13
STALE = 0x7_0000_0000
NO_SYMBOL = ctypes.create_string_buffer(64)
MEMORY = ctypes.create_string_buffer(64)

CASES = [
    ((NO_SYMBOL, MEMORY, 4), BAD_SYMBOL),
    ((NO_SYMBOL, None, 4), INVALID),
    ((NO_SYMBOL, MEMORY, 0), INVALID),
    ((None, MEMORY, 4), BAD_SYMBOL),
]


def arguments(direction: str, symbol, memory, count: int) -> tuple:
    """In the order of the call: destination first."""
    ends = (symbol, memory) if direction == "To" else (memory, symbol)
    return *ends, count, 0, hip.H2D if direction == "To" else hip.D2H


@pytest.mark.parametrize("direction", ["To", "From"])
@pytest.mark.parametrize("case, expected", CASES)
def test_codes(graph, out, direction, case, expected):
    args = arguments(direction, *case)
    handle = ctypes.c_uint64(7)
    call = f"hipGraphAddMemcpyNode{direction}Symbol"
    assert hip.code(call, ref(handle), graph, None, 0, *args) == expected
    assert handle.value == 0
    assert hip.nodes(graph) == []
    node = hip.out("hipGraphAddMemcpyNode1D", graph, None, 0, out, MEMORY, 4, hip.H2D)
    exec_ = hip.instantiate(graph)
    set_, exec_set = (f"hipGraph{on}MemcpyNodeSetParams{direction}Symbol" for on in ("", "Exec"))
    assert hip.code(set_, node, *args) == expected
    assert hip.code(exec_set, exec_, node, *args) == expected
    for wrong in (None, STALE):
        assert hip.code(set_, wrong, *args) == INVALID
        assert hip.code(exec_set, exec_, wrong, *args) == INVALID
        assert hip.code(exec_set, wrong, node, *args) == INVALID
        assert hip.code(call, bytes(8), wrong, None, 0, *args) == INVALID
    hip.ok("hipGraphExecDestroy", exec_)


def test_a_programs_variables():
    done = run_program("symbol_nodes")
    assert (done.returncode, done.stdout) == (0, "passed\n"), done.stderr
