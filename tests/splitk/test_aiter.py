"""AMD's kernels: their table, their contracts, and their results against float64 NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.gemm import Array, Problem, problem

from hipgraph_shmem.array_view import ArrayView
from hipgraph_shmem.errors import CodeObjectError
from hipgraph_shmem.graph import KernelNode, MemsetNode, capture
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.runtime import call
from hipgraph_shmem.splitk.aiter import AiterKernels, load
from hipgraph_shmem.stream import Stream

HEADER = "knl_name,co_name,tn,tileM,tileN,pf,bPreshuffle,splitK,subK,bias\n"
ROWS = """\
clean32,bf16gemm_fp32bf16_tn_32x64_splitk_clean.co,1,32,64,0,0,1,64,1
clean64,bf16gemm_fp32bf16_tn_64x64_splitk_clean.co,1,64,64,0,0,1,64,1
plain64,bf16gemm_fp32bf16_tn_64x64_pf3_splitk.co,1,64,64,3,0,0,64,1
shuffled64,bf16gemm_fp32bf16_tn_64x64_bshuffle_splitk_clean.co,1,64,64,0,1,1,64,1
other,bf16gemm_fp32bf16_tn_256x256.co,1,256,256,0,0,0,64,1
"""
#: Half a unit in the last place of bfloat16, relative.
BF16_ROUNDING = 2.0**-8


@pytest.fixture
def table(tmp_path: Path, device: Any) -> AiterKernels:
    """Give a table without code objects."""
    (tmp_path / "bf16gemm_fp32bf16.csv").write_text(HEADER + ROWS)
    return load(tmp_path)


@pytest.mark.parametrize("inner", ["hsa/{}/bf16gemm", "{}/bf16gemm", "bf16gemm", "."])
def test_the_table_is_found(tmp_path: Path, device: Any, inner: str) -> None:
    folder = tmp_path / inner.format(device.target.partition(":")[0])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bf16gemm_fp32bf16.csv").write_text(HEADER + ROWS)
    names = [facts.name for facts in load(tmp_path).table]
    assert names == [
        "32x64_splitk_clean",
        "64x64_splitk_clean",
        "64x64_pf3_splitk",
        "64x64_bshuffle_splitk_clean",
    ]


def test_a_folder_without_table_is_refused(tmp_path: Path, device: Any) -> None:
    with pytest.raises(FileNotFoundError, match="directory="):
        load(tmp_path)


def test_a_table_without_a_column_is_refused(tmp_path: Path, device: Any) -> None:
    (tmp_path / "bf16gemm_fp32bf16.csv").write_text(HEADER.replace("tileM", "tile"))
    with pytest.raises(CodeObjectError, match="tileM"):
        load(tmp_path)


def test_the_kernel_that_pads_least_is_chosen(table: AiterKernels) -> None:
    chosen = {m: table.gemm(m, 64, 640).facts.name for m in (1, 32, 33, 64, 96)}
    assert chosen == {
        1: "32x64_splitk_clean",
        32: "32x64_splitk_clean",
        33: "64x64_splitk_clean",
        64: "64x64_splitk_clean",
        96: "32x64_splitk_clean",
    }
    assert table.gemm(64, 64, 640, clean=False).facts.name == "64x64_pf3_splitk"
    assert table.gemm(64, 64, 640, shuffled=True).facts.name == "64x64_bshuffle_splitk_clean"


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("n=65", {"n": 65}),
        ("k=672 is not a multiple", {"k": 672}),
        ("k=64", {"k": 64}),
        ("m=0", {"m": 0}),
        ("split_k=1 ", {"split_k": 1}),
        ("split_k=17", {"split_k": 17, "k": 6400}),
        ("split_k=11", {"split_k": 11}),
        ("out_dtype=", {"out_dtype": "float16"}),
        ("kernel=", {"kernel": "128x64_splitk_clean"}),
        ("clean=False, shuffled=True", {"clean": False, "shuffled": True}),
    ],
)
def test_what_the_kernels_cannot_do_is_refused(
    table: AiterKernels, argument: str, given: dict[str, Any]
) -> None:
    sizes = {"m": 64, "n": 64, "k": 640, **given}
    m, n, k = (sizes.pop(name) for name in ("m", "n", "k"))
    with pytest.raises(ValueError, match=f"^{argument}"):
        table.gemm(m, n, k, **sizes)


def test_grid_and_counters(table: AiterKernels) -> None:
    gemm = table.gemm(56, 2112, 7168, kernel="64x64_splitk_clean", split_k=7)
    assert gemm.plan.grid == (33, 1, 7)
    assert gemm.plan.counter_words == 33


def shuffle(weights: Array) -> Array:
    """Lay weights out in tiles of 16 rows x 32 columns, a lane's 8 elements together."""
    n, k = weights.shape
    tiles = weights.reshape(n // 16, 16, k // 32, 4, 8).transpose(0, 2, 3, 1, 4)
    return np.ascontiguousarray(tiles).reshape(n, k)


def bf16_bound(given: Problem, split_k: int) -> Array:
    """Bound the error where each slice is rounded and added in bfloat16."""
    k = given.a.shape[1]
    step = k // 64 // split_k * 64
    starts = [step * index for index in range(split_k)]
    a, b = np.abs(given.a.astype(np.float64)), np.abs(given.b.astype(np.float64))
    sizes = sum(
        a[:, start:end] @ b[:, start:end].T
        for start, end in zip(starts, [*starts[1:], k], strict=True)
    )
    bound: Array = (split_k + 2) * BF16_ROUNDING * sizes + given.bound(split_k)
    return bound


def run_all_ways(gemm: Any, stream: Stream, given: Problem, out_dtype: str) -> list[Array]:
    """Run eagerly and replayed, over garbage."""
    b_host = shuffle(given.b) if gemm.facts.shuffled else given.b
    a, b = from_numpy(given.a, stream), from_numpy(b_host, stream)
    bias = None if given.bias is None else from_numpy(given.bias, stream)
    out = Buffer((given.a.shape[0], given.b.shape[0]), out_dtype)
    out.fill(0x7F, stream)
    gemm(stream, a, b, out, bias)
    results = [out.to_numpy(stream)]
    with capture(stream) as captured:
        gemm(stream, a, b, out, bias)
    with captured.graph as graph, graph.instantiate() as graph_exec:
        (fill,) = (node for node in graph.nodes if isinstance(node, MemsetNode))
        (kernel,) = (node for node in graph.nodes if isinstance(node, KernelNode))
        assert graph.edges == ((fill, kernel),)
        for _ in range(2):
            out.fill(0x7F, stream)
            if gemm.facts.clean:
                words = (fill.address, 0x3F803F80, fill.width)
                call("hipMemsetD32Async", *words, stream.handle)
            graph_exec.launch(stream)
            results.append(out.to_numpy(stream))
    return results


KERNELS = [
    f"{rows}x64{kind}"
    for kind, sizes in {
        "_splitk_clean": (32, 48, 64, 80, 96),
        "_pf3_splitk": (32, 48, 64, 96),
        "_bshuffle_splitk_clean": (32, 48, 64, 80, 96, 128, 160),
        "_bshuffle_splitk": (32, 48, 64, 96, 128, 160),
    }.items()
    for rows in sizes
]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("out_dtype", ["float32", "bfloat16"])
def test_every_kernel(aiter_dir: Path, stream: Stream, name: str, out_dtype: str) -> None:
    kernels = load(aiter_dir)
    rows = int(name.partition("x")[0])
    given = problem(rows + 7, 128, 448, bias_dtype="bfloat16")
    gemm = kernels.gemm(rows + 7, 128, 448, kernel=name, split_k=3, out_dtype=out_dtype)
    bound = given.bound(3) if out_dtype == "float32" else bf16_bound(given, 3)
    for result in run_all_ways(gemm, stream, given, out_dtype):
        error = np.abs(result.astype(np.float64) - given.product)
        assert np.all(error <= bound), float((error / bound).max())


def test_the_whole_table_is_tested(aiter_dir: Path, device: Any) -> None:
    if device.target.startswith("gfx942"):
        assert sorted(facts.name for facts in load(aiter_dir).table) == sorted(KERNELS)


def test_one_slice_of_a_plain_kernel_needs_no_fill(aiter_dir: Path, stream: Stream) -> None:
    given = problem(40, 64, 256)
    gemm = load(aiter_dir).gemm(40, 64, 256, clean=False, split_k=1)
    a, b = from_numpy(given.a, stream), from_numpy(given.b, stream)
    out = Buffer((40, 64), np.float32)
    out.fill(0x7F, stream)
    with capture(stream) as captured:
        gemm(stream, a, b, out)
    assert len(captured.graph.nodes) == 1
    with captured.graph.instantiate() as graph_exec:
        graph_exec.launch(stream)
        given.assert_right(out.to_numpy(stream), 1)


@pytest.mark.parametrize("clean", [True, False])
def test_rows_of_the_output_may_be_further_apart(
    aiter_dir: Path, stream: Stream, clean: bool
) -> None:
    given = problem(40, 64, 256)
    gemm = load(aiter_dir).gemm(40, 64, 256, clean=clean, split_k=2)
    a, b = from_numpy(given.a, stream), from_numpy(given.b, stream)
    wide = Buffer((40, 80), np.float32)
    view = ArrayView(wide.address, (40, 64), wide.dtype, (320, 4), 0, wide)
    with capture(stream) as captured:
        gemm(stream, a, b, view)
    with captured.graph.instantiate() as graph_exec:
        wide.fill(0x40400000, stream, width=4)
        graph_exec.launch(stream)
        result = wide.to_numpy(stream)
    given.assert_right(np.ascontiguousarray(result[:, :64]), 2)
    assert np.all(result[:, 64:] == 3.0)


def test_rows_of_the_inputs_may_be_further_apart(aiter_dir: Path, stream: Stream) -> None:
    given = problem(40, 64, 256)
    wide = [np.concatenate([each, each[:, :6]], axis=1) for each in (given.a, given.b)]
    a, b = (from_numpy(each, stream) for each in wide)
    out = Buffer((40, 64), np.float32)
    views = [ArrayView(m.address, (m.shape[0], 256), m.dtype, (524, 2), 0, m) for m in (a, b)]
    load(aiter_dir).gemm(40, 64, 256, split_k=2)(stream, *views, out)
    given.assert_right(out.to_numpy(stream), 2)


def test_fp16_is_refused(aiter_dir: Path, stream: Stream) -> None:
    gemm = load(aiter_dir).gemm(64, 64, 640)
    half, whole = Buffer((64, 640), np.float16), Buffer((64, 64), np.float32)
    with pytest.raises(TypeError, match=r"^a="):
        gemm(stream, half, half, whole)


def test_shuffled_weights_must_have_no_gaps(aiter_dir: Path, stream: Stream) -> None:
    gemm = load(aiter_dir).gemm(64, 64, 640, shuffled=True)
    a, out = Buffer((64, 640), "bfloat16"), Buffer((64, 64), np.float32)
    wide = Buffer((64, 648), "bfloat16")
    view = ArrayView(wide.address, (64, 640), wide.dtype, (1296, 2), 0, wide)
    with pytest.raises(ValueError, match=r"^b "):
        gemm(stream, a, view, out)


def test_shuffled_weights_start_at_a_multiple_of_16_bytes(aiter_dir: Path, stream: Stream) -> None:
    gemm = load(aiter_dir).gemm(64, 64, 640, shuffled=True)
    a, out = Buffer((64, 640), "bfloat16"), Buffer((64, 64), np.float32)
    weights = Buffer(64 * 640 + 8, "bfloat16")
    view = ArrayView(weights.address + 4, (64, 640), weights.dtype, None, 0, weights)
    with pytest.raises(ValueError, match=r"^b=.* multiple of 16 bytes"):
        gemm(stream, a, view, out)


def test_a_matrix_beyond_32_bit_offsets_is_refused(aiter_dir: Path, stream: Stream) -> None:
    gemm = load(aiter_dir).gemm(64, 64, 640)
    a, b = Buffer((64, 640), "bfloat16"), Buffer((64, 640), "bfloat16")
    out = Buffer((64, 64), np.float32)
    far = ArrayView(a.address, (64, 640), a.dtype, (1 << 26, 2), 0, a)
    with pytest.raises(ValueError, match=r"^a spans 4294967296 bytes"):
        gemm(stream, far, b, out)
