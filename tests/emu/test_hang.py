"""A deadlock is proven, not timed out, and explained. Kernels that may spin run in a child."""

import json
import textwrap

import pytest
from helpers.process import run_python

SETUP = '''
import ctypes, json, struct, threading, time
import numpy as np
from helpers import emulated
from helpers.kernels import compile_hip

SOURCE = """
typedef unsigned u32;
#define AGENT "agent"
static __device__ u32 load(u32* p) {
  return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
static __device__ void store(u32* p, u32 v) {
  __hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
extern "C" __global__ void await(u32* flag, u32* out, u32 wanted) {
  while (load(flag) != wanted) {}
  *out = 1;
}
extern "C" __global__ void set(u32* flag, u32 value) { store(flag, value); }
extern "C" __global__ void everyone(u32* arrived) {
  __hip_atomic_fetch_add(arrived, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (load(arrived) < __builtin_amdgcn_grid_size_x()) {}
}
extern "C" __global__ void half_barrier(u32* flag, u32* out) {
  if (__builtin_amdgcn_workitem_id_x() < 64) while (load(flag) == 0) {}
  __builtin_amdgcn_s_barrier();
  *out = 1;
}
extern "C" __global__ void lock(u32* word) {
  u32 expected = 0;
  while (!__hip_atomic_compare_exchange_strong(word, &expected, 1, __ATOMIC_RELAXED,
         __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) expected = 0;
}
extern "C" __global__ void long_loop(u32* flag, u32* out) {
  u32 state = 1;
  while (load(flag) == 0) {
    for (u32 i = 0; i < 3001; ++i) { state = state * 5 + 7; __asm__ volatile("" : "+v"(state)); }
    state &= 15;
  }
  *out = state;
}
extern "C" __global__ void clock_wait(u32* flag, u32* out) {
  const unsigned long start = __builtin_readcyclecounter();
  while (load(flag) == 0) if (__builtin_readcyclecounter() - start > 20000000) { *out = 2; return; }
  *out = 1;
}
extern "C" __global__ void count(u32* out, u32 turns) {
  u32 left = turns;
  do __asm__ volatile("s_sub_u32 %0, %0, 1" : "+s"(left) : : "scc"); while (left);
  *out = 3;
}
extern "C" __global__ void forever(u32* out) {
  for (;;) __builtin_amdgcn_s_sleep(1);
}
"""
module = emulated.load(compile_hip(SOURCE))
def start(name, grid, block, *arguments, on=None):
    packed = b"".join(struct.pack("<Q" if a > 0xffffffff else "<I", a) for a in arguments)
    emulated.launch(emulated.function(module, name), grid, block, packed, on=on)
def buffer(*values):
    return emulated.upload(np.array(values, np.uint32))
began = time.monotonic()
def done(**facts):
    facts |= {"seconds": time.monotonic() - began, "report": emulated.last_report()}
    print(json.dumps(facts))
'''


def child(code, timeout=60, **variables):
    result = run_python(SETUP + textwrap.dedent(code), timeout, **variables)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), result.stderr


def test_a_flag_that_nobody_sets():
    facts, text = child(
        """
        flag, out = emulated.malloc(4), buffer(5)
        start("await", (2,), (64,), flag, out, 1)
        code = emulated.synchronize()
        start("set", (1,), (1,), out, 3)
        again = emulated.synchronize()
        done(code=code, again=again, out=int(emulated.download(out, 1)[0]), flag=flag)
        """
    )
    assert facts["code"] == 719
    assert facts["seconds"] < 2
    report = facts["report"]
    assert (report["kind"], report["stuck_waves"]) == ("hang", 2)
    assert {tuple(wave["workgroup"]) for wave in report["waves"]} == {(0, 0, 0), (1, 0, 0)}
    for wave in report["waves"]:
        assert wave["state"] == "polls"
        assert wave["address"] == hex(facts["flag"])
        assert wave["value"] == 0xBEBEBEBE
        assert wave["allocation"].endswith(f"(4 bytes at {hex(facts['flag'])}), offset 0")
        assert wave["symbol"].startswith("await+0x")
        assert "_load_dword " in wave["instruction"]
        assert wave["last_writer"] is None
        assert wave["cause"] == "never written since it was allocated: an uninitialised counter"
    assert "deadlock: 2 waves of 1 kernel can never proceed" in text
    # The device goes on: a later launch runs.
    assert (facts["again"], facts["out"]) == (0, 3)


