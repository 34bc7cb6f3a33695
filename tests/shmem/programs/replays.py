"""One operation on a stream, eager and then replayed with fresh inputs; argument: its name."""

import sys

import ml_dtypes
import numpy as np

from hipgraph_shmem import Buffer, Stream, capture, shmem
from hipgraph_shmem.shmem import Comparison, Reduction, SignalOp, on_stream

REPLAYS = 8
WORDS = 1000


class Case:
    """Memory of an operation: `work` records it, `fill` gives inputs, `check` looks at results."""

    def __init__(self, stream):
        self.stream = stream
        self.pe, self.n_pes = shmem.my_pe(), shmem.n_pes()
        self.after = (self.pe + 1) % self.n_pes
        self.before = (self.pe - 1) % self.n_pes
        self.owned = []

    def symmetric(self, *args):
        self.owned.append(shmem.zeros(*args))
        return self.owned[-1]

    def inputs(self, pe, step, words=WORDS, dtype=np.int32):
        """The same numbers on each PE: what PE `pe` has as input of a step."""
        random = np.random.default_rng([pe, step])
        if np.issubdtype(dtype, np.integer):
            return random.integers(-9, 9, words).astype(dtype)
        return random.standard_normal(words).astype(np.float32).astype(dtype)

    def close(self):
        shmem.barrier()
        for array in self.owned:
            array.free()


class Put(Case):
    def __init__(self, stream):
        super().__init__(stream)
        self.target = self.symmetric(WORDS, np.int32)
        self.source = Buffer(WORDS, np.int32)

    def fill(self, step):
        self.source.copy_from(self.inputs(self.pe, step), self.stream)

    def work(self):
        on_stream.put(self.target, self.source, self.after, self.stream)
        on_stream.quiet(self.stream)
        on_stream.barrier(self.stream)

    def check(self, step):
        np.testing.assert_array_equal(
            self.target.to_numpy(self.stream), self.inputs(self.before, step)
        )
        shmem.barrier()


class Get(Put):
    def __init__(self, stream):
        super().__init__(stream)
        self.source, self.target = self.target, self.source

    def work(self):
        on_stream.sync(self.stream)
        on_stream.get(self.target, self.source, self.before, self.stream)
        on_stream.barrier(self.stream)


class Peer(Put):
    """Another PE's memory as mapped here, in plain copies: its address is frozen in the graph."""

    def work(self):
        self.target.peer(self.after).copy_from(self.source, self.stream)
        on_stream.barrier(self.stream)


class PutSignal(Put):
    """A put and an added signal; the wait compares with a count that grows by one each replay."""

    def __init__(self, stream):
        super().__init__(stream)
        self.signals = self.symmetric(2, np.uint64)

    def work(self):
        signal = self.signals[1]
        on_stream.put_signal(
            self.target, self.source, signal, 1, self.after, self.stream, op=SignalOp.ADD
        )
        on_stream.wait_until(signal, Comparison.GE, 1, self.stream)
        # Taken back by its reader, so that the next replay waits again.
        on_stream.signal_add(signal, 2**64 - 1, self.pe, self.stream)
        on_stream.barrier(self.stream)


class Signal(Case):
    """Signals alone: set by the PE before, waited for, set back."""

    def __init__(self, stream):
        super().__init__(stream)
        self.signals = self.symmetric(4, np.uint64)
        self.seen = Buffer(4, np.uint64)

    def fill(self, _step):
        self.seen.fill(0, self.stream)

    def work(self):
        signals, stream = self.signals, self.stream
        on_stream.signal_set(signals[0], 7, self.after, stream)
        on_stream.signal_add(signals[1], 5, self.after, stream)
        on_stream.wait_until(signals[0], Comparison.EQ, 7, stream)
        on_stream.wait_until(signals[1], Comparison.GT, 4, stream)
        self.seen.copy_from(signals, stream)
        on_stream.signal_set(signals[0], 0, self.pe, stream)
        on_stream.signal_set(signals[1], 0, self.pe, stream)
        on_stream.barrier(stream)

    def check(self, _step):
        assert self.seen.to_numpy(self.stream).tolist() == [7, 5, 0, 0]
        assert self.signals.to_numpy(self.stream).tolist() == [0, 0, 0, 0]
        shmem.barrier()


