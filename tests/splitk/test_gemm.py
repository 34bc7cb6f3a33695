"""Our GEMM against float64 NumPy, and bit for bit against itself in every way of running it."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.gemm import Array, Problem, integers, problem, same_bits

from hipgraph_shmem.array_view import ArrayView
from hipgraph_shmem.errors import CaptureError
from hipgraph_shmem.graph import CaptureMode, Graph, capture
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.runtime import call
from hipgraph_shmem.splitk import Gemm, check
from hipgraph_shmem.splitk.counters import pool_of
from hipgraph_shmem.stream import Stream

SHAPES = [
    (1, 1, 8, 1),
    (1, 1, 16, 2),
    (3, 70, 40, 1),
    (5, 5, 72, 2),
    (17, 65, 136, 2),
    (33, 130, 1032, 5),
    (64, 256, 512, 4),
    (65, 63, 520, 3),
    (128, 64, 640, 2),
    (130, 70, 1024, 4),
    (16, 64, 4096, 16),
]
SCHEMES = ["counter", "two_kernel"]


@dataclass
class Setup:
    """A problem on the device."""

    a: Buffer
    b: Buffer
    out: Buffer
    bias: Buffer | None

    @property
    def operands(self) -> tuple[Any, ...]:
        return (self.a, self.b, self.out, self.bias)


@pytest.fixture
def upload(stream: Stream) -> Any:
    def make(given: Problem, out_dtype: str = "float32") -> Setup:
        shape = (given.a.shape[0], given.b.shape[0])
        out = Buffer(shape, out_dtype)
        out.fill(0xFF, stream)
        bias = None if given.bias is None else from_numpy(given.bias, stream)
        return Setup(from_numpy(given.a, stream), from_numpy(given.b, stream), out, bias)

    return make


def replayed(gemm: Gemm, stream: Stream, setup: Setup) -> Array:
    """Capture the GEMM, replay it three times, return the last result."""
    with capture(stream) as captured:
        gemm(stream, *setup.operands)
    results = []
    with captured.graph.instantiate() as graph_exec:
        for _ in range(3):
            setup.out.fill(0xFF, stream)
            graph_exec.launch(stream)
            results.append(setup.out.to_numpy(stream))
    assert same_bits(results[0], results[1])
    assert same_bits(results[0], results[2])
    return results[2]


def eager(gemm: Gemm, stream: Stream, setup: Setup) -> Array:
    setup.out.fill(0xFF, stream)
    gemm(stream, *setup.operands)
    return setup.out.to_numpy(stream)


@pytest.mark.parametrize(("m", "n", "k", "split_k"), SHAPES)
def test_eager_and_replayed_by_both_schemes(
    stream: Stream, upload: Any, m: int, n: int, k: int, split_k: int
) -> None:
    given = problem(m, n, k)
    setup = upload(given)
    results = []
    for scheme in SCHEMES:
        gemm = Gemm(m, n, k, split_k=split_k, scheme=scheme)
        results += [eager(gemm, stream, setup), replayed(gemm, stream, setup)]
    given.assert_right(results[0], split_k)
    assert all(same_bits(results[0], other) for other in results)
    check(stream)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("out_dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("bias_dtype", [None, "float32", "bfloat16", "float16"])
def test_element_types(
    stream: Stream, upload: Any, dtype: str, out_dtype: str, bias_dtype: str | None
) -> None:
    given = problem(20, 70, 200, dtype, bias_dtype)
    setup = upload(given, out_dtype)
    results = [
        eager(Gemm(20, 70, 200, dtype=dtype, out_dtype=out_dtype, **how), stream, setup)
        for how in ({"split_k": 3}, {"split_k": 3, "scheme": "two_kernel"}, {"split_k": 1})
    ]
    for result in results:
        given.assert_right(result, 3)
    assert same_bits(results[0], results[1])


@pytest.mark.parametrize("split_k", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_integers_are_exact(stream: Stream, upload: Any, dtype: str, split_k: int) -> None:
    given = integers(33, 66, 512, dtype)
    result = eager(Gemm(33, 66, 512, dtype=dtype, split_k=split_k), stream, upload(given))
    assert np.array_equal(result, given.product)


def test_chosen_split(stream: Stream, upload: Any) -> None:
    given = problem(16, 64, 2048)
    gemm = Gemm(16, 64, 2048)
    given.assert_right(eager(gemm, stream, upload(given)), gemm.plan.split_k)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_the_workspace_held_does_not_matter(stream: Stream, upload: Any, scheme: str) -> None:
    given = problem(40, 80, 256)
    setup = upload(given)
    gemm = Gemm(40, 80, 256, split_k=4, scheme=scheme)
    clean = eager(gemm, stream, setup)
    lease = pool_of(0).workspace.take(1 << 20)
    call("hipMemsetD32Async", lease.address, 0x7FC00000, 1 << 18, stream.handle)
    del lease
    assert same_bits(clean, eager(gemm, stream, setup))
    assert same_bits(clean, replayed(gemm, stream, setup))


def test_rows_may_be_further_apart(stream: Stream) -> None:
    given = problem(20, 70, 136)
    k_pitch, n_pitch = 144, 75
    a, b = np.full((20, k_pitch), np.nan, "bfloat16"), np.full((70, k_pitch), np.nan, "bfloat16")
    a[:, :136], b[:, :136] = given.a, given.b
    out_host = np.full((20, n_pitch), 7, np.float32)
    buffers = [from_numpy(each, stream) for each in (a, b, out_host)]
    views = [
        ArrayView(
            buffer.address,
            shape,
            buffer.dtype,
            (buffer.shape[1] * buffer.dtype.itemsize, buffer.dtype.itemsize),
            0,
            buffer,
        )
        for buffer, shape in zip(buffers, ((20, 136), (70, 136), (20, 70)), strict=True)
    ]
    Gemm(20, 70, 136, split_k=2)(stream, *views)
    result = buffers[2].to_numpy(stream)
    given.assert_right(np.ascontiguousarray(result[:, :70]), 2)
    assert np.all(result[:, 70:] == 7)


def test_raw_addresses_and_a_raw_stream(stream: Stream, upload: Any) -> None:
    given = problem(20, 70, 136, bias_dtype="float32")
    setup = upload(given)
    gemm = Gemm(20, 70, 136, split_k=2)
    gemm(stream.handle, *(buffer.address for buffer in setup.operands))
    given.assert_right(setup.out.to_numpy(stream), 2)


def test_the_null_stream_runs_eagerly(stream: Stream, upload: Any) -> None:
    given = problem(20, 70, 136)
    setup = upload(given)
    stream.synchronize()
    Gemm(20, 70, 136, split_k=2)(0, *setup.operands)
    given.assert_right(setup.out.to_numpy(0), 2)


def test_array_interface_and_dlpack_objects(stream: Stream, upload: Any) -> None:
    class Interface:
        def __init__(self, buffer: Buffer) -> None:
            self.dtype = buffer.dtype
            self.__cuda_array_interface__ = buffer.__cuda_array_interface__

    class Capsule:
        def __init__(self, buffer: Buffer) -> None:
            self.__dlpack__ = buffer.__dlpack__
            self.__dlpack_device__ = buffer.__dlpack_device__

    given = problem(20, 70, 136)
    setup = upload(given)
    Gemm(20, 70, 136, split_k=2)(stream, Interface(setup.a), Capsule(setup.b), setup.out)
    given.assert_right(setup.out.to_numpy(stream), 2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_added_to_a_graph_behind_a_dependency(stream: Stream, upload: Any, scheme: str) -> None:
    given = problem(20, 70, 136)
    setup = upload(given)
    source = from_numpy(given.a, stream)
    setup.a.fill(0, stream)
    with Graph() as graph:
        copied = graph.add_memcpy(setup.a, source)
        gemm = Gemm(20, 70, 136, split_k=2, scheme=scheme)
        last = gemm.add_to(graph, *setup.operands, dependencies=(copied,))
        assert last in graph.nodes
        assert any(before == copied for before, _ in graph.edges)
        with graph.instantiate() as graph_exec:
            for _ in range(2):
                graph_exec.launch(stream)
                given.assert_right(setup.out.to_numpy(stream), 2)


def test_operands_live_as_long_as_the_exec(stream: Stream, upload: Any) -> None:
    given = problem(20, 70, 136)
    setup = upload(given)
    out = setup.out
    with capture(stream) as captured:
        Gemm(20, 70, 136, split_k=2)(stream, *setup.operands)
    graph_exec = captured.graph.instantiate()
    del setup, captured
    gc.collect()
    for _ in range(2):
        out.fill(0, stream)
        graph_exec.launch(stream)
        given.assert_right(out.to_numpy(stream), 2)
    graph_exec.close()


def bad_calls(
    setup: Setup, stream: Stream
) -> dict[str, tuple[str, type[Exception], tuple[Any, ...]]]:
    a, b, out = setup.a, setup.b, setup.out
    closed = Buffer(a.shape, a.dtype)
    closed.close()
    unaligned = ArrayView(a.address + 2, a.shape, a.dtype, None, 0, a)
    columns = ArrayView(a.address, a.shape, a.dtype, (2, 2 * a.shape[0]), 0, a)
    odd_rows = ArrayView(a.address, a.shape, a.dtype, (2 * a.shape[1] + 2, 2), 0, a)
    overlap = ArrayView(a.address, a.shape, a.dtype, (0, 2), 0, a)
    gaps = ArrayView(a.address, a.shape, a.dtype, (4 * a.shape[1], 4), 0, a)
    odd_bytes = ArrayView(a.address, a.shape, a.dtype, (2 * a.shape[1] + 1, 2), 0, a)
    bias_gaps = ArrayView(out.address, (70,), out.dtype, (8,), 0, out)
    elsewhere = ArrayView(a.address, a.shape, a.dtype, None, 1, a)
    constant = ArrayView(out.address, out.shape, out.dtype, None, 0, out, readonly=True)
    host = np.zeros(a.shape, a.dtype)
    closed_stream = Stream()
    closed_stream.close()
    return {
        "dtype": ("a", TypeError, (stream, Buffer(a.shape, np.float32), b, out)),
        "out dtype": ("out", TypeError, (stream, a, b, Buffer(out.shape, np.float16))),
        "shape": ("b", ValueError, (stream, a, a, out)),
        "flat": ("a", ValueError, (stream, Buffer(a.nbytes // 2, a.dtype), b, out)),
        "closed": ("a", ValueError, (stream, closed, b, out)),
        "unaligned": ("a", ValueError, (stream, unaligned, b, out)),
        "column-major": ("a", ValueError, (stream, columns, b, out)),
        "unaligned rows": ("a", ValueError, (stream, odd_rows, b, out)),
        "overlapping rows": ("a", ValueError, (stream, overlap, b, out)),
        "gaps in rows": ("a", ValueError, (stream, gaps, b, out)),
        "rows of odd bytes": ("a", ValueError, (stream, odd_bytes, b, out)),
        "device": ("a", ValueError, (stream, elsewhere, b, out)),
        "read-only": ("out", ValueError, (stream, a, b, constant)),
        "host array": ("a", TypeError, (stream, host, b, out)),
        "host address": ("a", ValueError, (stream, host.ctypes.data, b, out)),
        "null": ("a", ValueError, (stream, 0, b, out)),
        "negative": ("b", ValueError, (stream, a, -16, out)),
        "None": ("a", TypeError, (stream, None, b, out)),
        "float": ("a", TypeError, (stream, 1.5, b, out)),
        "bias shape": ("bias", ValueError, (stream, a, b, out, Buffer(3, np.float32))),
        "bias dtype": ("bias", TypeError, (stream, a, b, out, Buffer(70, np.float64))),
        "gaps in the bias": ("bias", ValueError, (stream, a, b, out, bias_gaps)),
        "unaligned bias": ("bias", ValueError, (stream, a, b, out, out.address + 2)),
        "closed stream": ("closed", ValueError, (closed_stream, a, b, out)),
        "no stream": ("stream", TypeError, (None, a, b, out)),
    }


BAD_CALLS = [
    "dtype",
    "out dtype",
    "shape",
    "flat",
    "closed",
    "unaligned",
    "column-major",
    "unaligned rows",
    "overlapping rows",
    "gaps in rows",
    "rows of odd bytes",
    "device",
    "read-only",
    "host array",
    "host address",
    "null",
    "negative",
    "None",
    "float",
    "bias shape",
    "bias dtype",
    "gaps in the bias",
    "unaligned bias",
    "closed stream",
    "no stream",
]


@pytest.mark.parametrize("fault", BAD_CALLS)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_bad_call_names_the_argument_and_launches_nothing(
    stream: Stream, upload: Any, fault: str, recorded: bool
) -> None:
    setup = upload(problem(20, 70, 136))
    gemm = Gemm(20, 70, 136, split_k=2)
    argument, error, call_arguments = bad_calls(setup, stream)[fault]
    setup.out.fill(0xAB, stream)
    if recorded:
        with capture(stream) as captured, pytest.raises(error, match=argument):
            gemm(*call_arguments)
        assert captured.graph.nodes == ()
    else:
        with pytest.raises(error, match=argument):
            gemm(*call_arguments)
    assert set(setup.out.to_numpy(stream).view(np.uint8).ravel()) == {0xAB}


def test_the_table_of_bad_calls_is_complete(stream: Stream, upload: Any) -> None:
    assert list(bad_calls(upload(problem(20, 70, 136)), stream)) == BAD_CALLS


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("dtype", "float32"),
        ("dtype", "int8"),
        ("out_dtype", "float64"),
        ("scheme", "atomic"),
        ("split_k", 0),
        ("split_k", 18),
        ("k", 137),
        ("m", 0),
    ],
)
def test_a_bad_plan_names_the_argument(argument: str, value: Any) -> None:
    sizes = {"m": 20, "n": 70, "k": 136, argument: value}
    m, n, k = (sizes.pop(name) for name in ("m", "n", "k"))
    with pytest.raises(ValueError, match=f"^{argument}="):
        Gemm(m, n, k, **sizes)


def test_many_launches_in_a_row_and_side_by_side(stream: Stream, upload: Any) -> None:
    given = problem(20, 70, 136)
    setups = [upload(given) for _ in range(3)]
    stream.synchronize()
    gemm = Gemm(20, 70, 136, split_k=2)
    streams = [Stream() for _ in setups]
    for _, (each, setup) in itertools.product(range(4), zip(streams, setups, strict=True)):
        gemm(each, *setup.operands)
    for each, setup in zip(streams, setups, strict=True):
        given.assert_right(setup.out.to_numpy(each), 2)
        each.close()
    check(stream)


def test_a_capture_of_others_is_refused(stream: Stream, upload: Any) -> None:
    setup = upload(problem(20, 70, 136))
    gemm = Gemm(20, 70, 136, split_k=2)
    call("hipStreamBeginCapture", stream.handle, CaptureMode.THREAD_LOCAL)
    with pytest.raises(CaptureError, match=r"hipgraph_shmem\.graph\.capture"):
        gemm(stream, *setup.operands)
    graph = call("hipStreamEndCapture", stream.handle)
    call("hipGraphDestroy", graph)
    problem(20, 70, 136).assert_right(eager(gemm, stream, setup), 2)


@pytest.mark.usefixtures("emulated")
def test_a_second_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPGRAPH_EMU_DEVICES", "2")
    command = [sys.executable, "-m", "helpers.two_devices"]
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
