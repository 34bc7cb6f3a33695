"""Handles of shared memory and their error numbers (api/ipc.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.peers import Handle, close_code, handle_of, open_code, run_peers

INVALID, INVALID_DEVICE_POINTER, INVALID_CONTEXT = 1, 17, 201

SETUP = """
import json, os, subprocess, sys
from helpers import emulated
from helpers.peers import close_code, handle_of, open_code, open_handle
"""


def get_code(handle: object, pointer: int | None) -> int:
    return hip.code("hipIpcGetMemHandle", handle, pointer)


def test_only_device_memory_of_ones_own_is_exported(out):
    handle = Handle()
    host = hip.out("hipHostMalloc", 64, 0)
    managed = hip.out("hipMallocManaged", 64, 1)
    stranger = ctypes.addressof(handle)
    assert get_code(None, out) == INVALID
    assert get_code(ctypes.byref(handle), None) == INVALID
    assert get_code(ctypes.byref(handle), host) == INVALID
    assert get_code(ctypes.byref(handle), managed) == INVALID
    assert get_code(ctypes.byref(handle), stranger) == INVALID
    assert bytes(handle) == bytes(64)
    assert get_code(ctypes.byref(handle), out) == 0
    for pointer in (host, managed):
        hip.ok("hipFree", pointer)
    freed = hip.malloc(64)
    hip.ok("hipFree", freed)
    assert get_code(ctypes.byref(handle), freed) == INVALID


def test_handles_tell_allocations_and_places_apart(out):
    other = hip.malloc(64)
    assert handle_of(out) == handle_of(out)
    assert len({handle_of(out), handle_of(out + 4), handle_of(other)}) == 3
    hip.ok("hipFree", other)


def test_exporting_keeps_what_is_there(out):
    hip.to_device(out, bytes(range(256)))
    handle_of(out)
    assert hip.from_device(out, 256) == bytes(range(256))


def test_exporting_keeps_the_end_of_what_is_mostly_untouched():
    size = 1 << 33
    large = hip.malloc(size)
    hip.to_device(large + size - 8, b"the end.")
    handle_of(large)
    assert hip.from_device(large + size - 16, 16) == bytes(8) + b"the end."
    assert hip.from_device(large, 4) == b"\xbe" * 4
    hip.ok("hipFree", large)


def test_the_exporter_cannot_open_its_own_handle(out):
    assert open_code(handle_of(out)) == (INVALID_CONTEXT, None)


@pytest.mark.parametrize("flags", [0, 2, 3])
def test_flags_must_ask_for_peer_access(out, flags):
    assert open_code(handle_of(out), flags) == (INVALID, None)


def test_bytes_that_are_no_handle(out):
    handle = handle_of(out)
    assert open_code(bytes(64)) == (INVALID, None), "no size"
    assert open_code(b"\1" * 64) == (INVALID_DEVICE_POINTER, None)
    for at in (0, 8, 16, 32):  # magic, size, offset, file; process 1 is not the exporter
        wrong = bytearray(handle)
        wrong[at + 6] ^= 1
        wrong[40:44] = (1).to_bytes(4, "little")
        assert open_code(bytes(wrong)) == (INVALID_DEVICE_POINTER, None), at
    assert hip.code("hipIpcOpenMemHandle", None, Handle.from_buffer_copy(handle), 1) == INVALID


def test_closing_what_was_never_opened(out):
    assert close_code(None) == INVALID
    assert close_code(out) == INVALID
    handle_of(out)
    assert close_code(out) == INVALID, "exported, not imported"


def test_uses_of_one_mapping_are_counted():
    _, fact = run_peers(
        SETUP
        + """
if peer.rank == 0:
    made = emulated.malloc(4096)
    peer.tell("first", handle_of(made))
    peer.tell("second", handle_of(made + 256))
    peer.ask("closed", 1)
    print("{}")
else:
    first = open_handle(peer.ask("first", 0))
    second = open_handle(peer.ask("second", 0))
    code = lambda: emulated.hip().hipMemset(emulated.ctypes.c_void_p(first), 0, 4)
    free = emulated.hip().hipFree(emulated.ctypes.c_void_p(first))
    codes = [close_code(second), code(), close_code(first + 8), code(), close_code(first)]
    peer.tell("closed")
    print(json.dumps({"apart": second - first, "free": free, "codes": codes}))
""",
        2,
    )
    assert fact["apart"] == 256
    assert fact["free"] == INVALID
    assert fact["codes"] == [0, 0, 0, INVALID, INVALID]


def test_imported_memory_is_not_exported_again_and_does_not_count_as_used():
    _, fact = run_peers(
        SETUP
        + """
def available():
    free, total = emulated.ctypes.c_size_t(), emulated.ctypes.c_size_t()
    emulated.call("hipMemGetInfo", emulated.ctypes.byref(free), emulated.ctypes.byref(total))
    return free.value
if peer.rank == 0:
    peer.tell("handle", handle_of(emulated.malloc(1 << 20)))
    peer.ask("closed", 1)
    print("{}")
else:
    before = available()
    memory = open_handle(peer.ask("handle", 0))
    used = before - available()
    try:
        handle_of(memory)
        code = 0
    except emulated.HipCallError as error:
        code = error.code
    peer.tell("closed")
    print(json.dumps({"code": code, "used": used}))
""",
        2,
    )
    assert (fact["code"], fact["used"]) == (INVALID, 0)


def test_handles_of_what_is_gone():
    _, fact = run_peers(
        SETUP
        + """
if peer.rank == 0:
    made = emulated.malloc(4096)
    peer.tell("freed", handle_of(made))
    emulated.free(made)
    another = handle_of(emulated.malloc(4096))  # takes over the descriptor
    peer.tell("again", another)
    peer.ask("tried", 1)
    child = subprocess.run(
        [sys.executable, "-c",
         "import sys; from helpers import emulated; from helpers.peers import handle_of;"
         "sys.stdout.buffer.write(handle_of(emulated.malloc(4096)))"],
        capture_output=True, check=True)
    peer.tell("dead", child.stdout)
    peer.ask("finished", 1)
    print("{}")
else:
    handle = peer.ask("freed", 0)
    peer.ask("again", 0)
    freed = open_code(handle)
    alive = open_code(peer.ask("again", 0))[0]
    peer.tell("tried")
    dead = open_code(peer.ask("dead", 0))
    peer.tell("finished")
    print(json.dumps({"freed": freed, "alive": alive, "dead": dead}))
""",
        2,
    )
    assert fact["freed"] == [INVALID_DEVICE_POINTER, None]
    assert fact["dead"] == [INVALID_DEVICE_POINTER, None]
    assert fact["alive"] == 0
