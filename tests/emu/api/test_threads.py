"""Threads of Python and finalisers call in at once; two devices; many captures."""

from __future__ import annotations

import ctypes
import random
import resource
import struct
import threading
import time

from helpers import hip_ctypes as hip
from helpers.process import run_python


def work(seed: int, add: int, errors: list[object]) -> None:
    """A thread's life: its own stream, buffers, captures and replays, in a random order."""
    try:
        draw = random.Random(seed)
        stream, out = hip.stream(), 0
        relaxed = ctypes.c_int(hip.RELAXED)
        hip.ok("hipThreadExchangeStreamCaptureMode", ctypes.byref(relaxed))
        for _ in range(25):
            out = hip.malloc(256)
            hip.ok("hipMemsetD32Async", out, 1, 64, stream)
            hip.begin(stream, hip.RELAXED)
            params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(3))
            launches = draw.randrange(1, 4)
            for _ in range(launches):
                assert hip.launch_kernel(add, stream, params) == 0
            graph = hip.end(stream)
            exec_ = hip.instantiate(graph)
            hip.ok("hipGraphDestroy", graph)
            hip.ok("hipGraphLaunch", exec_, stream)
            hip.ok("hipGraphExecDestroy", exec_)
            host = ctypes.create_string_buffer(256)
            hip.ok("hipMemcpyAsync", host, out, 256, hip.D2H, stream)
            hip.ok("hipStreamSynchronize", stream)
            assert struct.unpack("64i", host.raw) == (1 + 3 * launches,) * 64
            hip.ok("hipFree", out)
        hip.ok("hipStreamDestroy", stream)
    except BaseException as error:
        errors.append(error)
        raise


def test_threads_work_side_by_side(add):
    errors: list[object] = []
    threads = [threading.Thread(target=work, args=(seed, add, errors)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not errors
    assert not any(thread.is_alive() for thread in threads)


def test_captures_leave_nothing_behind(stream, add, out):
    available, total = ctypes.c_size_t(), ctypes.c_size_t()
    params, _kept = hip.parameters(ctypes.c_uint64(out), ctypes.c_int(1))

    def cycle() -> None:
        hip.begin(stream)
        assert hip.launch_kernel(add, stream, params) == 0
        hip.ok("hipMemsetAsync", out, 0, 256, stream)
        graph = hip.end(stream)
        exec_ = hip.instantiate(graph)
        hip.ok("hipGraphLaunch", exec_, stream)
        hip.ok("hipStreamSynchronize", stream)
        hip.ok("hipGraphExecDestroy", exec_)
        hip.ok("hipGraphDestroy", graph)

    for _ in range(200):
        cycle()
    hip.ok("hipMemGetInfo", ctypes.byref(available), ctypes.byref(total))
    used = total.value - available.value
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2000):
        cycle()
    hip.ok("hipMemGetInfo", ctypes.byref(available), ctypes.byref(total))
    assert total.value - available.value == used
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 2048, "KiB"


def test_a_thread_takes_its_per_thread_stream_with_it(out):
    """What it left there still completes; its capture does not stay open."""

    def leave_work_and_a_capture() -> bool:
        hip.ok("hipMemsetD32Async", out, 4, 1, hip.PER_THREAD)
        hip.begin(hip.PER_THREAD)
        return True

    assert hip.in_thread(leave_work_and_a_capture)
    deadline = time.monotonic() + 20  # joining in Python does not wait for the thread's very end
    while hip.code("hipDeviceSynchronize") and time.monotonic() < deadline:
        time.sleep(0.01)
    hip.ok("hipDeviceSynchronize")
    assert struct.unpack("i", hip.from_device(out, 4)) == (4,)


def test_two_devices_have_their_own_streams_and_memory():
    done = run_python(
        """
        import ctypes
        from helpers import hip_ctypes as hip
        assert hip.out("hipGetDeviceCount", kind=ctypes.c_int) == 2
        hip.ok("hipSetDevice", 1)
        stream, event, memory = hip.stream(), hip.event(), hip.malloc(64)
        found = hip.PointerAttributes()
        hip.ok("hipPointerGetAttributes", ctypes.byref(found), memory)
        assert found.device == 1
        assert hip.in_thread(lambda: hip.out("hipGetDevice", kind=ctypes.c_int)) == 0
        hip.ok("hipSetDevice", 0)
        assert hip.code("hipEventRecord", event, None) == 400
        hip.ok("hipEventRecord", event, stream)
        device = ctypes.c_int(9)
        hip.ok("hipStreamGetDevice", stream, ctypes.byref(device))
        assert device.value == 1
        first = hip.malloc(64)
        hip.ok("hipMemset", memory, 3, 64)
        hip.ok("hipMemcpy", first, memory, 64, hip.D2D)
        assert hip.from_device(first, 64) == bytes([3]) * 64
        bus = ctypes.create_string_buffer(16)
        hip.ok("hipDeviceGetPCIBusId", bus, 16, 1)
        assert bus.value == b"0000:02:00.0"
        print("done")
        """,
        HIPGRAPH_EMU_DEVICES="2",
    )
    assert done.stdout == "done\n", done.stderr


def test_a_setting_that_cannot_be_read_is_told_and_no_device_works():
    done = run_python(
        """
        import ctypes
        from helpers import hip_ctypes as hip
        assert hip.out("hipRuntimeGetVersion", kind=ctypes.c_int) == 71526333
        assert hip.code("hipInit", 0) == 3
        assert hip.code("hipGetDeviceCount", ctypes.byref(ctypes.c_int())) == 3
        assert hip.code("hipStreamCreate", bytes(8)) == 3
        print("done")
        """,
        HIPGRAPH_EMU_TARGET="gfx803",
    )
    assert done.stdout == "done\n", done.stderr
    assert "gfx803" in done.stderr
