import ctypes
import pickle
import threading
import time
import warnings
from importlib import metadata

import pytest
from helpers.kernels import compile_hip

from hipgraph_shmem import runtime
from hipgraph_shmem.errors import HipError
from hipgraph_shmem.hip_abi import CaptureMode, ErrorCode
from hipgraph_shmem.hip_library import mapped_libraries
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer
from hipgraph_shmem.module import Module
from hipgraph_shmem.runtime import call, discard, drain_postponed, pointer, relaxed, state

LOOP = """
extern "C" __global__ void loop(unsigned* out, unsigned n) {
  unsigned x = 1; for (unsigned i = 0; i < n; ++i) { x = x * 3u + i; asm volatile("" : "+v"(x)); }
  out[0] = x; }
"""


def test_one_hip_library_answers_both_ways(device):
    by_binding = call("hipRuntimeGetVersion")
    version = ctypes.c_int()
    runtime.library().pointers.hipRuntimeGetVersion(ctypes.byref(version))
    assert by_binding == version.value > 0
    assert mapped_libraries() <= {runtime.library().path}


def test_a_handle_made_by_hip_python_works_through_the_pointer(stream):
    assert pointer("hipStreamQuery")(stream.handle) == ErrorCode.SUCCESS


@pytest.mark.parametrize(
    "name, args, code",
    [
        ("hipSetDevice", (99,), ErrorCode.INVALID_DEVICE),
        ("hipStreamCreateWithPriority", (7, 0), ErrorCode.INVALID_VALUE),
        ("hipModuleLoadData", (b"no image at all.",), ErrorCode.INVALID_IMAGE),
        ("hipFree", (0x1234,), ErrorCode.INVALID_VALUE),
    ],
)
def test_a_failing_call_raises_with_facts(device, name, args, code):
    with pytest.raises(HipError) as caught:
        call(name, *args)
    assert (caught.value.call, caught.value.code) == (name, code)
    assert caught.value.name == runtime.error_name(code)
    assert caught.value.text
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_a_failure_on_the_device_is_counted():
    before = state.device_failures
    runtime.failure("hipStreamSynchronize", ErrorCode.LAUNCH_FAILURE)
    runtime.failure("hipMalloc", ErrorCode.OUT_OF_MEMORY)
    assert state.device_failures == before + 1


def test_discard_warns_instead_of_raising(device):
    with pytest.warns(ResourceWarning, match="hipFree"):
        discard("hipFree", 0x1234)


def test_draining_does_nothing_when_nothing_waits(device):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drain_postponed()


def exchanged_mode():
    """The thread's capture mode, found by exchanging it twice."""
    mode = ctypes.c_int(CaptureMode.GLOBAL)
    call("hipThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    found = mode.value
    call("hipThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    return CaptureMode(found)


def test_relaxed_exchanges_the_mode_and_nests(device):
    assert exchanged_mode() is CaptureMode.GLOBAL
    with relaxed():
        with relaxed():
            assert exchanged_mode() is CaptureMode.RELAXED
        assert exchanged_mode() is CaptureMode.RELAXED
        assert threading.get_ident() in state.relaxed_threads
    assert exchanged_mode() is CaptureMode.GLOBAL
    assert not state.relaxed_threads


def test_relaxed_restores_the_mode_after_an_error(device):
    with pytest.raises(KeyError), relaxed():
        raise KeyError
    assert exchanged_mode() is CaptureMode.GLOBAL


def test_waiting_lets_other_threads_run(device, stream):
    """hip-python up to 7.2 holds the interpreter lock while it waits; our pointers do not."""
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    with Module(compile_hip(LOOP, device.target.split(":")[0])) as module, Buffer(4) as out:
        launch(stream, module.kernel("loop"), LaunchConfig((1, 1, 1)), out, 2_000_000)
        thread = threading.Thread(target=tick)
        thread.start()
        start = time.monotonic()
        stream.synchronize()
        waited = time.monotonic() - start
        done.set()
        thread.join()
    assert len(ticks) >= waited / 0.005 / 5


def test_hip_pythons_release_is_reported(device):
    from hipgraph_shmem.devices import runtime_info

    info = runtime_info()
    assert info.binding_version == metadata.version("hip-python")
    assert info.path == str(runtime.library().path)
    assert info.hip_version == call("hipRuntimeGetVersion")
