"""The device header: a user's kernels compiled from it, run on PEs that share one device."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.fake_pes import FREE, PADS, FakePes
from helpers.kernels import FIXTURES, PREAMBLE, compile_hip, zig

from hipgraph_shmem.code_object import CodeObject
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.module import Module

HEADERS = Path(__file__).resolve().parents[2] / "native" / "shmem" / "include"
SOURCE = FIXTURES / "rocshmem_user.hip"
TARGETS = ["gfx90a", "gfx942", "gfx950"]
SYMBOLS = {"ROCSHMEM_CTX_DEFAULT": 16, "ROCSHMEM_TEAM_WORLD": 8, "ROCSHMEM_TEAM_SHARED": 8}
WAIT_UNTIL, BAD_PE, OUTSIDE_HEAP = 2, 3, 4
WORD = FREE
COMPARISONS = [operator.eq, operator.ne, operator.gt, operator.ge, operator.lt, operator.le]

VALUES = {
    **{"ROCSHMEM_SUCCESS": 0, "ROCSHMEM_ERROR": 1},
    **{"ROCSHMEM_SUM": 0, "ROCSHMEM_MAX": 1, "ROCSHMEM_MIN": 2, "ROCSHMEM_PROD": 3},
    **{"ROCSHMEM_AND": 4, "ROCSHMEM_OR": 5, "ROCSHMEM_XOR": 6, "ROCSHMEM_REPLACE": 7},
    **{"ROCSHMEM_SIGNAL_SET": 0, "ROCSHMEM_SIGNAL_ADD": 1},
    **{"ROCSHMEM_CMP_EQ": 0, "ROCSHMEM_CMP_NE": 1, "ROCSHMEM_CMP_GT": 2},
    **{"ROCSHMEM_CMP_GE": 3, "ROCSHMEM_CMP_LT": 4, "ROCSHMEM_CMP_LE": 5},
    **{"ROCSHMEM_THREAD_SINGLE": 0, "ROCSHMEM_THREAD_FUNNELED": 1},
    **{"ROCSHMEM_THREAD_WG_FUNNELED": 2, "ROCSHMEM_THREAD_SERIALIZED": 3},
    **{"ROCSHMEM_THREAD_MULTIPLE": 4, "ROCSHMEM_CTX_ZERO": 0, "ROCSHMEM_CTX_NOSTORE": 1},
    **{"ROCSHMEM_CTX_SERIALIZED": 2, "ROCSHMEM_CTX_WG_PRIVATE": 4, "ROCSHMEM_CTX_SHARED": 8},
}


class Users(FakePes):
    """PEs that have loaded the user's module, each its own copy, and initialised it."""

    def __init__(self, image: bytes, n_pes: int, timeout_ticks: int = 0) -> None:
        super().__init__(n_pes, timeout_ticks=timeout_ticks)
        self.modules = [self._keep(Module(image)) for _ in range(n_pes)]
        for pe, module in enumerate(self.modules):
            world = self.worlds[pe].address
            context = np.array([self.states[pe].address, world], np.uint64)
            module.symbol("ROCSHMEM_CTX_DEFAULT").copy_from(context.view(np.uint8), self.main)
            for name in ("ROCSHMEM_TEAM_WORLD", "ROCSHMEM_TEAM_SHARED"):
                module.symbol(name).copy_from(context[1:].view(np.uint8), self.main)
        self.main.synchronize()

    def run(self, pe: int, name: str, *args: Any, threads: int = 1) -> None:
        """Launch one workgroup on a PE."""
        config = LaunchConfig((1, 1, 1), (threads, 1, 1))
        launch(self.streams[pe], self.modules[pe].kernel(name), config, *args)

    def at(self, pe: int, offset: int) -> int:
        """Return the address of an offset in the heap of one PE."""
        return self.heaps[pe].address + offset


@pytest.fixture(scope="module")
def image() -> bytes:
    from hipgraph_shmem.devices import device_info

    processor = device_info(0).target.partition(":")[0]
    return compile_hip(SOURCE.read_text(), processor, include=HEADERS)


@pytest.fixture
def two(image: bytes, device: Any) -> Iterator[Users]:
    with Users(image, 2, timeout_ticks=2000) as users:
        yield users
        users.synchronize()


