"""Launches, their order and their residency."""

import ctypes
import resource
import struct
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from helpers import emulated
from helpers.kernels import PREAMBLE, compile_hip, zig
from helpers.process import run_python

KERNELS = """
typedef unsigned u32;
extern "C" __global__ void add(const float* a, const float* b, float* c, u32 n) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void append(u32* log, u32 value) {
  log[1 + log[0]] = value;
  log[0] += 1;
}
extern "C" __global__ void order(u32* log) {
  if (__builtin_amdgcn_workitem_id_x() == 0) {
    const u32 at = __hip_atomic_fetch_add(log, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    log[1 + at] = __builtin_amdgcn_workgroup_id_x();
  }
}
extern "C" __global__ void lds_as_found(u32* out) {
  __attribute__((shared)) static u32 words[64];
  const u32 i = __builtin_amdgcn_workitem_id_x();
  __asm__ volatile("" : : "v"((u32*)words) : "memory");
  out[i] = *(volatile u32*)(words + i);
}
extern "C" __global__ void reverse(u32* out, u32 n) {
  __attribute__((shared)) static u32 words[1024];
  const u32 i = __builtin_amdgcn_workitem_id_x();
  words[i] = i * i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[i] = words[n - 1 - i];
}
extern "C" __global__ void late(u32* out, u32 turns) {
  __attribute__((shared)) static volatile u32 word;
  const u32 i = __builtin_amdgcn_workitem_id_x();
  if (i >= 192) for (u32 turn = 0; turn < turns; ++turn) word = turn + 1;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[i] = word;
}
extern "C" __global__ void stack(u32* out, u32 index) {
  u32 local[40];
  for (u32 i = 0; i < 40; ++i) local[i] = i * __builtin_amdgcn_workitem_id_x();
  __asm__ volatile("" : : "v"((u32*)local) : "memory");
  out[__builtin_amdgcn_workitem_id_x()] = local[index];
}
"""
LINEAR = """
extern "C" __global__ void linear(unsigned a, unsigned b, unsigned c, unsigned d, unsigned* out) {
  *out = a + 10 * b + 100 * c + 1000 * d;
}
"""


@pytest.fixture(scope="module")
def module():
    return emulated.load(compile_hip(KERNELS))


@pytest.fixture
def buffers():
    made = []

    def upload(array):
        made.append(emulated.upload(array))
        return made[-1]

    yield upload
    for address in made:
        emulated.free(address)


