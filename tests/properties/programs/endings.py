"""Ends in the ways that its words name; each runs in a fork of its own, which ends by itself.

A word is STATE:END:NAMES: what the device does, how the process ends, and the order in which the
objects go. Prints a JSON object with the exit status and the stderr of each word; null is the
status of what did not end.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import sys
import tempfile
import threading
import time

import numpy as np
from helpers.kernels import compile_hip

from hipgraph_shmem import (
    Buffer,
    CaptureError,
    Graph,
    GraphExec,
    LaunchConfig,
    Module,
    Stream,
    capture,
)
from hipgraph_shmem.launch import launch
from hipgraph_shmem.runtime import library

SOURCE = """
extern "C" __global__ void slow(volatile int* out) { for (int i = 0; i < 20000; ++i) out[1] = i; }
extern "C" __global__ void hang(volatile int* out) { while (out[0] == 0) {} }
"""
IMAGE = compile_hip(SOURCE)
ONE = LaunchConfig((1, 1, 1), (64, 1, 1))
SECONDS = 20


class Closer:
    """Closes what it is given when it goes."""

    def __init__(self, objects):
        self.objects = objects

    def __del__(self):
        close(self.objects)


def objects_in(state):
    """Make one object of each kind and put the device into a state."""
    stream, module, buffer = Stream(), Module(IMAGE), Buffer(16, np.int32)
    buffer.fill(0, stream)
    kernel = module.kernel("hang" if state == "hung" else "slow")
    graph = Graph()
    graph.add_kernel(kernel, ONE, buffer)
    graph_exec = graph.instantiate()
    made = {"stream": stream, "graph": graph, "exec": graph_exec, "buffer": buffer}
    made["module"] = module
    if state == "capturing":
        made["block"] = capture(stream)
        made["block"].__enter__()
        launch(stream, kernel, ONE, buffer)
    else:
        graph_exec.launch(stream)
    if state == "idle":
        stream.synchronize()
    return made


def close(objects):
    for each in objects:
        if not hasattr(each, "close"):
            each.__exit__(None, None, None)
            continue
        # Memory and a capturing stream are not closed before the block: a refusal, not a fault.
        with contextlib.suppress(CaptureError):
            each.close()


def end(state, how, names):
    """Do what the word says; where it returns, the interpreter ends with the objects alive."""
    made = objects_in(state)
    ordered = [made[name] for name in names.split(",")]
    del made
    if how == "globals":
        # The interpreter clears a module's names in the order in which they were set.
        while ordered:
            globals()[f"kept_{len(ordered)}"] = ordered.pop(0)
    else:
        globals()[f"end_by_{how}"](ordered)


def one(kind, objects):
    return next(each for each in objects if isinstance(each, kind))


def end_by_del(ordered):
    while ordered:
        del ordered[0]


def end_by_close(ordered):
    close(ordered)


def end_by_atexit(ordered):
    atexit.register(close, ordered)


def end_by_finalizer(ordered):
    globals()["kept"] = Closer(ordered)


def end_by_cycle(ordered):
    gc.disable()
    for each in ordered:
        ring = [each]
        ring.append(ring)


def end_by_exit(ordered):
    globals()["kept"] = ordered
    sys.exit(3)


def end_by_os_exit(ordered):
    globals()["kept"] = ordered
    os._exit(4)


def end_by_error(ordered):
    stream, buffer = one(Stream, ordered), one(Buffer, ordered)
    with capture(stream):
        buffer.fill(1, stream)
        raise KeyError("in the block")


def end_by_exit_in_a_block(ordered):
    stream, buffer = one(Stream, ordered), one(Buffer, ordered)
    with capture(stream):
        buffer.fill(1, stream)
        sys.exit(5)


def end_by_os_exit_in_a_block(ordered):
    with capture(one(Stream, ordered)):
        os._exit(6)


def end_by_daemon_replay(ordered):
    """A thread replays for ever."""
    graph_exec = one(GraphExec, ordered)
    stream = one(Stream, ordered)

    def replay():
        while True:
            graph_exec.launch(stream)
            stream.synchronize()

    globals()["kept"] = ordered
    threading.Thread(target=replay, daemon=True).start()
    time.sleep(0.02)


def end_by_daemon_wait(ordered):
    """A thread waits in the library."""
    stream = one(Stream, ordered)
    globals()["kept"] = ordered
    threading.Thread(target=stream.synchronize, daemon=True).start()
    time.sleep(0.02)


def end_by_daemon_capture(ordered):
    """A thread is in a capture block."""
    entered = threading.Event()

    def record():
        with Stream() as stream, capture(stream):
            entered.set()
            time.sleep(SECONDS)

    globals()["kept"] = ordered
    threading.Thread(target=record, daemon=True).start()
    entered.wait()


def end_by_thread(ordered):
    """The main thread ends first; the last work is done by another."""
    graph_exec = one(GraphExec, ordered)

    def last():
        time.sleep(0.05)
        with Stream() as stream:
            graph_exec.launch(stream)
            stream.synchronize()
        close(ordered)

    threading.Thread(target=last).start()


def end_by_callback(ordered):
    """A host function in Python comes when the interpreter is gone, or nearly."""
    stream = one(Stream, ordered)
    call_host(stream, lambda _: time.sleep(0.001), 1000)
    globals()["kept"] = ordered


def end_by_exit_in_a_callback(ordered):
    """SystemExit does not leave a host function; ctypes says so."""
    stream = one(Stream, ordered)
    call_host(stream, lambda _: sys.exit(7), 1)
    stream.synchronize()
    globals()["kept"] = ordered


def end_by_os_exit_in_a_callback(ordered):
    stream = one(Stream, ordered)
    call_host(stream, lambda _: os._exit(8), 1)
    stream.synchronize()
    time.sleep(SECONDS)


def call_host(stream, function, times):
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)
    globals()["callback"] = callback
    for _ in range(times):
        code = library().pointers.hipLaunchHostFunc(ctypes.c_void_p(stream.handle), callback, None)
        assert code == 0


def status_of(child):
    """Wait for a child; None if it had to be killed."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def main(words):
    assert importlib.import_module("hip").hip  # slow, and opens no library yet
    gc.freeze()  # or each fork would spend most of its time on copies of pages
    results = {}
    for word in words:
        with tempfile.TemporaryFile() as stderr:
            child = os.fork()
            if child == 0:
                os.dup2(stderr.fileno(), 2)
                end(*word.split(":"))
                return
            status = status_of(child)
            stderr.seek(0)
            results[word] = {"status": status, "stderr": stderr.read().decode()}
    print(json.dumps(results))


main(sys.argv[1:])
