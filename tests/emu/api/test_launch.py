"""Launch checks and arguments, eager and captured (api/launch.cpp, runtime/launch.cpp)."""

from __future__ import annotations

import ctypes
import struct

import pytest
from helpers import hip_ctypes as hip
from helpers.kernels import arguments_code_object, compile_hip

INVALID, CONFIGURATION, BAD_FUNCTION, HANDLE, LAUNCH_FAILURE = 1, 9, 98, 400, 719
STALE = 0x7_0000_0000

SHAPES = {
    "zero grid": ({"grid": (0, 1, 1)}, INVALID, CONFIGURATION),
    "zero block": ({"block": (1, 0, 1)}, INVALID, CONFIGURATION),
    "block too big": ({"block": (1025, 1, 1)}, INVALID, CONFIGURATION),
    "block product too big": ({"block": (32, 8, 8)}, INVALID, CONFIGURATION),
    "block beyond 64 bits": ({"block": (1 << 22, 1 << 22, 1 << 22)}, INVALID, CONFIGURATION),
    "too many work-items": ({"grid": (1 << 27, 1, 1)}, INVALID, CONFIGURATION),
    "too much LDS": ({"lds": 65537}, INVALID, INVALID),
    "as much LDS as there is": ({"lds": 65536}, 0, 0),
    "biggest block": ({"block": (16, 8, 8)}, 0, 0),
}


@pytest.mark.parametrize("shape, eager, recorded", SHAPES.values(), ids=SHAPES)
def test_shapes(stream, nothing, shape, eager, recorded):
    assert hip.launch_kernel(nothing, stream, None, **shape) == eager
    hip.ok("hipStreamSynchronize", stream)
    hip.begin(stream)
    assert hip.launch_kernel(nothing, stream, None, **shape) == recorded
    assert hip.status(stream) == hip.ACTIVE, "an argument error leaves the capture as it is"
    graph = hip.end(stream)
    assert len(hip.nodes(graph)) == (recorded == 0)
    hip.ok("hipGraphDestroy", graph)


@pytest.mark.parametrize("handle", [None, STALE])
def test_unknown_functions(stream, handle):
    assert hip.launch_kernel(handle, stream, None) == HANDLE
    hip.begin(stream)
    assert hip.launch_kernel(handle, stream, None) == BAD_FUNCTION
    assert hip.end_code(stream) == 0


def test_a_block_beyond_the_kernels_own_bound_fails(stream, module, out):
    narrow = hip.function(module, "narrow")
    params, _kept = hip.parameters(ctypes.c_uint64(out))
    for capturing in (False, True):
        if capturing:
            hip.begin(stream)
        assert hip.launch_kernel(narrow, stream, params, block=(129, 1, 1)) == LAUNCH_FAILURE
        assert hip.launch_kernel(narrow, stream, params, block=(128, 1, 1)) == 0
    assert hip.end_code(stream) == 0
    hip.ok("hipStreamSynchronize", stream)


def blocks_for(out: int) -> dict[str, tuple[list[int], int]]:
    """Forms of the extra argument, built from {1, blob, 2, &size, 3}."""
    return {
        "right": ([1, 0, 2, 0, 3], 0),
        "tags swapped": ([2, 0, 1, 0, 3], INVALID),
        "no end": ([1, 0, 2, 0, 0], INVALID),
    }


@pytest.mark.parametrize("form", ["right", "tags swapped", "no end"])
@pytest.mark.parametrize("capturing", [False, True], ids=["eager", "captured"])
def test_block_form(stream, put, out, form, capturing):
    tags, expected = blocks_for(out)[form]
    extra, _kept = hip.block_of(struct.pack("<Qi", out, 77))
    for index in (0, 2, 4):
        extra[index] = tags[index]
    if capturing:
        hip.begin(stream)
    assert hip.launch_kernel(put, stream, None, extra=extra) == expected
    if capturing:
        assert hip.end_code(stream) == 0
        return
    hip.ok("hipStreamSynchronize", stream)
    wanted = 77 if expected == 0 else 0
    assert struct.unpack("i", hip.from_device(out, 4)) == (wanted,)