def run(kernel, grid, block, arguments, **keywords):
    emulated.launch(kernel, grid, block, arguments, **keywords)
    assert emulated.synchronize(keywords.get("on")) == 0


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000, 70001])
def test_partial_waves(module, buffers, count):
    random = np.random.default_rng(count)
    a, b = (random.standard_normal(count).astype(np.float32) for _ in range(2))
    c = buffers(np.full(count + 7, -1, np.float32))
    arguments = struct.pack("<QQQI", buffers(a), buffers(b), c, count)
    run(emulated.function(module, "add"), ((count + 255) // 256,), (256,), arguments)
    found = emulated.download(c, count + 7, np.float32)
    assert np.array_equal(found[:count], a + b)
    assert np.all(found[count:] == -1)


def test_a_stream_is_in_order(module, buffers):
    log = buffers(np.zeros(201, np.uint32))
    append = emulated.function(module, "append")
    own = emulated.stream()
    for value in range(200):
        emulated.launch(append, (1,), (1,), struct.pack("<QI", log, value), on=own)
    assert emulated.synchronize(own) == 0
    assert list(emulated.download(log, 201)) == [200, *range(200)]
    emulated.call("hipStreamDestroy", own)


def test_workgroups_start_in_linear_order(module, buffers):
    log = buffers(np.zeros(2001, np.uint32))
    run(emulated.function(module, "order"), (2000,), (64,), emulated.words(log))
    found = emulated.download(log, 2001)
    assert found[0] == 2000
    assert sorted(found[1:]) == list(range(2000))
    # Within what fits at once (304 compute units with 32 waves each), turns keep the order.
    assert list(found[1:]) == list(range(2000))


def test_lds_is_not_zeroed(module, buffers):
    out = buffers(np.zeros(64, np.uint32))
    run(emulated.function(module, "lds_as_found"), (1,), (64,), emulated.words(out))
    assert set(emulated.download(out, 64)) == {0xBEBEBEBE}


@pytest.mark.parametrize("items", [64, 100, 256, 1024])
def test_barriers_order_lds(module, buffers, items):
    out = buffers(np.zeros(items, np.uint32))
    run(emulated.function(module, "reverse"), (1,), (items,), struct.pack("<QI", out, items))
    expected = np.arange(items, dtype=np.uint32)[::-1] ** 2
    assert np.array_equal(emulated.download(out, items), expected)


def test_a_barrier_waits_for_a_wave_of_many_slices(module, buffers):
    out = buffers(np.zeros(256, np.uint32))
    turns = 20_000
    run(emulated.function(module, "late"), (1,), (256,), struct.pack("<QI", out, turns))
    assert set(emulated.download(out, 256)) == {turns}


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950"])
def test_scratch(target):
    code = f"""
        import struct
        import numpy as np
        from helpers import emulated
        from helpers.kernels import compile_hip
        module = emulated.load(compile_hip({KERNELS!r}, {target!r}))
        out = emulated.malloc(512)
        emulated.launch(
            emulated.function(module, "stack"), (1,), (128,), struct.pack("<QI", out, 7))
        assert emulated.synchronize() == 0
        assert np.array_equal(emulated.download(out, 128), 7 * np.arange(128))
    """
    result = run_python(code, HIPGRAPH_EMU_TARGET=target)
    assert result.returncode == 0, result.stderr


def preloading_code_object() -> bytes:
    """Compile with kernel arguments preloaded into registers, as Triton does."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        base.joinpath("k.hip").write_text(PREAMBLE + LINEAR)
        options = ("--offload-arch=gfx942", "-O2", "-nogpulib", "-nogpuinc", "-Wno-everything")
        zig(
            "clang",
            "-x",
            "hip",
            "--cuda-device-only",
            "-fgpu-rdc",
            "-emit-llvm",
            "-c",
            *options,
            "-mllvm",
            "-amdgpu-kernarg-preload-count=8",
            f"{base}/k.hip",
            "-o",
            f"{base}/k.bc",
        )
        zig(
            "clang",
            "--target=amdgcn-amd-amdhsa",
            "-mcpu=gfx942",
            "-O2",
            "-nogpulib",
            "-c",
            "-x",
            "ir",
            "-mllvm",
            "-amdgpu-kernarg-preload-count=8",
            f"{base}/k.bc",
            "-o",
            f"{base}/k.o",
        )
        zig("ld.lld", "-shared", "-o", f"{base}/k.co", f"{base}/k.o")
        return base.joinpath("k.co").read_bytes()


def preload_length(image: bytes, name: bytes) -> int:
    """Read from a kernel's descriptor how many dwords of arguments are preloaded."""
    sections = struct.unpack_from("<Q", image, 40)[0]
    for at in range(sections, sections + 64 * struct.unpack_from("<H", image, 60)[0], 64):
        _, kind, _, _, table, size, strings, _, _, _ = struct.unpack_from("<IIQQQQIIQQ", image, at)
        if kind != 11:  # dynamic symbols; the read-only segment lies at its address in the file
            continue
        names = struct.unpack_from("<Q", image, sections + 64 * strings + 24)[0]
        for symbol in range(table, table + size, 24):
            offset, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", image, symbol)
            if image[names + offset :].startswith(name + b"\0"):
                return struct.unpack_from("<H", image, value + 58)[0] & 127
    raise ValueError(f"no symbol {name!r}")


def test_preloaded_arguments_equal_loaded_ones(buffers):
    image = preloading_code_object()
    assert preload_length(image, b"linear.kd") > 0
    assert preload_length(compile_hip(LINEAR), b"linear.kd") == 0
    out = buffers(np.zeros(1, np.uint32))
    for code_object in (image, compile_hip(LINEAR)):
        kernel = emulated.function(emulated.load(code_object), "linear")
        run(kernel, (1,), (1,), struct.pack("<IIIIQ", 1, 2, 3, 4, out))
        assert emulated.download(out, 1)[0] == 4321


def test_counters_count_what_ran(module, buffers):
    out = buffers(np.zeros(256, np.uint32))
    emulated.counters()
    kernel = emulated.function(module, "reverse")
    for _ in range(3):
        run(kernel, (2,), (256,), struct.pack("<QI", out, 256))
    counted = emulated.counters()
    assert (counted["launches"], counted["workgroups"], counted["waves"]) == (3, 6, 24)
    assert counted["instructions"] == sum(counted["by_class"].values())
    # One LDS write, one LDS read, one store a wave.
    assert counted["by_class"]["lds"] == 48
    assert counted["by_class"]["vmem"] == 24
    assert counted["by_class"]["matrix"] == 0
    assert emulated.counters()["launches"] == 0


def test_what_does_not_fit_on_a_compute_unit_is_refused(module, buffers):
    out = buffers(np.zeros(64, np.uint32))
    kernel = emulated.function(module, "lds_as_found")
    with pytest.raises(emulated.HipCallError):
        emulated.launch(kernel, (1,), (64,), emulated.words(out), lds=64 * 1024)
        code = emulated.synchronize()
        if code != 0:
            raise emulated.HipCallError("hipStreamSynchronize", code)


@pytest.mark.parametrize(
    ("block", "lds", "expected"),
    [
        (64, 0, 32),  # wave slots: 8 a SIMD, four SIMDs
        (256, 0, 8),
        (1024, 0, 2),
        (128, 0, 16),  # workgroups with a barrier
        (64, 16 * 1024 - 256, 4),  # 64 KiB of LDS
        (64, 40 * 1024, 1),
    ],
)
def test_occupancy(module, block, lds, expected):
    assert occupancy(emulated.function(module, "lds_as_found"), block, lds) == expected


@pytest.mark.parametrize(
    ("registers", "expected"),
    [
        ("v63", 32),
        ("v64", 28),  # 72 of a SIMD's 512, in steps of 8
        ("v99", 16),
        ("v255", 8),
        ("v127,a127", 8),
    ],
)
def test_occupancy_by_registers(registers, expected):
    clobbers = ", ".join(f'"{name}"' for name in registers.split(","))
    source = f"""
        extern "C" __global__ void __launch_bounds__(256) wide() {{
          __asm__ volatile("" : : : {clobbers});
        }}
    """
    module = emulated.load(compile_hip(source))
    assert occupancy(emulated.function(module, "wide"), 64, 0) == expected
    emulated.call("hipModuleUnload", module)


def occupancy(kernel, block, lds):
    count = ctypes.c_int()
    emulated.call(
        "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
        ctypes.byref(count),
        kernel,
        block,
        ctypes.c_size_t(lds),
    )
    return count.value


def test_ten_thousand_launches_neither_leak_nor_slow_down(module, buffers):
    log = buffers(np.zeros(20001, np.uint32))
    append = emulated.function(module, "append")

    def batch() -> float:
        began = time.perf_counter()
        for value in range(2500):
            emulated.launch(append, (1,), (1,), struct.pack("<QI", log, value))
        assert emulated.synchronize() == 0
        return time.perf_counter() - began

    batch()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = [batch() for _ in range(4)]
    assert emulated.download(log, 1)[0] == 12500
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096
    assert min(times[2:]) < 3 * min(times[:2])


@pytest.mark.parametrize("seed", ["1", "99", ""])
def test_other_schedules_give_the_same_numbers(seed):
    code = f"""
        import json, struct
        import numpy as np
        from helpers import emulated
        from helpers.kernels import compile_hip
        module = emulated.load(compile_hip({KERNELS!r}))
        out = emulated.malloc(4096)
        emulated.launch(
            emulated.function(module, "reverse"), (1,), (1024,), struct.pack("<QI", out, 1024))
        assert emulated.synchronize() == 0
        assert np.array_equal(
            emulated.download(out, 1024), np.arange(1024, dtype=np.uint32)[::-1] ** 2)
    """
    result = run_python(code, HIPGRAPH_EMU_SEED=seed)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("variable", "value", "cure"),
    [
        ("HIPGRAPH_EMU_TARGET", "gfx1100", "use gfx90a, gfx942 or gfx950"),
        ("HIPGRAPH_EMU_TARGET", "gfx942:fast+", "use gfx90a, gfx942 or gfx950"),
        ("HIPGRAPH_EMU_CUS", "0", "a whole number from 1 to 1024"),
        ("HIPGRAPH_EMU_CUS", "many", "a whole number from 1 to 1024"),
        ("HIPGRAPH_EMU_DEVICES", "17", "a whole number from 1 to 16"),
        ("HIPGRAPH_EMU_SEED", "-1", "a whole number from 0"),
    ],
)
def test_a_wrong_model_is_refused_by_name(variable, value, cure):
    code = """
        import ctypes, os
        library = ctypes.CDLL(os.environ["LIBRARY"])
        count = ctypes.c_int()
        print(library.hipGetDeviceCount(ctypes.byref(count)))
    """
    from hipgraph_shmem import runtime

    path = str(runtime.library().path)
    result = run_python(code, LIBRARY=path, **{variable: value})
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) != 0
    assert f"{variable}='{value}' is not" in result.stderr
    assert cure in result.stderr