@pytest.mark.parametrize("target", TARGETS)
def test_the_symbols_are_in_the_code_object(target: str) -> None:
    code = CodeObject(compile_hip(SOURCE.read_text(), target, include=HEADERS))
    assert {name: code.variables.get(name) for name in SYMBOLS} == SYMBOLS


FLAGS = ("-x", "hip", "-nogpuinc", "-nogpulib", "-std=c++17", f"-I{HEADERS}")
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")


def test_two_translation_units_share_one_copy_of_the_symbols(tmp_path: Path) -> None:
    objects = []
    for name in ("one", "other"):
        source = tmp_path / f"{name}.hip"
        source.write_text(
            PREAMBLE + "#include <rocshmem/rocshmem.hpp>\n"
            f'extern "C" __global__ void {name}() {{ rocshmem::rocshmem_barrier_all(); }}'
        )
        bitcode, native = source.with_suffix(".bc"), source.with_suffix(".o")
        front = (*FLAGS, *STRICT, "--cuda-device-only", "--offload-arch=gfx942", "-fgpu-rdc")
        zig("clang", *front, "-emit-llvm", "-c", str(source), "-o", str(bitcode))
        back = ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib", "-O2", "-x", "ir", "-c")
        zig("clang", *back, str(bitcode), "-o", str(native))
        objects.append(str(native))
    linked = tmp_path / "both.co"
    zig("ld.lld", "-shared", "--gc-sections", *objects, "-o", str(linked))
    variables = CodeObject(linked.read_bytes()).variables
    assert {name: variables.get(name) for name in SYMBOLS} == SYMBOLS


def test_numbers_are_rocshmems_and_the_host_side_compiles(tmp_path: Path) -> None:
    # What a C library's <stdint.h> and <stddef.h> declare does not clash with the header's.
    widths = {"int32_t": "INT32", "int64_t": "INT64", "uint64_t": "UINT64", "size_t": "SIZE"}
    lines = [f"typedef __{kind}_TYPE__ {name};" for name, kind in widths.items()]
    lines += [PREAMBLE, "#include <rocshmem/rocshmem.hpp>", "using namespace rocshmem;"]
    lines += [f'static_assert({name} == {value}, "");' for name, value in VALUES.items()]
    lines += ['static_assert(sizeof(rocshmem_ctx_t) == 16 && sizeof(rocshmem_team_t) == 8, "");']
    lines += ["static_assert(ROCSHMEM_TEAM_INVALID == nullptr);", "uint64_t word; size_t bytes;"]
    source = tmp_path / "values.hip"
    source.write_text("\n".join(lines))
    for side in ("--cuda-device-only", "--cuda-host-only"):
        zig("clang", *FLAGS, side, "--offload-arch=gfx942", "-fsyntax-only", str(source))


def test_places(image: bytes, device: Any) -> None:
    with Users(image, 4) as users:
        for pe in range(4):
            users.write(pe, WORD, np.array([70 + pe], np.int32))
        team = users.team(1, 2, 2, PADS + 1024)
        out = users.upload(np.zeros(32, np.int32))
        users.run(3, "places", out, users.at(3, WORD), team[3])
        users.synchronize()
        got = out.to_numpy(users.main).view(np.int32).tolist()
        assert got[:7] == [3, 4, 3, 4, 1, 2, -1]
        assert got[7:13] == [-1, -1, 0, -1, 1, -1]
        assert got[15:21] == [-1, 1, 3, -1, -1, -1]
        assert got[23:29] == [-1, 70, 71, 72, 73, -1]
        assert got[30] == 1
        assert users.failure(3)["claimed"] == 0


