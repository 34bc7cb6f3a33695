"""The local provider: entering and leaving a world."""

import ctypes
import os
import struct
from pathlib import Path

import pytest
from helpers import pes
from helpers.pes import INVALID, OK, Pe


def live_twice(pe: Pe):
    seen = []
    for name in ("first", "second"):
        pe.init(name)
        seen.append((pe.out("hgs_my_pe"), pe.out("hgs_n_pes"), pe.out("hgs_query_thread")))
        address = pe.malloc(64)
        pe.barrier()
        pe.ok("hgs_free", address)
        pe.ok("hgs_finalize")
        seen.append(pe.error("hgs_finalize"))
    return seen


@pytest.mark.parametrize("n_pes", [1, 2, 4])
def test_a_world_can_be_entered_again_after_it_ended(n_pes):
    for pe, seen in enumerate(pes.values(pes.run(live_twice, n_pes))):
        ended = (INVALID, "there is no world of PEs: call hgs_init first")
        assert seen == [(pe, n_pes, 4), ended] * 2


def describe(pe: Pe):
    name = ctypes.create_string_buffer(64)
    pe.ok("hgs_name", name, 64)
    version = (ctypes.c_int * 3)()
    places = [ctypes.addressof(version) + 4 * i for i in range(3)]
    pe.ok("hgs_version", *places)
    before = pe.out("hgs_get_device_ctx"), pe.error("hgs_malloc", 64, ctypes.c_void_p())
    pe.ok("hgs_init", 0, 1, None, pes.HEAP_BYTES, ctypes.c_double(5))
    again = pe.error("hgs_init", 0, 1, None, pes.HEAP_BYTES, ctypes.c_double(5))
    symbols = {}
    for symbol in (b"ROCSHMEM_CTX_DEFAULT", b"ROCSHMEM_TEAM_WORLD", b"constmem"):
        data, size = ctypes.create_string_buffer(32), ctypes.c_size_t()
        pe.ok("hgs_symbol_bytes", symbol, data, 32, ctypes.byref(size))
        symbols[symbol] = data.raw[: size.value]
    context, team = pe.out("hgs_get_device_ctx"), pe.world()
    absent = [
        pe.error("hgs_hipmodule_init", None, None),
        pe.error("hgs_buffer_register", 4096, 4096),
        pe.error("hgs_buffer_unregister", 4096),
        pe.error("hgs_buffer_unregister_all"),
    ]
    return name.value, list(version), before, again, symbols, context, team, absent


def test_what_a_world_says_of_itself():
    (facts,) = pes.values(pes.run(describe, 1))
    name, version, before, again, symbols, context, team, absent = facts
    project = Path(__file__).resolve().parents[3].joinpath("pyproject.toml").read_text()
    assert name == b"local"
    assert 'version = "{}.{}.{}"'.format(*version) in project
    assert before[0] == 0
    assert before[1] == (INVALID, "there is no world of PEs: call hgs_init first")
    assert again == (INVALID, "this process is a PE already: call hgs_finalize first")
    assert symbols == {
        b"ROCSHMEM_CTX_DEFAULT": struct.pack("<QQ", context, team),
        b"ROCSHMEM_TEAM_WORLD": struct.pack("<Q", team),
        b"constmem": b"",
    }
    assert absent[0] == (INVALID, "the local provider has none: use module_init")
    assert {status for status, _ in absent} == {INVALID}


def wrong_requests(pe: Pe):
    second = ctypes.c_double(1)
    return [
        pe.error("hgs_init", 2, 2, None, 1 << 20, second),
        pe.error("hgs_init", 0, 65, None, 1 << 20, second),
        pe.error("hgs_init", 0, 1, None, 0, second),
        pe.error("hgs_init", 0, 1, None, 1 << 20, ctypes.c_double(0)),
        pe.error("hgs_init", 0, 2, None, 1 << 20, second),
        pe.error("hgs_init", 0, 2, bytes(128), 1 << 20, second),
        pe.error("hgs_attach", b"/nowhere/libamdhip64.so", str(pes.KERNELS).encode()),
        pe.error("hgs_attach", None, None),
    ]


def test_wrong_requests_are_refused_with_a_cure():
    (seen,) = pes.values(pes.run(wrong_requests, 1))
    assert {status for status, _ in seen} == {INVALID}
    words = ["pe is 2", "n_pes is 65", "heap_bytes is 0", "timeout is 0", "id is null"]
    words += ["not made by the local provider", "is not loaded", "hip_library is null"]
    for (_, text), word in zip(seen, words, strict=True):
        assert word in text


def use_after_fork(pe: Pe):
    unique_id = ctypes.create_string_buffer(128)
    pe.ok("hgs_get_uniqueid", unique_id)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as to_parent:
            status, text = pe.error("hgs_init", 0, 2, unique_id, 1 << 20, ctypes.c_double(1))
            to_parent.write(f"{status} {text}\n")
        os._exit(0)
    os.waitpid(child, 0)
    pe.ok("hgs_init", 0, 1, None, 1 << 20, ctypes.c_double(1))
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as to_parent:
            status, text = pe.error("hgs_barrier_all")
            to_parent.write(f"{status} {text}\n")
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as from_children:
        return from_children.read().splitlines()


def test_a_forked_child_is_refused():
    (lines,) = pes.values(pes.run(use_after_fork, 1))
    assert lines[0].startswith("1 id was made before a fork")
    assert lines[1].startswith("1 this process was forked from a PE")


def end_without_finalize(pe: Pe):
    pe.init()
    pe.malloc(64)
    pe.barrier()
    return OK


def test_a_process_may_end_without_finalize():
    assert pes.values(pes.run(end_without_finalize, 2)) == [OK, OK]
