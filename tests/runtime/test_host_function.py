"""Host functions: called in stream order by another thread, and safe however they end."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from helpers.process import on_this_library, run_python

from hipgraph_shmem.errors import CaptureError
from hipgraph_shmem.graph import capture
from hipgraph_shmem.hip_abi import CaptureMode
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import call
from hipgraph_shmem.stream import Stream


def test_a_call_is_between_the_work_before_and_behind(stream: Stream) -> None:
    with Stream() as other, Buffer(4) as buffer:
        seen: list[int] = []
        go = threading.Event()
        buffer.fill(1, stream)

        def wait() -> None:
            assert go.wait(30)
            seen.append(1)

        stream.launch_host(wait)
        buffer.fill(2, stream)
        event = stream.record()
        assert not event.query()
        assert set(buffer.to_numpy(other)) == {1}
        go.set()
        event.synchronize()
        assert (seen, set(buffer.to_numpy(stream))) == ([1], {2})


def test_each_error_is_raised_once_at_a_wait(stream: Stream) -> None:
    def fail(word: str) -> None:
        raise KeyError(word)

    stream.launch_host(lambda: fail("first"))
    stream.launch_host(lambda: fail("second"))
    for word in ("first", "second"):
        with pytest.raises(KeyError, match=word):
            stream.synchronize()
    stream.synchronize()


def test_a_capture_of_others_is_refused(stream: Stream) -> None:
    call("hipStreamBeginCapture", stream.handle, CaptureMode.RELAXED)
    with pytest.raises(CaptureError, match="begin the capture with"):
        stream.launch_host(lambda: None)
    call("hipGraphDestroy", call("hipStreamEndCapture", stream.handle))


def test_an_abandoned_capture_lets_the_function_go(stream: Stream) -> None:
    class Call:
        def __call__(self) -> None:
            """Do nothing."""

    function = Call()
    alive = weakref.ref(function)
    with pytest.raises(ZeroDivisionError), capture(stream):
        stream.launch_host(function)
        raise ZeroDivisionError
    del function
    gc.collect()
    assert alive() is None


EXIT = """
import time
from hipgraph_shmem import Graph, Stream
stream, graph = Stream(), Graph()
graph.add_host(lambda: (time.sleep(0.05), print("called", flush=True)))
graph_exec = graph.instantiate()
for _ in range(3):
    graph_exec.launch(stream)
stream.launch_host(lambda: print("last", flush=True))
{last}
"""


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("last", ["", "del graph_exec, graph, stream", "raise SystemExit(0)"])
def test_calls_that_are_due_happen_before_the_interpreter_goes(last: str) -> None:
    done = run_python(EXIT.format(last=last), **on_this_library())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["called"] * 3 + ["last"]
