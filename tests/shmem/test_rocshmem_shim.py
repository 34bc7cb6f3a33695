"""The shim over a stand-in rocSHMEM, built by the command itself and loaded in child processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.process import run_python
from helpers.shim import fake_rocm

from hipgraph_shmem.cli import main
from hipgraph_shmem.runtime import library

pytestmark = pytest.mark.usefixtures("emulated")

PRELUDE = """
import ctypes, os
hip = ctypes.CDLL(os.environ["HIP"])
shim = ctypes.CDLL(os.environ["SHIM"])
OK, INVALID, HIP_FAILED, NO_MEMORY = 0, 1, 2, 6
pointer, size = ctypes.c_void_p, ctypes.c_size_t

def text():
    room = ctypes.create_string_buffer(512)
    shim.hgs_error(room, size(512))
    return room.value.decode()

def check(status, wanted, *words):
    assert status == wanted, (status, text())
    for word in words:
        assert word in text(), text()

def init(pe=0, n_pes=1, heap=1 << 22, timeout=2.5):
    unique_id = ctypes.create_string_buffer(128)
    check(shim.hgs_get_uniqueid(unique_id), OK)
    return shim.hgs_init(pe, n_pes, unique_id, size(heap), ctypes.c_double(timeout))

def new_stream():
    stream = pointer()
    assert hip.hipStreamCreateWithFlags(ctypes.byref(stream), 1) == 0
    return stream

def allocate(count):
    made = pointer()
    check(shim.hgs_malloc(size(count), ctypes.byref(made)), OK)
    return made
"""


def build(folder: Path, *flags: str) -> Path:
    """Build the shim over the stand-in rocSHMEM."""
    root = fake_rocm(folder / "rocm", Path(library().path).resolve(), *flags)
    made = folder / "librocshmem_c.so"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        assert main(["build-rocshmem", "--rocm", str(root), "--output", str(made)]) == 0
    return made


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="module")
def shim_of_newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("newer"), "-DREADS_ENVIRONMENT_AT_LOAD")


def run(shim: Path, code: str, **variables: str) -> None:
    """Run code on a loaded shim in a process of its own."""
    hip_library = str(Path(library().path).resolve())
    # What an init in this process set is no part of the test.
    unset = {"ROCSHMEM_HEAP_SIZE": "", "ROCSHMEM_BOOTSTRAP_TIMEOUT": ""}
    done = run_python(PRELUDE + code, HIP=hip_library, SHIM=str(shim), **(unset | variables))
    assert done.returncode == 0, done.stderr


def test_life(shim: Path) -> None:
    run(
        shim,
        """
number = ctypes.c_int(-1)
check(shim.hgs_my_pe(ctypes.byref(number)), INVALID, "hgs_my_pe", "before hgs_init")
check(shim.hgs_attach(os.environ["HIP"].encode(), b""), OK)
check(shim.hgs_attach(b"/nowhere/libamdhip64.so", b""), INVALID, "/nowhere", "not loaded")
check(shim.hgs_attach(b"libc.so.6", b""), INVALID, "libc.so.6", os.environ["HIP"])
check(init(pe=1), INVALID, "pe=1", "n_pes=1")
check(init(), OK)
check(shim.hgs_n_pes(ctypes.byref(number)), OK)
assert number.value == 1
name = ctypes.create_string_buffer(64)
check(shim.hgs_name(name, size(64)), OK)
assert name.value == b"fake heap=4194304 timeout=3"  # seconds are whole ones there
check(init(), INVALID, "rocSHMEM cannot be initialised twice in a process")
check(shim.hgs_check(), OK)
check(shim.hgs_finalize(), OK)
check(shim.hgs_finalize(), INVALID, "after hgs_finalize")
check(init(), INVALID, "rocSHMEM cannot be initialised twice in a process")
""",
    )


def test_a_missing_function_is_absent(shim: Path) -> None:
    run(
        shim,
        """
for name in ("float_sum_reduce_on_stream", "bfloat16_sum_reduce_on_stream", "team_shared",
             "signal_set_on_stream", "hipmodule_init", "int_atomic_fetch"):
    assert not hasattr(shim, "hgs_" + name), name
for name in ("malloc", "int_atomic_fetch_add", "version", "get_device_ctx"):
    assert hasattr(shim, "hgs_" + name), name
for name in ("_ZN8rocshmem14rocshmem_my_peEv", "ROCSHMEM_CTX_DEFAULT"):
    assert not hasattr(shim, name), name
""",
    )


def test_arguments_that_would_end_the_process_are_refused(shim: Path) -> None:
    run(
        shim,
        """
check(init(), OK)
made, result = pointer(), ctypes.c_int()
check(shim.hgs_malloc(size(1 << 30), ctypes.byref(made)), NO_MEMORY, "1073741824 bytes")
check(shim.hgs_ptr(None, 1, ctypes.byref(made)), INVALID, "pe=1", "0 to 0")
check(shim.hgs_int_atomic_fetch_add(None, 4, -1, ctypes.byref(result)), INVALID, "pe=-1")
check(shim.hgs_int_atomic_fetch_add(None, 4, 0, ctypes.byref(result)), OK)
assert result.value == 5
check(shim.hgs_team_n_pes(None, ctypes.byref(result)), INVALID, "team must not be null")
check(shim.hgs_team_world(ctypes.byref(made)), OK)
check(shim.hgs_team_n_pes(made, ctypes.byref(result)), OK)
check(shim.hgs_putmem_on_stream(None, None, size(4), 0, None), INVALID, "stream must not be null")
check(shim.hgs_putmem_on_stream(None, None, size(4), 9, new_stream()), INVALID, "pe=9")
""",
    )


def test_on_stream(shim: Path) -> None:
    run(
        shim,
        """
