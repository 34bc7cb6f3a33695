"""The local SHMEM provider's kernels, on PEs that are streams of one device."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers import isa
from helpers.assembler import TARGETS, functions
from helpers.fake_pes import FAILURE, FREE, PAD, PADS, STATE, TEAM, FakePes
from helpers.kernels import zig

from hipgraph_shmem.graph.capture import capture
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.module import Module
from hipgraph_shmem.offload_bundle import entries

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "native" / "shmem" / "include"
BUNDLE = ROOT / "hipgraph_shmem" / "kernels" / "kernels.hipfb"
WAVE = LaunchConfig((1, 1, 1), (64, 1, 1))
BARRIER, WAIT_UNTIL = 1, 2
MEMORY = ("global_", "flat_", "buffer_", "scratch_", "s_barrier", "s_endpgm")
TICKS = 10_000_000
U64 = 1 << 64


@pytest.fixture
def module(device: Any) -> Iterator[Module]:
    with Module(BUNDLE) as loaded:
        yield loaded


def barrier(module: Module, pes: FakePes, pe: int, team: Any = None) -> None:
    teams = pes.worlds if team is None else team
    launch(pes.streams[pe], module.kernel("shmem_barrier"), WAVE, pes.states[pe], teams[pe])


def reduce(module: Module, pes: FakePes, pe: int, name: str, target: int, source: int, count: int,
           blocks: int = 2, team: Any = None) -> None:  # fmt: skip
    teams = pes.worlds if team is None else team
    config = LaunchConfig((blocks, 1, 1), (256, 1, 1))
    kernel = module.kernel(f"shmem_{name}")
    launch(pes.streams[pe], kernel, config, pes.states[pe], teams[pe], target, source, count)


@pytest.mark.parametrize("target", ["x86_64-linux-gnu", "amdgcn-amd-amdhsa"])
def test_structs_lie_as_the_listing_says(target: str, tmp_path: Path) -> None:
    lines = ["#include <hipgraph_shmem/device_state.h>"]
    layouts = {"team": TEAM, "pad": PAD, "failure": FAILURE, "device_state": STATE}
    for name, layout in layouts.items():
        lines.append(f'_Static_assert(sizeof(hgs_{name}) == {layout.itemsize}, "");')
        for field, (_, offset, *_) in (layout.fields or {}).items():
            place = f"__builtin_offsetof(hgs_{name}, {field})"
            lines.append(f'_Static_assert({place} == {offset}, "{field}");')
    source = tmp_path / "layout.c"
    source.write_text("\n".join(lines))
    zig(
        "clang", f"--target={target}", "-nogpulib", "-I", str(HEADERS), "-fsyntax-only", str(source)
    )


@pytest.mark.parametrize("target", TARGETS)
def test_every_write_back_is_waited_for(target: str) -> None:
    (image,) = [
        entry.image
        for entry in entries(BUNDLE.read_bytes(), BUNDLE.name)
        if entry.target.processor == target
    ]
    kernels = [(name, code) for name, code in functions(image) if name.startswith("shmem_")]
    assert len(kernels) == 27
    write_backs = 0
    for name, code in kernels:
        at, pending = 0, False
        while at < len(code):
            text, size = isa.decode(target, code[at : at + 16])
            at += size
            assert not (pending and text.startswith(MEMORY)), f"{name}: {text} after a write-back"
            pending = (pending and "vmcnt(0)" not in text) or text.startswith("buffer_wbl2")
            write_backs += text.startswith("buffer_wbl2")
    assert write_backs >= len(kernels)


@pytest.mark.parametrize("n_pes", [1, 2, 5])
def test_barrier_waits_for_the_last_one(module: Module, n_pes: int, emulated: None) -> None:
    with FakePes(n_pes) as pes:
        for epoch in (1, 2, 3):
            for pe in range(1, n_pes):
                barrier(module, pes, pe)
            time.sleep(0.05)
            assert not any(stream.query() for stream in pes.streams[1:])
            barrier(module, pes, 0)
            pes.synchronize()
            for pe in range(n_pes):
                pad = pes.pad(pe)
                assert pad["epoch"] == epoch
                assert pad["arrived"].tolist() == [epoch] * n_pes + [0] * (64 - n_pes)
                assert pes.failure(pe)["claimed"] == 0


def test_barrier_of_a_strided_team_leaves_the_others_alone(module: Module, emulated: None) -> None:
    offset = PADS + PAD.itemsize
    with FakePes(5) as pes:
        team = pes.team(1, 2, 2, offset)
        for _ in range(2):
            for pe in team:
                barrier(module, pes, pe, team)
        pes.synchronize()
        for pe in range(5):
            expected = [2, 2] if pe in team else [0, 0]
            assert pes.pad(pe, offset)["arrived"][:2].tolist() == expected
            assert not pes.pad(pe)["arrived"].any()


def test_a_missing_pe_is_recorded_once(module: Module, emulated: None) -> None:
    with FakePes(4, timeout_ticks=TICKS) as pes:
        for _ in range(2):
            for pe in (0, 1, 3):
                barrier(module, pes, pe)
        pes.synchronize()
        for pe in (0, 1, 3):
            record = pes.failure(pe)
            assert (record["operation"], record["claimed"]) == (BARRIER, 1)
            assert (record["expected"], record["seen"], record["missing"]) == (1, 0, 1 << 2)
            address = pes.heaps[pe].address + PADS + PAD.fields["arrived"][1] + 8 * 2
            assert record["address"] == address
            assert record["team"].tolist() == (pe, 4, 0, 1, PADS)
        assert pes.failure(2)["claimed"] == 0


COMPARISONS = [operator.eq, operator.ne, operator.gt, operator.ge, operator.lt, operator.le]


@pytest.mark.parametrize("comparison", range(6))
def test_wait_compares_unsigned_and_records_a_timeout(
    module: Module, comparison: int, emulated: None
) -> None:
    kernel = module.kernel("shmem_wait_until")
    for seen, value in ((5, 5), (4, 5), (6, 5), (U64 - 1, 1), (1, U64 - 1)):
        with FakePes(1, timeout_ticks=2000) as pes:
            pes.write(0, FREE, np.array([seen], np.uint64))
            word = pes.heaps[0].address + FREE
            launch(pes.main, kernel, WAVE, pes.states[0], word, comparison, value)
            pes.synchronize()
            record = pes.failure(0)
            if COMPARISONS[comparison](seen, value):
                assert record["claimed"] == 0
                continue
            assert (record["operation"], record["claimed"]) == (WAIT_UNTIL, 1)
            assert (record["expected"], record["seen"]) == (value, seen)
            assert (record["address"], record["comparison"]) == (word, comparison)


def test_signals_release_a_wait_on_another_stream(module: Module, emulated: None) -> None:
    wait, signal = module.kernel("shmem_wait_until"), module.kernel("shmem_signal")
    with FakePes(2) as pes:
        word = pes.heaps[1].address + FREE
        launch(pes.streams[1], wait, WAVE, pes.states[1], word, 3, 12)
        launch(pes.streams[0], signal, WAVE, word, 5, 0)
        launch(pes.streams[0], module.kernel("shmem_fence"), WAVE)
        pes.streams[0].synchronize(60)
        assert not pes.streams[1].query()
        launch(pes.streams[0], signal, WAVE, word, 7, 1)
        pes.synchronize()
        assert pes.read(1, FREE, 1, np.uint64)[0] == 12


def updated(old: int, value: int, condition: int) -> list[int]:
    """List the new values of a word by operation."""
    swapped = value if old == condition else old
    return [old, value, old + value, old & value, old | value, old ^ value, value, swapped]


@pytest.mark.parametrize("bits", [32, 64])
def test_atomics_return_the_old_value(module: Module, bits: int) -> None:
    kernel = module.kernel(f"shmem_atomic{bits}")
    dtype, top = np.dtype(f"<u{bits // 8}"), 1 << bits
    cases = [(top - 3, 7, 0), (0x5A5A, 0xFF0, 0x5A5A), (top // 2 + 9, top - 1, 1)]
    with FakePes(1) as pes:
        word = pes.heaps[0].address + FREE
        for operation in range(8):
            for old, value, condition in cases:
                pes.write(0, FREE, np.array([old, 0], dtype))
                result = word + dtype.itemsize
                launch(pes.main, kernel, WAVE, word, operation, value, condition, result)
                expected = [updated(old, value, condition)[operation] % top, old]
                assert pes.read(0, FREE, 2, dtype).tolist() == expected, (operation, old)
                launch(pes.main, kernel, WAVE, word, operation, value, condition, None)
                twice = updated(expected[0], value, condition)[operation] % top
                assert pes.read(0, FREE, 2, dtype).tolist() == [twice, old]


@pytest.mark.parametrize("target, source", [(0, 0), (16, 4), (1, 16), (3, 3), (0, 8)])
@pytest.mark.parametrize("count", [0, 1, 15, 16, 333, 5003])
def test_copy_takes_any_size_and_alignment(
    module: Module, target: int, source: int, count: int
) -> None:
    data = np.random.default_rng(count).integers(0, 256, count, np.uint8)
    with FakePes(2) as pes:
        pes.write(0, FREE + source, data)
        to, start = pes.heaps[1].address + FREE + target, pes.heaps[0].address + FREE + source
        config = LaunchConfig((3, 1, 1), (256, 1, 1))
        launch(pes.main, module.kernel("shmem_copy"), config, to, start, count)
        got = pes.read(1, 0, pes.heap_bytes, np.uint8).copy()
        assert np.array_equal(got[FREE + target : FREE + target + count], data)
        got[FREE + target : FREE + target + count] = 0
        assert not got.any()


TYPES = {
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "int": np.dtype(np.int32),
    "long": np.dtype(np.int64),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
COMBINE = {"sum": np.add, "min": np.minimum, "max": np.maximum, "prod": np.multiply}


def draw(dtype: Any, n_pes: int, count: int, *, special: bool) -> np.ndarray[Any, Any]:
    """Draw each PE's elements; `special` ones hold NaN and infinities."""
    random = np.random.default_rng((n_pes, count))
    if dtype.kind == "i":
        bound = np.iinfo(dtype)
        return random.integers(bound.min, bound.max, (n_pes, count), dtype, endpoint=True)
    data = random.standard_normal((n_pes, count))
    if special:
        data.reshape(-1)[::7] = np.nan
        data.reshape(-1)[::5] = np.inf
    return data.astype(dtype)


