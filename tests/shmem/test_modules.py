"""Symbols of loaded modules: set in stream order, in any capture, for every release's names."""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest
from helpers.kernels import compile_hip

from hipgraph_shmem import (
    CaptureError,
    CaptureMode,
    GraphError,
    HipError,
    LaunchConfig,
    Module,
    Stream,
    capture,
)
from hipgraph_shmem.errors import ModuleSymbolError, ShmemError
from hipgraph_shmem.graph import MemcpyNode
from hipgraph_shmem.hip_abi import MemcpyKind
from hipgraph_shmem.launch import launch
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.runtime import call, library
from hipgraph_shmem.shmem.modules import SYMBOLS

ONE = LaunchConfig((1, 1, 1), (1, 1, 1))
CONTEXT, WORLD, SHARED = list(SYMBOLS)[:3]
#: What a user's kernel sees: two words of context and two teams.
KERNEL = """
using u64 = unsigned long long;
%s
extern "C" __global__ void look(u64* out) {
  out[0] = CTX[0];
  out[1] = CTX[1];
  out[2] = TEAM_WORLD;
  out[3] = TEAM_SHARED;
}
"""
PLAIN = (
    KERNEL
    % """
extern "C" __device__ u64 ROCSHMEM_CTX_DEFAULT[2];
extern "C" __device__ u64 ROCSHMEM_TEAM_WORLD;
extern "C" __device__ u64 ROCSHMEM_TEAM_SHARED;
__device__ u64 ROCSHMEM_CTX_DEFAULT[2];
__device__ u64 ROCSHMEM_TEAM_WORLD;
__device__ u64 ROCSHMEM_TEAM_SHARED;
#define CTX ROCSHMEM_CTX_DEFAULT
#define TEAM_WORLD ROCSHMEM_TEAM_WORLD
#define TEAM_SHARED ROCSHMEM_TEAM_SHARED
"""
)
#: As release 3.0 had them: C++ names, in constant memory; no shared team.
MANGLED = (
    KERNEL
    % """
namespace rocshmem {
__constant__ u64 ROCSHMEM_CTX_DEFAULT[2];
namespace device { __constant__ u64 ROCSHMEM_TEAM_WORLD; }
}
#define CTX ((volatile __constant__ u64*)rocshmem::ROCSHMEM_CTX_DEFAULT)
#define TEAM_WORLD (*(volatile __constant__ u64*)&rocshmem::device::ROCSHMEM_TEAM_WORLD)
#define TEAM_SHARED 0
"""
)
WITHOUT_CONTEXT = """
extern "C" __device__ unsigned long long ROCSHMEM_TEAM_WORLD;
__device__ unsigned long long ROCSHMEM_TEAM_WORLD;
extern "C" __global__ void look(unsigned long long* out) { *out = ROCSHMEM_TEAM_WORLD; }
"""
WRONG_SIZE = """
extern "C" __device__ unsigned long long ROCSHMEM_CTX_DEFAULT;
__device__ unsigned long long ROCSHMEM_CTX_DEFAULT;
extern "C" __global__ void look(unsigned long long* out) { *out = ROCSHMEM_CTX_DEFAULT; }
"""
NOTHING = 'extern "C" __global__ void look(int* out) { *out = 1; }'


@pytest.fixture
def processor(device):
    return device.target.split(":")[0]


@pytest.fixture
def module(alone, processor):
    with Module(compile_hip(PLAIN, processor)) as loaded:
        yield loaded


@pytest.fixture
def seen(device):
    with Buffer(4, np.uint64) as buffer:
        yield buffer


def look(module, seen, stream):
    """What a kernel of the module finds in its symbols."""
    seen.fill(0xFF, stream)
    launch(stream, module.kernel("look"), ONE, seen)
    return seen.to_numpy(stream).tolist()


def expected(shmem, stream):
    """The same, from the device's own state: its second word says which PE it is."""
    context = shmem.device_ctx()
    with Buffer(16, np.uint8) as head:
        call("hipMemcpyAsync", head.address, context, 16, MemcpyKind.DEVICE_TO_DEVICE,
             stream.handle)  # fmt: skip
        abi, pe, n_pes, _ = head.to_numpy(stream).view(np.int32).tolist()
    assert (abi, pe, n_pes) == (0x48475301, 0, 1)
    world = shmem.team_world().handle
    return context, world


def test_a_module_is_ready_when_the_call_returns(alone, module, seen, stream):
    assert look(module, seen, stream) == [0, 0, 0, 0]
    report = alone.module_init(module)
    assert set(report.found) == {CONTEXT, WORLD, SHARED}
    assert report.missing == ()
    assert report.found[CONTEXT] == module.symbol(CONTEXT).address
    context, _ = expected(alone, stream)
    found = look(module, seen, stream)
    assert found[0] == context
    assert found[1] == found[2] == found[3] != 0


@pytest.mark.parametrize("mode", list(CaptureMode))
@pytest.mark.parametrize("elsewhere", [False, True])
def test_it_is_legal_in_any_capture_of_any_thread(alone, module, seen, stream, mode, elsewhere):
    with Stream() as other, Buffer(4, np.int32) as filled:
        with capture(other, mode) as captured:
            filled.fill(5, other, width=4)
            if elsewhere:
                thread = threading.Thread(target=alone.module_init, args=(module,))
                thread.start()
                thread.join(20)
            else:
                alone.module_init(module)
            assert alone.device_ctx()
        assert len(captured.graph.nodes) == 1
        with captured.graph.instantiate() as graph_exec:
            graph_exec.launch(other)
            assert filled.to_numpy(other).tolist() == 4 * [5]
    assert look(module, seen, stream)[0] == alone.device_ctx()


