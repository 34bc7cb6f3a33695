"""A graph exec that does not end is explained, and disturbs nobody. Spinning runs in a child."""

from __future__ import annotations

import json
import re
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest
from helpers.process import run_python

from hipgraph_shmem.errors import CaptureError, HangError
from hipgraph_shmem.graph import Graph, capture
from hipgraph_shmem.graph.hang import CounterReader
from hipgraph_shmem.hip_abi import CaptureMode
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import state
from hipgraph_shmem.splitk import Gemm
from hipgraph_shmem.stream import Event, Stream

SETUP = '''
import json, threading, time
import numpy as np
from helpers.kernels import compile_hip
from hipgraph_shmem.errors import HangError
from hipgraph_shmem.graph import capture
from hipgraph_shmem.launch import LaunchConfig, launch, pack
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.module import Module
from hipgraph_shmem.splitk.run import run
from hipgraph_shmem.splitk.work import Step, Work
from hipgraph_shmem.stream import Stream

SOURCE = """
extern "C" __global__ void count_and_wait(unsigned* counters, unsigned* flag) {
  __hip_atomic_fetch_add(counters + 1, 7u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) == 0) {}
}
"""
module = Module(compile_hip(SOURCE))
kernel = module.kernel("count_and_wait")
stream = Stream()

def exec_with_counters(flag):
    arguments = lambda counters, workspace: pack(kernel.metadata, (counters, flag))
    step = Step(kernel, LaunchConfig((2, 1, 1)), arguments, reads=())
    with capture(stream) as captured:
        run(stream.handle, Work(0, (step,), (flag,), counter_words=3))
    return captured.graph.instantiate()
'''


def child(code: str) -> dict[str, Any]:
    done = run_python(SETUP + textwrap.dedent(code), 120)
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


@pytest.mark.usefixtures("emulated")
def test_a_deadlock_names_exec_kernel_and_every_counter() -> None:
    facts = child(
        """
        flag = Buffer(1, np.uint32)
        flag.fill(0, stream, width=4)
        graph_exec = exec_with_counters(flag)
        graph_exec.launch(stream)
        try:
            graph_exec.wait(timeout=60)
        except HangError as error:
            hang = error
        flag.fill(1, stream, width=4)
        graph_exec.launch(stream)
        graph_exec.wait(timeout=60)
        print(json.dumps({"exec": repr(graph_exec), "waited_for": hang.waited_for,
            "kernels": hang.kernels, "counters": hang.counters, "report": hang.report,
            "seconds": hang.seconds, "state": hang.state, "text": str(hang)}))
        """
    )
    assert facts["waited_for"] == facts["exec"]
    assert facts["seconds"] < 30
    (kernel,) = facts["kernels"]
    assert re.fullmatch(r"count_and_wait \(graph exec \d+ node \d+\)", kernel)
    ((name, _, values),) = facts["counters"]
    assert (name, values) == ("count_and_wait", [0, 2 * 64 * 7, 0])
    assert "usable again" in facts["state"]
    assert "count_and_wait" in facts["report"]
    assert "0, 896, 0" in facts["text"]


@pytest.mark.usefixtures("emulated")
def test_work_that_runs_on_is_told_apart_and_may_end_later() -> None:
    """The host could still set the flag, so no deadlock is proven."""
    facts = child(
        """
        flag = PinnedBuffer(1, np.uint32)
        flag.array[0] = 0
        graph_exec = exec_with_counters(flag)
        graph_exec.launch(stream)
        ticks, over = [0], threading.Event()

        def tick():
            while not over.wait(0.01):
                ticks[0] += 1

        ticker = threading.Thread(target=tick)
        ticker.start()
        try:
            graph_exec.synchronize(timeout=1)
        except HangError as error:
            hang = error
        over.set()
        ticker.join()
        flag.array[0] = 1
        graph_exec.wait(timeout=60)
        print(json.dumps({"ticks": ticks[0], "counters": hang.counters, "kernels": hang.kernels,
            "state": hang.state, "report": hang.report, "flag": flag.address}))
        """
    )
    assert facts["ticks"] > 20
    ((_, _, values),) = facts["counters"]
    assert values == [0, 2 * 64 * 7, 0]
    (kernel,) = facts["kernels"]
    assert kernel.startswith("count_and_wait (graph exec ")
    assert "runs on" in facts["state"]
    # Every wave, where it is, and what it looks at.
    assert "2 waves of 1 kernel have not ended" in facts["report"]
    assert re.search(r"waves? at count_and_wait\+0x[0-9a-f]+: ", facts["report"])
    assert f"{facts['flag']:#x} = hipHostMalloc" in facts["report"]


@pytest.mark.usefixtures("emulated")
def test_a_stream_that_is_waited_for_in_vain_tells_its_kernel(stream: Stream, gate: Any) -> None:
    hold, flag = gate
    hold(stream)
    with pytest.raises(HangError) as caught:
        stream.synchronize(timeout=0.2)
    flag.array[0] = 1
    stream.synchronize(timeout=30)
    assert caught.value.kernels == (f"wait_for (stream {stream.handle:#x})",)
    assert "wait_for+0x" in caught.value.report