def test_arguments_must_come_in_one_form(stream, put, out):
    extra, _block = hip.block_of(struct.pack("<Qi", out, 77))
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(1))
    assert hip.launch_kernel(put, stream, params, extra=extra) == INVALID
    assert hip.launch_kernel(put, stream, None) == INVALID
    short, _short = hip.block_of(struct.pack("<Q", out))
    assert hip.launch_kernel(put, stream, None, extra=short) == INVALID


def test_launching_with_spare_bytes_and_without_parameters(stream, put, nothing, out):
    extra, _kept = hip.block_of(struct.pack("<Qi", out, 5) + bytes(64))
    assert hip.launch_kernel(put, stream, None, extra=extra) == 0
    assert hip.launch_kernel(nothing, stream, None) == 0
    hip.ok("hipStreamSynchronize", stream)
    assert struct.unpack("i", hip.from_device(out, 4)) == (5,)


def test_arguments_are_copied_when_recorded(stream, put, out):
    value = ctypes.c_int(5)
    params, _kept = hip.parameters(ctypes.c_uint64(out), value)
    hip.begin(stream)
    assert hip.launch_kernel(put, stream, params) == 0
    value.value = 6
    params[0] = params[1] = None
    graph = hip.end(stream)
    exec_ = hip.instantiate(graph)
    hip.ok("hipGraphDestroy", graph)
    hip.launch(exec_, stream)
    assert struct.unpack("i", hip.from_device(out, 4)) == (5,)
    hip.ok("hipGraphExecDestroy", exec_)


def test_arguments_go_where_the_metadata_says(stream):
    """C024: structures, narrow integers and doubles at the offsets of the code object."""
    source = """
    struct pair { float x, y; };
    extern "C" __global__ void spread(char a, struct pair p, short b, double d, long* out) {
      out[0] = a; out[1] = (long)p.x; out[2] = (long)p.y; out[3] = b; out[4] = (long)d;
    }
    """
    out = hip.malloc(40)
    spread = hip.function(hip.module(compile_hip(source)), "spread")
    pair = (ctypes.c_float * 2)(2.0, 3.0)
    params, _kept = hip.parameters(
        ctypes.c_byte(-1), pair, ctypes.c_short(-4), ctypes.c_double(5.0), ctypes.c_uint64(out)
    )
    assert hip.launch_kernel(spread, stream, params, block=(1, 1, 1)) == 0
    hip.ok("hipStreamSynchronize", stream)
    assert struct.unpack("5q", hip.from_device(out, 40)) == (-1, 2, 3, -4, 5)
    hip.ok("hipFree", out)


def test_the_fixture_of_every_alignment_loads():
    assert hip.module(arguments_code_object())


def test_host_functions_run_in_stream_order(stream, out):
    seen = []

    def look(_):
        seen.append(struct.unpack("i", ctypes.string_at(pinned, 4))[0])

    pinned = hip.out("hipHostMalloc", 4, 0)
    function = hip.HOST_FUNCTION(look)
    for value in (1, 2):
        hip.ok("hipMemsetD32Async", pinned, value, 1, stream)
        hip.ok("hipLaunchHostFunc", stream, function, None)
    hip.ok("hipStreamSynchronize", stream)
    assert seen == [1, 2]
    assert hip.code("hipLaunchHostFunc", stream, None, None) == INVALID
    hip.ok("hipHostFree", pinned)


def test_a_recorded_host_function_runs_at_every_replay(stream):
    """C012."""
    seen = []
    function = hip.HOST_FUNCTION(seen.append)
    hip.begin(stream)
    hip.ok("hipLaunchHostFunc", stream, function, 7)
    graph = hip.end(stream)
    assert [hip.node_type(node) for node in hip.nodes(graph)] == [hip.HOST]
    exec_ = hip.instantiate(graph)
    for _ in range(5):
        hip.launch(exec_, stream)
    assert seen == [7] * 5
    hip.ok("hipGraphExecDestroy", exec_)
    hip.ok("hipGraphDestroy", graph)