def test_a_capturing_stream_sets_it_at_once_and_at_each_replay(alone, module, seen, stream):
    kernel = module.kernel("look")
    with capture(stream) as captured:
        alone.module_init(module, stream)
        launch(stream, kernel, ONE, seen)
    with Stream() as other:
        assert look(module, seen, other)[0] == alone.device_ctx()
    nodes = [node for node in captured.graph.nodes if isinstance(node, MemcpyNode)]
    assert len(nodes) == 3
    with captured.graph.instantiate() as graph_exec:
        for _ in range(3):
            module.symbol(CONTEXT).fill(0, stream)
            seen.fill(0, stream)
            graph_exec.launch(stream)
            assert seen.to_numpy(stream)[0] == alone.device_ctx()


def test_copies_are_ordered_on_the_stream_that_is_given(alone, module, seen, stream):
    module.symbol(CONTEXT).fill(0xEE, stream)
    alone.module_init(module, stream.handle)
    assert look(module, seen, stream)[0] == alone.device_ctx()


@pytest.mark.parametrize("raw", [0, 1, 2])
def test_never_on_the_null_legacy_or_per_thread_stream(alone, module, raw):
    with pytest.raises(ValueError, match="null, legacy and per-thread"):
        alone.module_init(module, raw)


def test_names_of_older_releases_are_found(alone, processor, seen, stream):
    with Module(compile_hip(MANGLED, processor)) as module:
        report = alone.module_init(module)
        assert set(report.found) == {CONTEXT, WORLD}
        assert report.missing == (SHARED,)
        found = look(module, seen, stream)
        assert found[0] == alone.device_ctx()
        assert found[1] == found[2] != 0
        with pytest.raises(ModuleSymbolError, match=f"lacks {SHARED}"):
            alone.module_init(module, strict=True)


def test_what_cannot_be_set_is_named_and_nothing_is_copied(alone, processor, stream):
    for source, text in (
        (NOTHING, "contains no SHMEM device code"),
        (WITHOUT_CONTEXT, f"lacks {CONTEXT}"),
        (WRONG_SIZE, f"{CONTEXT} of .* has 8 bytes, local gives 16"),
    ):
        with Module(compile_hip(source, processor)) as module:
            with pytest.raises(ModuleSymbolError, match=text):
                alone.module_init(module)
            for name in module.code_object.variables:
                assert not module.symbol(name).to_numpy(stream).any()


def test_a_raw_handle_is_taken(alone, module, seen, stream):
    report = alone.module_init(module.handle)
    assert set(report.found) == {CONTEXT, WORLD, SHARED}
    assert look(module, seen, stream)[0] == alone.device_ctx()


def test_it_needs_init(device, processor):
    from hipgraph_shmem import shmem

    with Module(compile_hip(PLAIN, processor)) as module:
        with pytest.raises(ShmemError, match=r"call shmem.init\(\) first"):
            shmem.module_init(module)
        with pytest.raises(ShmemError, match=r"call shmem.init\(\) first"):
            shmem.device_ctx()


def test_modules_are_cleared_at_finalize_and_set_again_at_init(alone, module, seen, stream):
    alone.module_init(module)
    alone.finalize()
    assert look(module, seen, stream) == [0, 0, 0, 0]
    alone.init(pe=0, n_pes=1, heap_bytes=1 << 20)
    assert look(module, seen, stream)[0] == alone.device_ctx() != 0


def test_a_closed_module_is_forgotten(alone, processor):
    module = Module(compile_hip(PLAIN, processor))
    alone.module_init(module)
    module.close()
    alone.finalize()
    alone.init(pe=0, n_pes=1, heap_bytes=1 << 20)
    died = weakref.ref(module)
    del module
    gc.collect()
    assert died() is None


def test_a_graph_keeps_the_module_and_refuses_after_finalize(alone, processor, seen, stream):
    module = Module(compile_hip(PLAIN, processor))
    lives = weakref.ref(module)
    with capture(stream) as captured:
        alone.module_init(module, stream)
    graph_exec = captured.graph.instantiate()
    captured.graph.close()
    del module, captured
    gc.collect()
    assert lives() is not None
    graph_exec.launch(stream)
    stream.synchronize()
    alone.finalize()
    with pytest.raises(GraphError, match="World"):
        graph_exec.launch(stream)
    graph_exec.close()
    gc.collect()
    assert lives() is None


@pytest.mark.usefixtures("emulated")
def test_c001_a_blocking_symbol_read_loses_a_capture_and_ours_does_not(alone, module, seen, stream):
    """rocSHMEM issue 323: the getter's blocking copy is 906, and the capture is gone."""
    word = (ctypes.c_uint64 * 2)()
    address = ctypes.c_void_p(module.symbol(CONTEXT).address)
    with (
        pytest.raises(CaptureError, match="hipMemcpyDtoH"),
        capture(stream, CaptureMode.GLOBAL),
    ):
        code = library().pointers.hipMemcpyDtoH(word, address, ctypes.c_size_t(16))
        assert code == 906
    with capture(stream, CaptureMode.GLOBAL) as captured:
        assert alone.device_ctx()
        alone.module_init(module, stream)
        launch(stream, module.kernel("look"), ONE, seen)
    with captured.graph.instantiate() as graph_exec:
        graph_exec.launch(stream)
        assert seen.to_numpy(stream)[0] == alone.device_ctx()


def test_a_module_of_no_handle_is_hips_error(alone):
    with pytest.raises((HipError, ModuleSymbolError)):
        alone.module_init(0xDEAD0)