def test_a_value_left_over_from_another_launch_names_it():
    facts, text = child(
        """
        flag, out = buffer(0), buffer(0)
        start("set", (3,), (1,), flag, 4)
        start("await", (1,), (1,), flag, out, 5)
        done(code=emulated.synchronize())
        """
    )
    wave = facts["report"]["waves"][0]
    assert facts["code"] == 719
    assert wave["value"] == 4
    assert wave["cause"] == "left over from launch 1 (set), which has ended"
    assert wave["last_writer"]["launch"] == 1
    assert (wave["last_writer"]["workgroup"], wave["last_writer"]["wave"]) == (2, 0)
    assert wave["last_writer"]["symbol"].startswith("set+0x")
    assert "last writer: launch 1 (set), workgroup" in text


def test_a_value_left_by_a_fill_says_so():
    facts, _ = child(
        """
        flag, out = emulated.malloc(4), buffer(0)
        emulated.call("hipMemset", ctypes.c_void_p(flag), 3, ctypes.c_size_t(4))
        start("await", (1,), (1,), flag, out, 5)
        done(code=emulated.synchronize())
        """
    )
    wave = facts["report"]["waves"][0]
    assert wave["value"] == 0x03030303
    assert wave["cause"] == "left by the host, a copy or a fill; no kernel changed it since"


def test_a_grid_that_needs_more_than_the_device_holds():
    facts, text = child(
        """
        arrived = buffer(0)
        start("everyone", (80,), (1024,), arrived)
        done(code=emulated.synchronize())
        """,
        HIPGRAPH_EMU_CUS="4",
    )
    # 16 waves a workgroup, 32 a compute unit: two on each of the four.
    assert facts["code"] == 719
    kernel = facts["report"]["kernels"][0]
    assert (kernel["workgroups"], kernel["started"], kernel["resident"]) == (80, 8, 8)
    assert facts["report"]["stuck_waves"] == 8 * 16
    assert "workgroups 8..79 have not started: the 8 resident ones hold the compute units" in text
    assert facts["report"]["waves"][0]["cause"].startswith("last written in this launch, by a work")


def test_the_same_grid_runs_where_it_fits():
    facts, _ = child(
        """
        arrived = buffer(0)
        start("everyone", (1024,), (64,), arrived)
        done(code=emulated.synchronize(), arrived=int(emulated.download(arrived, 1)[0]))
        """
    )
    assert (facts["code"], facts["arrived"]) == (0, 1024 * 64)


def test_waves_at_a_barrier_are_told_from_the_one_that_polls():
    facts, _ = child(
        """
        flag, out = buffer(0), buffer(0)
        start("half_barrier", (1,), (256,), flag, out)
        done(code=emulated.synchronize())
        """
    )
    states = [(wave["wave"], wave["state"]) for wave in facts["report"]["waves"]]
    assert states == [(0, "polls"), (1, "at barrier"), (2, "at barrier"), (3, "at barrier")]
    barrier = facts["report"]["waves"][1]
    assert barrier["instruction"] == "s_barrier"
    assert barrier["cause"] == "waits at a barrier for waves of its workgroup that are stuck"


def test_a_lock_that_its_launch_took_and_never_freed():
    facts, _ = child(
        """
        word = buffer(7)
        start("set", (1,), (1,), word, 0)
        start("lock", (3,), (1,), word)
        done(code=emulated.synchronize())
        """
    )
    assert facts["report"]["stuck_waves"] == 2
    for wave in facts["report"]["waves"]:
        assert wave["last_writer"]["workgroup"] == 0
        assert "has ended: nobody is left to write it" in wave["cause"]
        assert wave["cause"].endswith("the launch found there what launch 1 (set) had left")


def test_a_period_of_many_slices_is_found():
    facts, _ = child(
        """
        flag, out = buffer(0), buffer(0)
        start("long_loop", (4,), (64,), flag, out)
        done(code=emulated.synchronize())
        """
    )
    assert facts["code"] == 719
    assert facts["seconds"] < 5


