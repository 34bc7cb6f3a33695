"""Streams that write and wait for values in memory (api/memory_operation.cpp)."""

from __future__ import annotations

import ctypes
import struct

import pytest
from helpers import hip_ctypes as hip
from helpers.process import run_python

BATCH_MEM_OP = 14
GREATER_EQUAL, EQUAL, AND, NOR = 0, 1, 2, 3
ALL = (1 << 64) - 1
WAIT32, WRITE32, WAIT64, WRITE64 = 1, 2, 4, 5


def batch(*operations: tuple[int, int, int, int]):
    """Operations (kind, address, value, flags) as the library reads them."""
    return b"".join(struct.pack("<iiQQIIQ8x", o, 0, a, v, f, 0, 0) for o, a, v, f in operations)


@pytest.mark.parametrize("bits, value", [(32, 0xFFFFFFF0), (64, 1 << 40)])
def test_a_write_comes_after_what_the_stream_has(stream, out, bits, value):
    hip.ok("hipMemsetAsync", out, 0xFF, 16, stream)
    hip.ok(f"hipStreamWriteValue{bits}", stream, out, value, 0)
    hip.ok("hipStreamSynchronize", stream)
    size = bits // 8
    assert hip.from_device(out, 16) == value.to_bytes(size, "little") + b"\xff" * (16 - size)


@pytest.mark.parametrize(
    "kind, value, mask, before, after",
    [
        (GREATER_EQUAL, 5, ALL, 4, 5),
        (EQUAL, 5, ALL, 6, 5),
        (EQUAL, 5, 0xF, 0x14, 0x15),
        (AND, 6, ALL, 9, 2),
        (NOR, 0xFFFFFFFE, 0xFFFFFFFF, 1, 0),
    ],
)
@pytest.mark.parametrize("bits", [32, 64])
def test_a_wait_ends_when_the_value_passes(streams, out, bits, kind, value, mask, before, after):
    waiting, writing = streams(), streams()
    if kind == NOR and bits == 64:
        value, mask = value | 0xFFFFFFFF << 32, ALL
    hip.ok("hipStreamWriteValue64", writing, out, before, 0)
    hip.ok("hipStreamSynchronize", writing)
    hip.ok(f"hipStreamWaitValue{bits}", waiting, out, value, kind, mask)
    assert hip.code("hipStreamQuery", waiting) == 600
    hip.ok(f"hipStreamWriteValue{bits}", writing, out, after, 0)
    hip.ok("hipStreamSynchronize", waiting)


def test_a_wait_sees_what_the_host_writes(stream):
    memory = hip.out("hipHostMalloc", 64, 0)
    ctypes.memset(memory, 0, 64)
    hip.ok("hipStreamWaitValue32", stream, memory, 1, EQUAL, ALL)
    ctypes.memset(memory, 1, 1)
    hip.ok("hipStreamSynchronize", stream)
    hip.ok("hipHostFree", memory)


def test_codes(stream, out):
    for address in (None, 64, out + 2):
        assert hip.code("hipStreamWriteValue32", stream, address, 0, 0) == 1
        assert hip.code("hipStreamWaitValue32", stream, address, 0, 0, ALL) == 1
    assert hip.code("hipStreamWriteValue64", stream, out + 252, 0, 0) == 1
    assert hip.code("hipStreamWaitValue32", stream, out, 0, 4, ALL) == 1
    one = batch((WRITE32, out, 1, 0))
    assert hip.code("hipStreamBatchMemOp", stream, 0, one, 0) == 1
    assert hip.code("hipStreamBatchMemOp", stream, 257, one, 0) == 1
    assert hip.code("hipStreamBatchMemOp", stream, 1, one, 1) == 1
    assert hip.code("hipStreamBatchMemOp", stream, 1, None, 0) == 1
    assert hip.code("hipStreamBatchMemOp", stream, 1, batch((9, out, 1, 0)), 0) == 1
    hip.last_error()


def test_recorded_operations_are_one_node_a_call(stream, out):
    operations = batch(
        (WRITE32, out, 7, 0), (WAIT32, out, 7, EQUAL), (WRITE64, out + 8, 1 << 33, 0)
    )
    hip.begin(stream)
    hip.ok("hipStreamBatchMemOp", stream, 3, operations, 0)
    hip.ok("hipStreamWriteValue32", stream, out + 4, 9, 0)
    assert hip.code("hipStreamWriteValue32", stream, None, 9, 0) == 1
    graph = hip.end(stream)
    assert [hip.node_type(node) for node in hip.nodes(graph)] == [BATCH_MEM_OP] * 2
    hip.launch(hip.instantiate(graph), stream)
    assert hip.from_device(out, 16) == struct.pack("<IIQ", 7, 9, 1 << 33)


def test_a_wait_that_nothing_can_end_is_reported_and_ended():
    done = run_python(
        """
        from helpers import hip_ctypes as hip
        stream, memory = hip.stream(), hip.malloc(64)
        hip.ok("hipMemset", memory, 0, 64)
        hip.ok("hipStreamWaitValue32", stream, memory, 5, 1, 2**32 - 1)
        print(hip.code("hipStreamSynchronize", stream), hip.code("hipStreamSynchronize", stream))
        """
    )
    assert done.stdout == "719 0\n"
    assert "waits for 5" in done.stderr
    assert "holds 0" in done.stderr