@pytest.mark.usefixtures("emulated")
def test_a_deadlock_of_before_explains_no_later_hang() -> None:
    facts = child(
        """
        flag = Buffer(1, np.uint32)
        flag.fill(0, stream, width=4)
        stuck = exec_with_counters(flag)
        stuck.launch(stream)
        try:
            stuck.wait(timeout=60)
        except HangError as error:
            first = error
        later = PinnedBuffer(1, np.uint32)
        later.array[0] = 0
        graph_exec = exec_with_counters(later)
        graph_exec.launch(stream)
        try:
            graph_exec.wait(timeout=1)
        except HangError as error:
            second = error
        later.array[0] = 1
        graph_exec.wait(timeout=60)
        print(json.dumps({"first": first.kernels, "second": second.kernels}))
        """
    )
    assert len(facts["first"]) == 1
    assert facts["second"] == []


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("proven", [True, False], ids=["deadlock", "runs on"])
@pytest.mark.parametrize("wait", ["graph_exec.wait", "stream.synchronize", "event.synchronize"])
def test_c008_explaining_a_hang_disturbs_no_capture(wait: str, proven: bool) -> None:
    """Counters are read, waves reported and the failure taken while another thread captures."""
    facts = child(
        f"""
        from hipgraph_shmem.graph import CaptureMode
        flag = {"Buffer" if proven else "PinnedBuffer"}(1, np.uint32)
        {"flag.fill(0, stream, width=4)" if proven else "flag.array[0] = 0"}
        graph_exec = exec_with_counters(flag)
        begun, hung, nodes = threading.Event(), threading.Event(), []

        def record():
            with Stream() as other:
                with capture(other, CaptureMode.GLOBAL) as captured:
                    out.fill(1, other)
                    begun.set()
                    hung.wait(60)
                    out.fill(2, other)
                nodes.append(len(captured.graph.nodes))

        out = Buffer(64)
        recorder = threading.Thread(target=record)
        recorder.start()
        begun.wait(60)
        graph_exec.launch(stream)
        event = stream.record()
        try:
            {wait}(timeout={60 if proven else 1})
        except HangError as error:
            hang = error
        if not {proven}:
            flag.array[0] = 1
        hung.set()
        recorder.join()
        stream.synchronize(timeout=60)
        print(json.dumps({{"nodes": nodes, "counters": hang.counters, "report": hang.report}}))
        """
    )
    assert facts["nodes"] == [2]
    assert bool(facts["report"]) is proven
    if wait == "graph_exec.wait":
        ((_, _, values),) = facts["counters"]
        assert values == [0, 2 * 64 * 7, 0]


def test_a_launch_that_ends_is_waited_for(stream: Stream) -> None:
    with Buffer(64) as buffer, Graph() as graph:
        graph.add_memset(buffer, 1, 64)
        with graph.instantiate() as graph_exec:
            graph_exec.wait(timeout=0)
            graph_exec.launch(stream)
            graph_exec.wait(timeout=30)
            graph_exec.wait()
            assert set(buffer.to_numpy(stream)) == {1}


def test_c008_waiting_with_a_timeout_disturbs_no_capture(stream: Stream, gate: Any) -> None:
    """Another thread captures in the strictest mode while this one asks again and again."""
    hold, flag = gate
    graph_begun, waited = threading.Event(), threading.Event()
    graphs: list[Graph] = []

    def record() -> None:
        with Stream() as other, Buffer(64) as buffer:
            with capture(other, CaptureMode.GLOBAL) as captured:
                buffer.fill(1, other)
                graph_begun.set()
                waited.wait(60)
                buffer.fill(2, other)
            assert len(captured.graph.nodes) == 2
            captured.graph.close()
            graphs.append(captured.graph)

    with Buffer(64) as buffer, Graph() as graph:
        graph.add_memset(buffer, 1, 64)
        graph_exec = graph.instantiate()
        hold(stream)
        graph_exec.launch(stream)
        event = stream.record()
        recorder = threading.Thread(target=record)
        recorder.start()
        assert graph_begun.wait(60)
        try:
            for wait in (graph_exec.wait, stream.synchronize, event.synchronize):
                with pytest.raises(HangError):
                    wait(timeout=0.05)
        finally:
            flag.array[0] = 1  # first: freeing memory waits for the device
            waited.set()
            recorder.join()
        graph_exec.wait(timeout=30)
        graph_exec.close()
        event.close()
    assert len(graphs) == 1


def test_an_event_of_an_open_capture_is_refused_with_a_timeout_too(stream: Stream) -> None:
    with Event() as event, capture(stream) as captured:
        event.record(stream)
        with pytest.raises(CaptureError, match="hipEventQuery"):
            event.synchronize(timeout=1)
        with pytest.raises(CaptureError, match="hipStreamQuery"):
            stream.synchronize(timeout=1)
    captured.graph.close()


@pytest.mark.usefixtures("emulated")
def test_counters_of_an_exec_are_read_in_pieces(stream: Stream) -> None:
    from hipgraph_shmem.graph.hang import counter_reader

    began = time.monotonic()
    with Buffer(5000, "uint32") as words:
        words.copy_from(np.arange(5000, dtype=np.uint32), stream)
        assert counter_reader(0).read(words.address, 5000) == tuple(range(5000))
        assert counter_reader(0).read(8, 1) is None
    assert time.monotonic() - began < 30


def test_what_reads_the_counters_of_a_hang_is_made_with_the_exec(stream):
    gemm = Gemm(16, 64, 256, split_k=2)
    with (
        Buffer((16, 256), "bfloat16") as a,
        Buffer((64, 256), "bfloat16") as b,
        Buffer((16, 64), "float32") as out,
    ):
        with capture(stream) as captured:
            gemm(stream, a, b, out)
        assert (CounterReader, 0) not in state.shared
        with captured.graph as graph, graph.instantiate():
            assert (CounterReader, 0) in state.shared
