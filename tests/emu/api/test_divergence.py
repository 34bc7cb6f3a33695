"""What HIP takes silently and CUDA refuses: said once a kind, or failing, as the variable asks."""

from __future__ import annotations

import pytest
from helpers.process import run_python

PREPARE = """
import ctypes
from helpers import hip_ctypes as hip
from helpers.kernels import compile_hip
stream, blocking, idle = hip.stream(), hip.stream(0), hip.stream()
memory = hip.malloc(64)
event = hip.event()
"""

# What a program does, the code that HIP returns, the code in mode "error", a word of the text.
CASES = {
    "null stream work": (
        "hip.begin(blocking)",
        "hip.code('hipMemsetAsync', memory, 0, 4, None)",
        (0, 906),
        "work on the null stream",
    ),
    "null stream synchronised": (
        "hip.begin(blocking)",
        "hip.code('hipStreamSynchronize', None)",
        (0, 906),
        "synchronised or queried",
    ),
    "graph launched on a capturing stream": (
        "graph = hip.instantiate(hip.out('hipGraphCreate', 0)); hip.begin(stream)",
        "hip.code('hipGraphLaunch', graph, stream)",
        (0, 900),
        "ran at once",
    ),
    "uncaptured event": (
        "hip.begin(stream); hip.ok('hipEventRecord', event, idle)",
        "hip.code('hipStreamWaitEvent', stream, event, 0)",
        (0, 905),
        "outside its capture",
    ),
    "module load": (
        "image = compile_hip('extern \"C\" __global__ void k() {}'); hip.begin(stream)",
        "hip.code('hipModuleLoadData', ctypes.byref(ctypes.c_uint64()), image)",
        (0, 900),
        "code was loaded",
    ),
    "empty copy": (
        "hip.begin(stream)",
        "hip.code('hipMemcpyAsync', memory, memory + 8, 0, hip.D2D, stream)",
        (1, 1),
        "copy of no bytes",
    ),
    "restarted capture": (
        "hip.begin(stream); hip.code('hipStreamQuery', stream)",
        "hip.code('hipStreamBeginCapture', stream, 0)",
        (0, 401),
        "begun on a stream",
    ),
    "partial graph": (
        "hip.begin(stream); hip.ok('hipEventRecord', event, stream);"
        "hip.ok('hipStreamWaitEvent', idle, event, 0); hip.code('hipStreamQuery', idle)",
        "hip.end_code(stream)",
        (0, 901),
        "the graph is partial",
    ),
}


def run(name: str, policy: str):
    prepare, call, _, _ = CASES[name]
    code = f"{PREPARE}\n{prepare}\nprint({call})"
    return run_python(code, HIPGRAPH_EMU_DIVERGENCE=policy)


@pytest.mark.parametrize("name", CASES)
def test_warn_keeps_the_code_and_says_so_once(name):
    done = run(name, "")
    (code, _), word = CASES[name][2:]
    assert done.stdout.split() == [str(code)], done.stderr
    assert done.stderr.count("divergence: ") == 1
    assert word in done.stderr
    assert "HIPGRAPH_EMU_DIVERGENCE" in done.stderr


@pytest.mark.parametrize("name", CASES)
def test_off_keeps_the_code_and_says_nothing(name):
    done = run(name, "off")
    assert done.stdout.split() == [str(CASES[name][2][0])], done.stderr
    assert "divergence" not in done.stderr


@pytest.mark.parametrize("name", CASES)
def test_error_gives_the_other_code(name):
    done = run(name, "error")
    assert done.stdout.split() == [str(CASES[name][2][1])], done.stderr


def test_calls_from_a_host_function_are_told_and_still_work():
    done = run_python(
        PREPARE
        + """
call = hip.HOST_FUNCTION(lambda _: print(hip.code('hipStreamQuery', idle)))
hip.ok('hipLaunchHostFunc', stream, call, None)
hip.ok('hipStreamSynchronize', stream)
""",
        HIPGRAPH_EMU_DIVERGENCE="error",
    )
    assert done.stdout == "0\n"
    assert "called from a host function" in done.stderr


def test_loading_in_relaxed_mode_is_as_legal_as_on_cuda():
    done = run_python(
        PREPARE
        + """
image = compile_hip('extern "C" __global__ void k() {}')
hip.begin(stream)
hip.ok("hipThreadExchangeStreamCaptureMode", ctypes.byref(ctypes.c_int(hip.RELAXED)))
print(hip.code("hipModuleLoadData", ctypes.byref(ctypes.c_uint64()), image))
""",
        HIPGRAPH_EMU_DIVERGENCE="error",
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_another_value_is_refused_with_the_choices():
    done = run_python(
        "from helpers import hip_ctypes as hip; print(hip.code('hipDeviceSynchronize'))",
        HIPGRAPH_EMU_DIVERGENCE="loud",
    )
    assert "off" in done.stderr and "warn" in done.stderr and "error" in done.stderr


def test_ordinary_captures_say_nothing():
    done = run_python(
        PREPARE
        + """
hip.begin(stream)
hip.ok('hipMemsetAsync', memory, 0, 4, stream)
hip.ok('hipMemsetAsync', memory, 0, 4, None)
hip.ok('hipEventRecord', event, stream)
hip.ok('hipStreamWaitEvent', idle, event, 0)
hip.ok('hipEventRecord', event, idle)
hip.ok('hipStreamWaitEvent', stream, event, 0)
graph = hip.instantiate(hip.end(stream))
for _ in range(3): hip.ok('hipGraphLaunch', graph, stream)
hip.ok('hipStreamSynchronize', None)
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
