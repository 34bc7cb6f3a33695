"""Device work run in a child process under HIPGRAPH_EMU_CHECK=race, piece by piece."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from helpers.process import child_environment

PROGRAM = '''
import ctypes, json, sys, time
from helpers import graph_nodes, hip_ctypes as hip
from helpers.kernels import compile_hip

SOURCE = """
typedef unsigned u32;
#define LANE __builtin_amdgcn_workitem_id_x()
#define AGENT __HIP_MEMORY_SCOPE_AGENT
extern "C" __global__ void put(u32* out, u32 value) { out[LANE] = value; }
extern "C" __global__ void put_bytes(unsigned char* out, u32 step) { out[step * LANE] = 1; }
extern "C" __global__ void get(const u32* from, u32* out) { out[LANE] = from[LANE]; }
extern "C" __global__ void get_one(const u32* from, u32* out) { out[LANE] = *from; }
extern "C" __global__ void count(u32* word, u32 by) {
  __hip_atomic_fetch_add(word, by, __ATOMIC_RELAXED, AGENT);
}
extern "C" __global__ void look(u32* word, u32* out) {
  out[LANE] = __hip_atomic_load(word, __ATOMIC_RELAXED, AGENT);
}
extern "C" __global__ void publish(u32* data, u32* flag) {
  data[LANE] = 7;
  __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, AGENT);
}
extern "C" __global__ void await(u32* data, u32* flag) {
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0) __builtin_amdgcn_s_sleep(1);
  data[LANE] = 8;
}
"""
module = hip.module(compile_hip(SOURCE))
memory = hip.malloc(1 << 16)
spare = hip.malloc(1 << 16)
a, b = hip.stream(), hip.stream()
blocking, other = hip.stream(0), hip.stream(0)
event = hip.event()


def kernel(name, stream, *values, lanes=64):
    values = [ctypes.c_uint64(v) if v > 0xFFFF_FFFF else ctypes.c_uint32(v) for v in values]
    parameters, kept = hip.parameters(*values)
    code = hip.launch_kernel(
        hip.function(module, name), stream, parameters, block=(lanes, 1, 1)
    )
    assert code == 0, (name, code)


def fill(stream, at=0, size=64, value=0):
    hip.ok("hipMemsetAsync", memory + at, value, size, stream)


def copy(stream, to=0, source=1024, size=64):
    hip.ok("hipMemcpyAsync", memory + to, memory + source, size, hip.D2D, stream)


def order(first, second):
    hip.ok("hipEventRecord", event, first)
    hip.ok("hipStreamWaitEvent", second, event, 0)


def settle():
    """Let everything run, without being told that it has."""
    time.sleep(0.1)


def capture(record, *more):
    hip.begin(a)
    record(a)
    return hip.instantiate(hip.end(a))


def parameters_of(name, lanes, *values):
    """Describe a launch for a node; whatever it points at is kept for good."""
    values = [ctypes.c_uint64(v) if v > 0xFFFF_FFFF else ctypes.c_uint32(v) for v in values]
    pointers, values = hip.parameters(*values)
    one, block = hip.Dim3(1, 1, 1), hip.Dim3(lanes, 1, 1)
    at = ctypes.addressof(pointers)
    params = hip.KernelNodeParams(block, None, hip.function(module, name), one, at, 0)
    launches.append((pointers, values, params))
    return ctypes.byref(params)


def build(nodes):
    """Make a graph of (kind, at, source, size, after), launch it; return its handles."""
    graph, made = hip.out("hipGraphCreate", 0), []
    for kind, at, source, size, after in nodes:
        to, word = memory + at, memory + at // 4 * 4
        rows = {"elementSize": 1, "width": 2, "height": 3, "pitch": 8}
        line = {"elementSize": 1, "width": size}
        calls = {
            "fill": ("Memset", ctypes.byref(graph_nodes.fill(to, 1, **line))),
            "rows": ("Memset", ctypes.byref(graph_nodes.fill(to, 1, **rows))),
            "copy": ("Memcpy", to, memory + source, size, hip.D2D),
            "put": ("Kernel", parameters_of("put", size, word, 1)),
            "bytes": ("Kernel", parameters_of("put_bytes", size, to, 3)),
            "get": ("Kernel", parameters_of("get", size, memory + source // 4 * 4, word)),
            "count": ("Kernel", parameters_of("count", 1, word, 1)),
        }
        name, *args = calls[kind]
        call = f"hipGraphAdd{name}Node{'1D' if name == 'Memcpy' else ''}"
        made.append(graph_nodes.add(call, graph, *args, after=tuple(made[i] for i in after)))
    ready = hip.instantiate(graph)
    hip.ok("hipGraphLaunch", ready, a)
    return {"nodes": made, "memory": memory}


launches = []
results = {}
for line in sys.stdin:
    results.clear()
    problem = ""
    try:
        exec(json.loads(line), globals())
    except AssertionError as error:
        problem = str(error) or "assertion"
    code = hip.code("hipDeviceSynchronize")
    report = json.loads(hip.library().hipgraphEmuLastReport()) if code else None
    while hip.code("hipDeviceSynchronize"):
        pass
    print(json.dumps({"code": code, "report": report, "problem": problem, **results}), flush=True)
'''


@dataclass(frozen=True)
class Conflict:
    """Two parties, how each touched the bytes, and the bytes."""

    parties: tuple[tuple[str, str], ...]
    ranges: tuple[tuple[int, int], ...]


class RaceDevice:
    """A child process; each piece of work starts with nothing in flight and ends with a sync."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=child_environment(HIPGRAPH_EMU_CHECK="race"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, work: str) -> dict[str, Any]:
        """Run Python code; return the code of the sync, its report, and what the work noted."""
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(json.dumps(work) + "\n")
        self._child.stdin.flush()
        answer = dict(json.loads(self._child.stdout.readline()))
        assert not answer["problem"], answer
        return answer

    def conflicts(self, work: str) -> list[Conflict]:
        """Run Python code; return what was reported, with the failure that belongs to it."""
        answer = self.run(work)
        assert answer["code"] == (719 if answer["report"] else 0)
        return found(answer)

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        self._child.communicate(timeout=30)


def found(answer: dict[str, Any]) -> list[Conflict]:
    """Return the conflicts of an answer."""
    report = answer["report"] or {"kind": "race", "conflicts": []}
    assert report["kind"] == "race", report
    return [
        Conflict(
            tuple((one[side]["name"], one[side]["access"]) for side in ("first", "last")),
            tuple((int(begin, 16), int(end, 16)) for begin, end in one["ranges"]),
        )
        for one in report["conflicts"]
    ]