@pytest.mark.parametrize("shift", [0, 4, 1])
@pytest.mark.parametrize("form", range(12))
def test_copies(two: Users, form: int, shift: int) -> None:
    data = np.random.default_rng(form).integers(0, 256, 777, np.uint8)
    puts = form % 4 < 2
    target, source = FREE + 2048 + shift, FREE + 2 * shift
    two.write(0 if puts else 1, source, data)
    threads = {0: 1, 1: 48, 2: 130}[form // 4]
    two.run(0, "copy", two.at(0, target), two.at(0, source), data.size, 1, form, threads=threads)
    two.synchronize()
    got = two.read(1 if puts else 0, FREE + 2000, 1000, np.uint8).copy()
    begin = target - FREE - 2000
    assert np.array_equal(got[begin : begin + data.size], data)
    got[begin : begin + data.size] = 0
    assert not got.any()


def test_a_put_from_lds(two: Users) -> None:
    two.run(1, "put_from_lds", two.at(1, WORD), 0, threads=64)
    two.synchronize()
    assert two.read(0, WORD, 64, np.int32).tolist() == list(range(0, 192, 3))


@pytest.mark.parametrize(
    "name, dtype",
    [("schar", np.int8), ("ushort", np.uint16), ("float", np.float32), ("ulonglong", np.uint64)],
)
def test_typed_puts_and_gets(two: Users, name: str, dtype: Any) -> None:
    two.write(1, WORD, np.array([21, 7, 1, 1, 5], dtype))
    two.run(0, f"typed_{name}", two.at(0, WORD), 1)
    two.synchronize()
    assert two.read(0, WORD, 5, dtype).tolist() == [42, 7, 0, 0, 0]
    assert two.read(1, WORD, 5, dtype).tolist() == [42, 7, 42, 7, 5]


def test_a_ring_of_signals(image: bytes, emulated: None) -> None:
    n_pes, count = 3, 300
    inbox, data, signal = FREE, FREE + 4096, FREE + 8192
    with Users(image, n_pes) as users:
        expected = np.random.default_rng(0).standard_normal((n_pes, count), np.float32)
        for pe in range(n_pes):
            users.write(pe, data, expected[pe])
        for step in range(1, 4):
            for pe in range(n_pes):
                places = [users.at(pe, offset) for offset in (inbox, data, signal)]
                users.run(pe, "ring", *places, count, step, threads=128)
            expected = expected + np.roll(expected, 1, axis=0)
        users.synchronize()
        for pe in range(n_pes):
            assert np.array_equal(users.read(pe, data, count, np.float32), expected[pe])
            assert users.read(pe, signal, 1, np.uint64)[0] == 3
            assert users.pad(pe)["epoch"] == 6


def test_signals(two: Users) -> None:
    out = two.upload(np.array([5], np.uint64))
    two.run(1, "signals", two.at(1, WORD), out, 1)
    two.synchronize()
    assert out.to_numpy(two.main).view(np.uint64).tolist() == [42]
    assert two.read(1, WORD, 2, np.uint64).tolist() == [100, 42]


@pytest.mark.parametrize("form, threads", [(0, 1), (1, 64), (1, 3), (2, 200), (2, 30)])
def test_barriers_in_a_kernel(image: bytes, form: int, threads: int, emulated: None) -> None:
    n_pes = 3
    with Users(image, n_pes) as users:
        outs = [users.upload(np.zeros(3 * n_pes, np.int32)) for _ in range(n_pes)]
        for pe in range(n_pes):
            users.run(pe, "meet", users.at(pe, WORD), outs[pe], form, threads=threads)
        users.synchronize()
        for pe in range(n_pes):
            got = outs[pe].to_numpy(users.main).view(np.int32).reshape(3, n_pes)
            assert got.tolist() == [[100 * step + other for other in range(3)] for step in range(3)]
            assert users.pad(pe)["epoch"] == 6
            assert users.failure(pe)["claimed"] == 0


INTEGERS = {
    **{"int": np.int32, "long": np.int64},
    **{"uint32": np.uint32, "uint64": np.uint64, "size": np.uint64},
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_atomics(two: Users, name: str) -> None:
    dtype = np.dtype(INTEGERS[name])
    x, y = np.array([np.iinfo(dtype).max - 1, 5], dtype)
    out = two.upload(np.zeros(6, dtype))
    two.run(0, f"atomics_{name}", two.at(0, WORD), out, int(x), int(y), 1)
    two.synchronize()
    one = dtype.type(1)
    with np.errstate(over="ignore"):
        twice = x + y + y
        last = twice + one + one
    expected = np.array([x, twice, last, last, last, y])
    assert np.array_equal(out.to_numpy(two.main).view(dtype), expected)
    assert two.read(1, WORD, 1, dtype)[0] == x
    assert two.read(0, WORD, 1, dtype)[0] == 0


@pytest.mark.parametrize("name", ["uint32", "uint64"])
def test_bitwise_atomics(two: Users, name: str) -> None:
    dtype = np.dtype(INTEGERS[name])
    x, y = 0xF0F0 << dtype.itemsize * 4, 0xFF00 << dtype.itemsize * 4
    out = two.upload(np.zeros(4, dtype))
    two.run(0, f"bitwise_{name}", two.at(0, WORD), out, x, y, 1)
    two.synchronize()
    expected = [x, x & y, x, ((x ^ y ^ x) | 9) & ~1]
    assert out.to_numpy(two.main).view(dtype).tolist() == expected
    assert two.read(1, WORD, 1, dtype)[0] == expected[-1]


def test_atomics_of_many_lanes_lose_nothing(two: Users) -> None:
    for pe in (0, 1):
        two.run(pe, "many_add", two.at(pe, WORD), 1, threads=200)
        two.run(pe, "many_xor", two.at(pe, WORD + 8), 0, threads=31 + 32 * pe)
    two.synchronize()
    assert two.read(1, WORD, 1, np.int32)[0] == 400
    # PE 0 flips bits 0..30 once; PE 1 flips 0..30 twice and 31 once.
    assert two.read(0, WORD + 8, 1, np.uint32)[0] == 0xFFFFFFFF


def test_floats(two: Users) -> None:
    out = two.upload(np.zeros(3, np.float32))
    two.run(0, "floats", two.at(0, WORD), two.at(0, WORD + 8), out, 1)
    two.synchronize()
    assert out.to_numpy(two.main).view(np.float32).tolist() == [1.5, -2.25, 0.125]


@pytest.mark.parametrize("name", ["int", "uint32", "long", "ulonglong"])
def test_comparisons_have_the_sign_of_their_type(two: Users, name: str) -> None:
    dtype = np.dtype({**INTEGERS, "ulonglong": np.uint64}[name])
    top = np.array([-1], np.int64).astype(dtype)[0]
    for seen, value in ((dtype.type(3), dtype.type(3)), (top, dtype.type(2)), (dtype.type(2), top)):
        two.write(0, WORD, np.array([seen], dtype))
        out = two.upload(np.zeros(6, np.int32))
        two.run(0, f"compare_{name}", two.at(0, WORD), out, int(value))
        expected = [int(compare(seen, value)) for compare in COMPARISONS]
        assert out.to_numpy(two.main).view(np.int32).tolist() == expected
        true = expected.index(1)
        two.run(0, f"wait_{name}", two.at(0, WORD), true, int(value))
    two.synchronize()
    assert two.failure(0)["claimed"] == 0
    two.run(0, f"wait_{name}", two.at(0, WORD), 0, 77)
    two.synchronize()
    record = two.failure(0)
    assert (record["operation"], record["expected"]) == (WAIT_UNTIL, 77)
    assert record["address"] == two.at(0, WORD)


@pytest.mark.parametrize("pe", [-1, 2, 64])
def test_a_wrong_pe_is_recorded(two: Users, pe: int) -> None:
    two.run(0, "copy", two.at(0, WORD), two.at(0, WORD), 8, pe, 0)
    two.synchronize()
    record = two.failure(0)
    assert (record["operation"], record["claimed"]) == (BAD_PE, 1)
    assert record["expected"] == pe % (1 << 64)


def test_an_address_outside_the_heap_is_recorded_and_nothing_copied(two: Users) -> None:
    end = two.heap_bytes
    two.run(0, "copy", two.at(0, end - 8), two.at(0, FREE), 8, 1, 0)
    two.synchronize()
    assert two.failure(0)["claimed"] == 0
    for offset, size, form in ((end - 7, 8, 0), (-1, 1, 4), (FREE, end, 8), (end, 1, 0)):
        two.failures[0].array[:] = 0
        two.run(0, "copy", two.at(0, offset), two.at(0, FREE), size, 1, form, threads=1)
        two.synchronize()
        record = two.failure(0)
        assert (record["operation"], record["expected"]) == (OUTSIDE_HEAP, two.at(0, offset))