check(init(), OK)
stream, source, target = new_stream(), allocate(64), allocate(64)
data, back = ctypes.create_string_buffer(b"x" * 64, 64), ctypes.create_string_buffer(64)
assert hip.hipMemcpy(source, data, size(64), 1) == 0
check(shim.hgs_putmem_on_stream(target, source, size(0), 0, stream), OK)
check(shim.hgs_putmem_on_stream(target, source, size(64), 0, stream), OK)
assert hip.hipStreamSynchronize(stream) == 0
assert hip.hipMemcpy(back, target, size(64), 2) == 0
assert back.raw == data.raw
check(shim.hgs_barrier_all_on_stream(stream), HIP_FAILED, "hgs_barrier_all_on_stream", "hipError")
check(shim.hgs_putmem_on_stream(target, source, size(64), 0, stream), OK)
signal = ctypes.c_uint64(1)
put = lambda count, op: shim.hgs_putmem_signal_on_stream(
    target, source, size(count), source, signal, op, 0, stream)
check(put(64, 1), OK)
check(put(64, 9), INVALID, "signal_op=9")
check(put(0, 0), INVALID, "cannot signal alone")
""",
    )


def test_symbol_bytes_are_cached_while_a_stream_captures(shim: Path) -> None:
    run(
        shim,
        """
stream = new_stream()
check(init(), OK)
assert hip.hipStreamBeginCapture(stream, 0) == 0
room, count = ctypes.create_string_buffer(64), size(99)
ask = lambda name, capacity: shim.hgs_symbol_bytes(name, room, size(capacity), ctypes.byref(count))
check(ask(b"ROCSHMEM_CTX_DEFAULT", 64), OK)
assert count.value == 16
assert room.raw[:16] == (0x1122334455667788).to_bytes(8, "little") + bytes([0x99]) + bytes(7)
check(ask(b"ROCSHMEM_CTX_DEFAULT", 8), INVALID, "16 bytes")
check(ask(b"constmem", 64), OK)
assert count.value == 0
check(ask(b"other", 64), INVALID, "other")
context = pointer()
check(shim.hgs_get_device_ctx(ctypes.byref(context)), OK)
assert context.value == 0x1122334455667788
graph = pointer()
assert hip.hipStreamEndCapture(stream, ctypes.byref(graph)) == 0
""",
    )


def test_a_heap_size_that_comes_too_late_is_refused(shim_of_newer: Path) -> None:
    run(
        shim_of_newer,
        """
check(init(), INVALID, "ROCSHMEM_HEAP_SIZE=100 ", "set it to 4194304 before")
check(init(heap=100), INVALID, "ROCSHMEM_BOOTSTRAP_TIMEOUT= ", "set it to 3 before")
check(init(heap=0, timeout=0), OK)
""",
        ROCSHMEM_HEAP_SIZE="100",
    )


def test_a_heap_size_that_was_set_in_time(shim_of_newer: Path) -> None:
    run(
        shim_of_newer,
        "check(init(), OK)",
        ROCSHMEM_HEAP_SIZE="4194304",
        ROCSHMEM_BOOTSTRAP_TIMEOUT="3",
    )


SURFACE = """
import numpy as np
from hipgraph_shmem import ShmemUnavailable, Stream, capture, shmem

shmem.init(heap_bytes=1 << 22, timeout=2.5)
assert shmem.provider_name() == "fake heap=4194304 timeout=3", shmem.provider_name()
x = shmem.zeros(16, "f4")
with Stream() as stream:
    assert not x.to_numpy(stream).any()
    with capture(stream) as captured:
        assert shmem.device_ctx() == 0x1122334455667788
        shmem.on_stream.put(x[:8], x[8:], 0, stream)
    with captured.graph.instantiate() as graph_exec:
        x.copy_from(np.arange(16, dtype="f4"), stream)
        graph_exec.launch(stream)
        assert x.to_numpy(stream).tolist() == [*range(8, 16), *range(8, 16)]
    for name, since, call in (
        ("float_sum_reduce_on_stream", "since 3.4",
         lambda: shmem.on_stream.reduce(x, x, shmem.Reduction.SUM, stream)),
        ("signal_add_on_stream", "since 3.8",
         lambda: shmem.on_stream.signal_add(shmem.empty(1, "u8")[0], 1, 0, stream)),
        ("team_split_2d", "since 3.4", lambda: shmem.team_world().split_2d(1)),
    ):
        try:
            call()
        except ShmemUnavailable as error:
            assert error.operation == name, error.operation
            assert since in str(error), error
            assert "fake" in str(error), error
        else:
            raise AssertionError(name)
x.free()
shmem.finalize()
try:
    shmem.init()
except ValueError as error:
    assert "cannot be initialised twice" in str(error), error
else:
    raise AssertionError("initialised twice")
"""


@pytest.mark.parametrize("release", ["shim", "shim_of_newer"])
def test_the_python_surface_names_what_a_release_lacks(
    request: pytest.FixtureRequest, release: str
) -> None:
    made: Path = request.getfixturevalue(release)
    hip_library = str(Path(library().path).resolve())
    done = run_python(SURFACE, HIPGRAPH_SHMEM_PROVIDER=str(made), HIPGRAPH_RUNTIME=hip_library)
    assert done.returncode == 0, done.stderr
