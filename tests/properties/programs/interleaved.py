"""Two graphs replayed at once end as one after the other, under the schedules that are given.

Arguments: how many pairs of random graphs, then seeds of schedules; each runs in a fork of its own.
"""

from __future__ import annotations

import gc
import importlib
import os
import random
import sys
import threading

import numpy as np
from helpers.gemm import problem
from helpers.kernels import compile_hip
from helpers.random_ways import SOURCE, Device, over_streams, random_memory
from helpers.random_work import CONSTANT, draw_work

from hipgraph_shmem import Buffer, Event, Stream, capture
from hipgraph_shmem.memory import from_numpy
from hipgraph_shmem.splitk import Gemm

SIZES = (17, 65, 136)
TURNS = 3


class Half:
    """One of the two graphs: random work between split-K GEMMs, on memory of its own."""

    def __init__(self, seed, constant, operands):
        draw = random.Random(seed)
        self.device = Device(constant)
        self.stream = Stream()
        self.out = Buffer((SIZES[0], SIZES[1]), np.float32)
        self.before = random_memory(seed)
        self.work = draw_work(draw)
        gemm = Gemm(*SIZES, split_k=draw.choice([2, 3]))
        main = self.device.streams[0]
        gemm(main, *operands, self.out)  # loads its code, which a capture would tell
        with capture(main) as captured:
            gemm(main, *operands, self.out)
            over_streams(self.device, self.work, draw, captured=True)
            gemm(main, *operands, self.out)
        self.graph = captured.graph
        self.graph_exec = self.graph.instantiate()

    def reset(self):
        self.before[CONSTANT] = self.device.constant.to_numpy(self.stream)
        self.device.write(self.before)
        self.out.fill(0xFF, self.stream)

    def launch(self):
        for _ in range(TURNS):
            self.graph_exec.launch(self.stream)

    def result(self):
        self.stream.synchronize()
        return self.device.read().tobytes(), self.out.to_numpy(self.stream).tobytes()

    def expected(self):
        memory = self.before.copy()
        for operation in self.work * TURNS:
            operation.apply(memory)
        return memory.tobytes()

    def close(self):
        for each in (self.graph_exec, self.graph, self.out, self.stream, self.device):
            each.close()


class Gate:
    """Lets streams go on at the same moment."""

    def __init__(self, stream):
        self.stream, self.event, self.opened = stream, Event(timing=False), threading.Event()

    def hold(self, *streams):
        self.opened.clear()
        self.stream.launch_host(self.opened.wait)
        self.event.record(self.stream)
        for stream in streams:
            stream.wait(self.event)

    def open(self):
        self.opened.set()


def compare(pairs):
    stream = Stream()
    gate, given = Gate(stream), problem(*SIZES)
    operands = from_numpy(given.a, stream), from_numpy(given.b, stream)
    constant = from_numpy(random_memory(0)[CONSTANT], stream)
    for pair in range(pairs):
        halves = [Half(2 * pair + each, constant, operands) for each in range(2)]
        serial = []
        for half in halves:
            half.reset()
            half.launch()
            serial.append(half.result())
            assert serial[-1][0] == half.expected(), pair
        for half in halves:
            half.reset()
        gate.hold(*(half.stream for half in halves))
        for half in halves:
            half.launch()
        gate.open()
        assert [half.result() for half in halves] == serial, pair
        for half in halves:
            half.close()


def main(pairs, seeds):
    assert importlib.import_module("hip").hip  # slow, and opens no library yet
    compile_hip(SOURCE)
    gc.freeze()
    for seed in seeds:
        child = os.fork()
        if child == 0:
            os.environ["HIPGRAPH_EMU_SEED"] = seed
            compare(int(pairs))
            return
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status == 0, f"HIPGRAPH_EMU_SEED={seed}: status {status}"
    print("equal")


main(sys.argv[1], sys.argv[2:])