class Alltoall(Case):
    def __init__(self, stream):
        super().__init__(stream)
        self.words = WORDS * self.n_pes
        self.target = self.symmetric(self.words, np.int32)
        self.source = self.symmetric(self.words, np.int32)

    def fill(self, step):
        self.source.copy_from(self.inputs(self.pe, step, self.words), self.stream)

    def work(self):
        on_stream.alltoall(self.target, self.source, self.stream)

    def check(self, step):
        mine = slice(self.pe * WORDS, (self.pe + 1) * WORDS)
        expected = [self.inputs(pe, step, self.words)[mine] for pe in range(self.n_pes)]
        np.testing.assert_array_equal(self.target.to_numpy(self.stream), np.concatenate(expected))


class Broadcast(Put):
    def __init__(self, stream):
        super().__init__(stream)
        self.source = self.symmetric(WORDS, np.int32)
        self.root = self.n_pes - 1

    def work(self):
        on_stream.broadcast(self.target, self.source, self.root, self.stream)

    def check(self, step):
        np.testing.assert_array_equal(
            self.target.to_numpy(self.stream), self.inputs(self.root, step)
        )


class Reduce(Case):
    """Every element type and operation, out of place; sums also in place."""

    def __init__(self, stream):
        super().__init__(stream)
        self.cases = []
        for dtype in (np.float32, np.float64, np.int32, np.int64, ml_dtypes.bfloat16):
            for how in Reduction:
                source = self.symmetric(WORDS, dtype)
                in_place = dtype == np.float32 and how is Reduction.SUM
                target = source if in_place else self.symmetric(WORDS, dtype)
                self.cases.append((np.dtype(dtype), how, target, source))

    def fill(self, step):
        for dtype, _, _, source in self.cases:
            source.copy_from(self.inputs(self.pe, step, dtype=dtype), self.stream)

    def work(self):
        for _, how, target, source in self.cases:
            on_stream.reduce(target, source, how, self.stream)

    def check(self, step):
        for dtype, how, target, _ in self.cases:
            parts = [self.inputs(pe, step, dtype=dtype) for pe in range(self.n_pes)]
            found = target.to_numpy(self.stream)
            wide = np.float64 if dtype.kind not in "iu" else np.int64
            parts = np.array([part.astype(wide) for part in parts])
            function = {"SUM": np.sum, "PROD": np.prod, "MIN": np.min, "MAX": np.max}[how.name]
            expected = function(parts, axis=0)
            if dtype.kind in "iu":
                np.testing.assert_array_equal(found, expected.astype(dtype))
                continue
            magnitude = function(np.abs(parts), axis=0) if how.name in ("SUM", "PROD") else 0
            unit = float(ml_dtypes.finfo(dtype).eps)
            bound = self.n_pes * unit * (magnitude + np.abs(expected))
            if how.name in ("MIN", "MAX"):
                bound = 0
            error = np.abs(found.astype(np.float64) - expected)
            assert np.all(error <= bound), (dtype, how, error.max())


class Empty(Put):
    """Zero bytes everywhere: nothing happens, and the barriers still count."""

    def work(self):
        nothing, none = self.target[:0], self.symmetric_none
        on_stream.put(nothing, none, self.after, self.stream)
        on_stream.get(none, nothing, self.after, self.stream)
        on_stream.broadcast(nothing, nothing, 0, self.stream)
        on_stream.alltoall(nothing, nothing, self.stream)
        on_stream.reduce(nothing, nothing, Reduction.SUM, self.stream)
        on_stream.barrier(self.stream)

    def __init__(self, stream):
        super().__init__(stream)
        self.symmetric_none = Buffer(0, np.int32)

    def check(self, _step):
        assert not self.target.to_numpy(self.stream).any()


CASES = {
    "put": Put,
    "get": Get,
    "peer": Peer,
    "put_signal": PutSignal,
    "signal": Signal,
    "alltoall": Alltoall,
    "broadcast": Broadcast,
    "reduce": Reduce,
    "empty": Empty,
}


def main():
    shmem.init()
    with Stream() as stream:
        case = CASES[sys.argv[1]](stream)
        case.fill(0)
        case.work()
        stream.synchronize()
        case.check(0)
        with capture(stream) as captured:
            case.work()
        with captured.graph as graph, graph.instantiate() as graph_exec:
            assert graph.check() == ()
            for step in range(1, REPLAYS + 1):
                case.fill(step)
                graph_exec.launch(stream)
                stream.synchronize()
                case.check(step)
        case.close()
    assert not shmem.finalize(strict=True)


main()
