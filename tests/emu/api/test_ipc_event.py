"""Events that processes share (api/ipc.cpp, runtime/shared_event.cpp)."""

from __future__ import annotations

import ctypes

import pytest
from helpers import hip_ctypes as hip
from helpers.peers import Handle, event_handle_of, handle_of, open_event_code, run_peers

INVALID, CONFIGURATION, INVALID_CONTEXT, HANDLE, NOT_READY = 1, 9, 201, 400, 600
DISABLE_TIMING, INTERPROCESS = 2, 4

SETUP = """
import json, threading
from helpers import hip_ctypes as hip
from helpers.peers import event_handle_of, handle_of, open_event_code, open_handle

query = lambda event: hip.code("hipEventQuery", event)
stream = hip.stream()

class Gate:
    def __init__(self):
        self.opened = threading.Event()
        self.function = hip.HOST_FUNCTION(lambda _: self.opened.wait(30))
        hip.ok("hipLaunchHostFunc", stream, self.function, None)

if peer.rank == 0:
    event = hip.event(6)
else:
    code, event = open_event_code(peer.ask("event", 0))
    assert code == 0
"""


@pytest.fixture
def event():
    made = hip.event(DISABLE_TIMING | INTERPROCESS)
    yield made
    hip.ok("hipEventDestroy", made)


def test_codes(event, out):
    plain = hip.event()
    handle = ctypes.byref(Handle())
    assert hip.code("hipIpcGetEventHandle", None, event) == INVALID
    assert hip.code("hipIpcGetEventHandle", handle, None) == INVALID
    assert hip.code("hipIpcGetEventHandle", handle, plain) == CONFIGURATION
    hip.ok("hipEventDestroy", plain)
    assert hip.code("hipIpcGetEventHandle", handle, plain) == HANDLE
    assert open_event_code(event_handle_of(event)) == (INVALID_CONTEXT, None)
    assert open_event_code(bytes(64)) == (INVALID, None)
    assert open_event_code(b"\1" * 64) == (INVALID, None)
    assert open_event_code(handle_of(out)) == (INVALID_CONTEXT, None)


def test_in_its_own_process_it_is_an_event_like_others(event, streams, gate):
    recording, waiting = streams(), streams()
    assert hip.code("hipEventQuery", event) == 0
    gate.block(recording)
    hip.ok("hipEventRecord", event, recording)
    event_handle_of(event)
    assert hip.code("hipEventQuery", event) == NOT_READY
    hip.ok("hipStreamWaitEvent", waiting, event, 0)
    assert hip.code("hipStreamQuery", waiting) == NOT_READY
    gate.open_gate()
    hip.ok("hipEventSynchronize", event)
    hip.ok("hipStreamSynchronize", waiting)
    assert hip.code("hipEventQuery", event) == 0


def test_others_see_a_record_when_its_work_is_done():
    """What the exporter wrote before its record is there behind the importer's wait."""
    _, fact = run_peers(
        SETUP
        + """
if peer.rank == 0:
    memory = hip.malloc(64)
    hip.ok("hipMemset", memory, 0, 64)
    peer.tell("event", event_handle_of(event))
    peer.tell("memory", handle_of(memory))
    peer.ask("opened", 1)
    gate = Gate()
    hip.ok("hipMemsetAsync", memory, 5, 64, stream)
    hip.ok("hipEventRecord", event, stream)
    peer.tell("recorded")
    peer.ask("enqueued", 1)
    gate.opened.set()
    peer.ask("done", 1)
    print("{}")
else:
    memory = open_handle(peer.ask("memory", 0))
    codes = [query(event)]
    peer.tell("opened")
    peer.ask("recorded", 0)
    codes.append(query(event))
    hip.ok("hipStreamWaitEvent", stream, event, 0)
    mine = hip.malloc(64)
    hip.ok("hipMemcpyAsync", mine, memory, 64, hip.D2D, stream)
    codes.append(hip.code("hipStreamQuery", stream))
    peer.tell("enqueued")
    hip.ok("hipEventSynchronize", event)
    codes.append(query(event))
    seen = hip.from_device(memory, 64) == bytes([5]) * 64
    hip.ok("hipStreamSynchronize", stream)
    copied = hip.from_device(mine, 64) == bytes([5]) * 64
    hip.ok("hipEventDestroy", event)
    peer.tell("done")
    print(json.dumps({"codes": codes, "seen": seen, "copied": copied}))
""",
        2,
    )
    assert fact == {"codes": [0, NOT_READY, NOT_READY, 0], "seen": True, "copied": True}


def test_an_importers_record_counts_for_the_exporter():
    fact, _ = run_peers(
        SETUP
        + """
if peer.rank == 0:
    hip.ok("hipEventRecord", event, stream)
    hip.ok("hipStreamSynchronize", stream)
    peer.tell("event", event_handle_of(event))
    peer.ask("recorded", 1)
    codes = [query(event)]
    peer.tell("looked")
    hip.ok("hipEventSynchronize", event)
    codes.append(query(event))
    hip.ok("hipEventDestroy", event)
    print(json.dumps({"codes": codes}))
else:
    gate = Gate()
    hip.ok("hipEventRecord", event, stream)
    peer.tell("recorded")
    peer.ask("looked", 0)
    gate.opened.set()
    hip.ok("hipStreamSynchronize", stream)
    print("{}")
""",
        2,
    )
    assert fact == {"codes": [NOT_READY, 0]}


def test_a_wait_is_for_the_record_of_its_moment():
    """A later record does not hold up a stream that waits for an earlier one."""
    _, fact = run_peers(
        SETUP
        + """
if peer.rank == 0:
    peer.tell("event", event_handle_of(event))
    first = Gate()
    hip.ok("hipEventRecord", event, stream)
    peer.tell("once")
    peer.ask("waiting", 1)
    second = Gate()
    hip.ok("hipEventRecord", event, stream)
    first.opened.set()
    peer.ask("over", 1)
    second.opened.set()
    hip.ok("hipStreamSynchronize", stream)
    print("{}")
else:
    peer.ask("once", 0)
    hip.ok("hipStreamWaitEvent", stream, event, 0)
    peer.tell("waiting")
    hip.ok("hipStreamSynchronize", stream)
    code = query(event)
    peer.tell("over")
    hip.ok("hipEventSynchronize", event)
    print(json.dumps({"code": code}))
""",
        2,
    )
    assert fact == {"code": NOT_READY}


def test_handles_of_what_is_no_event():
    """A destroyed event, and memory."""
    _, fact = run_peers(
        """
        import json
        from helpers import hip_ctypes as hip
        from helpers.peers import event_handle_of, handle_of, open_event_code
        if peer.rank == 0:
            event = hip.event(6)
            peer.tell("event", event_handle_of(event))
            hip.ok("hipEventDestroy", event)
            peer.tell("memory", handle_of(hip.malloc(64)))
            peer.ask("tried", 1)
            print("{}")
        else:
            memory = peer.ask("memory", 0)
            codes = [open_event_code(peer.ask("event", 0)), open_event_code(memory)]
            peer.tell("tried")
            print(json.dumps({"codes": codes}))
        """,
        2,
    )
    assert fact == {"codes": [[INVALID, None], [INVALID, None]]}