def reference(operation: str, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Combine in PE order, in the type that the kernels combine in; round once."""
    wide = data.astype(np.float32) if data.dtype == ml_dtypes.bfloat16 else data
    total = wide[0]
    with np.errstate(all="ignore"):
        for part in wide[1:]:
            total = COMBINE[operation](total, part)
        return total.astype(data.dtype)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("operation", COMBINE)
def test_reduce_gives_every_pe_what_numpy_gives(
    module: Module, operation: str, kind: str, emulated: None
) -> None:
    dtype = TYPES[kind]
    name = f"{operation}_{kind}"
    size = dtype.itemsize
    for n_pes, count, shift, in_place in (
        (1, 17, 0, False), (2, 1, 0, True), (3, 1000, 0, False), (3, 100, size, True),
        (4, 515, size, False),
    ):  # fmt: skip
        data = draw(dtype, n_pes, count, special=operation in ("min", "max"))
        source = FREE + shift
        target = source if in_place else source + 16384
        with FakePes(n_pes) as pes:
            for pe in range(n_pes):
                pes.write(pe, source, data[pe])
            for pe in range(n_pes):
                barrier(module, pes, pe)
                reduce(module, pes, pe, name, target, source, count)
                barrier(module, pes, pe)
            pes.synchronize()
            results = [pes.read(pe, target, count, dtype) for pe in range(n_pes)]
            beyond = pes.read(0, target + count * size, 64, np.uint8)
        assert {result.tobytes() for result in results} == {results[0].tobytes()}
        assert not beyond.any()
        expected = reference(operation, data)
        assert np.array_equal(results[0], expected, equal_nan=dtype.kind != "i"), (n_pes, count)
        check_against_float64(operation, data, results[0])


def check_against_float64(
    operation: str, data: np.ndarray[Any, Any], result: np.ndarray[Any, Any]
) -> None:
    """Bound the error of a sum or product of floating-point numbers."""
    if data.dtype.kind == "i" or operation in ("min", "max"):
        return
    unit = {2: 2.0**-8, 4: 2.0**-23, 8: 2.0**-52}[data.dtype.itemsize]
    exact = data.astype(np.float64)
    size = np.abs(exact)
    whole = {"sum": np.add.reduce, "prod": np.multiply.reduce}[operation]
    error = np.abs(result.astype(np.float64) - whole(exact))
    assert np.all(error <= len(data) * unit * whole(size) + 1e-38)


def test_a_graph_replays_barriers_and_an_in_place_reduce(module: Module, emulated: None) -> None:
    n_pes, count, replays = 3, 500, 20
    random = np.random.default_rng(1)
    data = random.integers(-1000, 1000, (n_pes, count), np.int32)
    with FakePes(n_pes) as pes, ExitStack() as execs:
        for pe in range(n_pes):
            pes.write(pe, FREE, data[pe])
        made = []
        for pe in range(n_pes):
            with capture(pes.streams[pe]) as captured:
                barrier(module, pes, pe)
                reduce(module, pes, pe, "sum_int", FREE, FREE, count)
                barrier(module, pes, pe)
            made.append(execs.enter_context(captured.graph.instantiate()))
            captured.graph.close()
        for _ in range(replays):
            for pe, graph_exec in enumerate(made):
                graph_exec.launch(pes.streams[pe])
        pes.synchronize()
        factor = np.uint32(n_pes ** (replays - 1) % (1 << 32))
        expected = (data.sum(0).astype(np.uint32) * factor).view(np.int32)
        for pe in range(n_pes):
            assert np.array_equal(pes.read(pe, FREE, count, np.int32), expected)
            assert pes.pad(pe)["epoch"] == 2 * replays


def test_a_layer_sized_reduce_is_cheap(module: Module, emulated: None) -> None:
    n_pes, count = 4, 64 * 256
    with FakePes(n_pes, heap_bytes=1 << 18) as pes:
        begin = time.perf_counter()
        for pe in range(n_pes):
            barrier(module, pes, pe)
            reduce(module, pes, pe, "sum_float", FREE, FREE, count, blocks=4)
            barrier(module, pes, pe)
        pes.synchronize()
        assert time.perf_counter() - begin < 5
