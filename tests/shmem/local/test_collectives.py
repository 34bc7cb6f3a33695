"""The local provider: all-to-all, broadcast and reductions against NumPy, eager and replayed."""

import ml_dtypes
import numpy as np
import pytest
from helpers import hip_ctypes, pes
from helpers.pes import Pe

DTYPES = {
    "float": np.float32,
    "double": np.float64,
    "int": np.int32,
    "long": np.int64,
    "bfloat16": ml_dtypes.bfloat16,
}
REDUCTIONS = {"sum": np.add, "min": np.minimum, "max": np.maximum, "prod": np.multiply}
SIZES = [1, 2, 4]


def numbers(pe: int, count: int, dtype, round_: int = 0) -> np.ndarray:
    generator = np.random.default_rng([pe, count, round_])
    return generator.integers(-4, 5, count).astype(dtype)


def replayed(pe: Pe, stream: int, record, check):
    """Run once as it comes, then three times as a graph, with fresh inputs each time."""

    def launch():
        hip_ctypes.ok("hipGraphLaunch", graph, stream)

    graph = 0
    for round_ in range(4):
        if round_ == 1:
            hip_ctypes.begin(stream, hip_ctypes.THREAD_LOCAL)
            record()
            graph = hip_ctypes.instantiate(hip_ctypes.end(stream))
        check(round_, launch if round_ else record)


def synchronize(pe: Pe, stream: int) -> None:
    hip_ctypes.ok("hipStreamSynchronize", stream)
    pe.ok("hgs_check")


def all_to_all(pe: Pe):
    pe.init()
    stream, n_pes, count = hip_ctypes.stream(), pe.n_pes, 37
    source, target = (pe.out("hgs_calloc", n_pes * count, 4) for _ in range(2))
    args = pe.world(), target, source, 4 * count, stream

    def check(round_, run):
        pe.write(source, numbers(pe.pe, n_pes * count, np.int32, round_))
        run()
        synchronize(pe, stream)
        sent = [numbers(peer, n_pes * count, np.int32, round_) for peer in range(n_pes)]
        mine = slice(pe.pe * count, (pe.pe + 1) * count)
        expected = np.concatenate([each[mine] for each in sent])
        assert (pe.read(target, n_pes * count, np.int32) == expected).all()

    replayed(pe, stream, lambda: pe.ok("hgs_alltoallmem_on_stream", *args), check)
    pe.ok("hgs_finalize")


def broadcast(pe: Pe):
    pe.init()
    stream, count = hip_ctypes.stream(), 1000
    source, target = (pe.out("hgs_calloc", count, 4) for _ in range(2))
    for root in range(pe.n_pes):
        for to in (target, source):
            args = pe.world(), to, source, 4 * count, root, stream

            def check(round_, run, root=root, to=to):
                pe.write(source, numbers(pe.pe, count, np.int32, round_))
                run()
                synchronize(pe, stream)
                expected = numbers(root, count, np.int32, round_)
                assert (pe.read(to, count, np.int32) == expected).all()

            def record(args=args):
                pe.ok("hgs_broadcastmem_on_stream", *args)

            replayed(pe, stream, record, check)
    pe.ok("hgs_finalize")


def reduce(pe: Pe):
    pe.init()
    stream, room = hip_ctypes.stream(), 3000
    source, target = (pe.out("hgs_calloc", room, 8) for _ in range(2))
    for name, dtype in DTYPES.items():
        for operation, function in REDUCTIONS.items():
            for count, to in ((1, target), (777, target), (100, source)):
                pe.write(source, numbers(pe.pe, count, dtype))
                call = f"hgs_{name}_{operation}_reduce_on_stream"
                pe.ok(call, pe.world(), to, source, count, stream)
                synchronize(pe, stream)
                terms = [numbers(peer, count, dtype) for peer in range(pe.n_pes)]
                # The numbers are small enough that every result is exact.
                expected = function.reduce(np.array(terms, np.float64)).astype(dtype)
                found = pe.read(to, count, dtype)
                assert (found == expected).all(), (call, count)
    pe.ok("hgs_finalize")


def replay_reduce_in_place(pe: Pe):
    pe.init()
    stream, count = hip_ctypes.stream(), 513
    block = pe.out("hgs_calloc", count, 4)
    args = pe.world(), block, block, count, stream

    def check(round_, run):
        pe.write(block, numbers(pe.pe, count, np.float32, round_))
        run()
        synchronize(pe, stream)
        terms = [numbers(peer, count, np.float32, round_) for peer in range(pe.n_pes)]
        assert (pe.read(block, count, np.float32) == np.sum(terms, axis=0)).all()

    replayed(pe, stream, lambda: pe.ok("hgs_float_sum_reduce_on_stream", *args), check)
    pe.ok("hgs_finalize")


def reduce_in_teams(pe: Pe):
    pe.init()
    stream, count, world = hip_ctypes.stream(), 50, pe.world()
    block = pe.out("hgs_calloc", count, 8)
    pe.write(block, numbers(pe.pe, count, np.int64))
    even = pe.out("hgs_team_split_strided", world, 0, 2, 2)
    odd = pe.out("hgs_team_split_strided", world, 1, 2, 2)
    pe.ok("hgs_long_sum_reduce_on_stream", even or odd, block, block, count, stream)
    synchronize(pe, stream)
    expected = sum(numbers(peer, count, np.int64) for peer in (pe.pe % 2, pe.pe % 2 + 2))
    assert (pe.read(block, count, np.int64) == expected).all()
    pe.ok("hgs_finalize")


@pytest.mark.parametrize("n_pes", SIZES)
@pytest.mark.parametrize(
    "function", [all_to_all, broadcast, reduce, replay_reduce_in_place], ids=lambda f: f.__name__
)
def test_equals_numpy(function, n_pes):
    pes.values(pes.run(function, n_pes, timeout=180))


def test_reductions_of_two_teams_at_once():
    pes.values(pes.run(reduce_in_teams, 4))