def test_a_seeded_schedule_finds_it_too():
    facts, _ = child(
        """
        flag, out = buffer(0), buffer(0)
        start("long_loop", (4,), (64,), flag, out)
        done(code=emulated.synchronize())
        """,
        HIPGRAPH_EMU_SEED="17",
    )
    assert facts["code"] == 719
    assert facts["seconds"] < 5


def test_a_loop_without_memory():
    facts, _ = child(
        """
        start("forever", (1,), (64,), buffer(0))
        done(code=emulated.synchronize())
        """
    )
    assert facts["report"]["waves"][0]["state"] == "loops"
    assert facts["report"]["waves"][0]["cause"] == "loops for ever without reading memory"


def test_waiting_for_time_is_no_hang():
    facts, _ = child(
        """
        flag, out = buffer(0), buffer(0)
        start("clock_wait", (1,), (64,), flag, out)
        done(code=emulated.synchronize(), out=int(emulated.download(out, 1)[0]))
        """
    )
    assert (facts["code"], facts["out"], facts["report"]) == (0, 2, {})


def test_a_long_count_in_scalar_registers_is_no_hang():
    facts, _ = child(
        """
        out = buffer(0)
        start("count", (1,), (64,), out, 300_000)
        done(code=emulated.synchronize(), out=int(emulated.download(out, 1)[0]))
        """
    )
    assert (facts["code"], facts["out"], facts["report"]) == (0, 3, {})


def test_a_host_thread_that_is_free_gets_time_to_help():
    facts, _ = child(
        """
        flag, out = buffer(0), buffer(0)
        waiting, helping = emulated.stream(), emulated.stream()
        start("await", (1,), (64,), flag, out, 1, on=waiting)
        time.sleep(0.5)
        start("set", (1,), (1,), flag, 1, on=helping)
        done(code=emulated.synchronize(waiting), out=int(emulated.download(out, 1)[0]))
        """
    )
    assert (facts["code"], facts["out"], facts["report"]) == (0, 1, {})


def test_a_host_thread_may_store_into_pinned_memory():
    facts, _ = child(
        """
        pinned = ctypes.c_void_p()
        emulated.call("hipHostMalloc", ctypes.byref(pinned), ctypes.c_size_t(4), 0)
        word = ctypes.c_uint32.from_address(pinned.value)
        word.value = 0
        out = buffer(0)
        own = emulated.stream()
        start("await", (1,), (64,), pinned.value, out, 1, on=own)
        time.sleep(3)
        word.value = 1
        done(code=emulated.synchronize(own), out=int(emulated.download(out, 1)[0]))
        """
    )
    assert (facts["code"], facts["out"], facts["report"]) == (0, 1, {})


def test_a_host_that_only_looks_gets_its_report_after_the_grace():
    facts, _ = child(
        """
        flag, out = buffer(0), buffer(0)
        own = emulated.stream()
        start("await", (1,), (64,), flag, out, 1, on=own)
        code = 600
        while code == 600:
            code = emulated.hip().hipStreamQuery(own)
            time.sleep(0.05)
        done(code=code)
        """
    )
    assert facts["code"] == 719
    assert 1.5 < facts["seconds"] < 5


def test_work_behind_a_hang_ends_with_its_error_and_does_not_run():
    facts, _ = child(
        """
        flag, out, other = buffer(0), buffer(0), buffer(0)
        own = emulated.stream()
        start("await", (1,), (64,), flag, out, 1, on=own)
        start("set", (1,), (1,), other, 9, on=own)
        code = emulated.synchronize(own)
        done(code=code, other=int(emulated.download(other, 1)[0]))
        """
    )
    assert (facts["code"], facts["other"]) == (719, 0)


@pytest.mark.parametrize("seed", ["", "1", "2"])
def test_two_kernels_that_wait_for_each_other_run_side_by_side(seed):
    facts, _ = child(
        """
        flag, out = buffer(0), buffer(0)
        first, second = emulated.stream(), emulated.stream()
        start("await", (4,), (64,), flag, out, 1, on=first)
        start("set", (1,), (1,), flag, 1, on=second)
        done(code=emulated.synchronize(first))
        """,
        HIPGRAPH_EMU_SEED=seed,
    )
    assert (facts["code"], facts["report"]) == (0, {})
