"""What the library exports, and the calls that it refuses by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers import hip_ctypes as hip
from helpers.isa import library_path
from helpers.process import run_python

API = Path(__file__).resolve().parents[3] / "native" / "emu" / "api"
REFUSED = sorted(
    name
    for path in API.glob("not_supported*.cpp")
    for name in re.findall(r"^NOT_SUPPORTED\((\w+)\)$", path.read_text(), re.MULTILINE)
)


def exported() -> set[str]:
    """Names that the library defines for others, read from the file itself."""
    return set(defined_symbols(library_path().read_bytes()))


def defined_symbols(elf: bytes):
    """Defined names of .dynsym."""
    at = int.from_bytes(elf[40:48], "little")
    size = int.from_bytes(elf[58:60], "little")
    count = int.from_bytes(elf[60:62], "little")
    headers = [elf[at + i * size : at + (i + 1) * size] for i in range(count)]
    for header in headers:
        if int.from_bytes(header[4:8], "little") != 11:  # SHT_DYNSYM
            continue
        begin, length = (int.from_bytes(header[k : k + 8], "little") for k in (24, 32))
        strings = headers[int.from_bytes(header[40:44], "little")]
        text = int.from_bytes(strings[24:32], "little")
        for entry in range(begin, begin + length, 24):
            name = text + int.from_bytes(elf[entry : entry + 4], "little")
            defined = int.from_bytes(elf[entry + 6 : entry + 8], "little") != 0
            if defined and elf[name]:
                yield elf[name : elf.index(b"\0", name)].decode()


def test_nothing_but_hip_and_our_own_names_is_exported():
    """Operators new and delete among others stay inside."""
    assert not [name for name in exported() if not re.match(r"(__)?hip(graphEmu)?[A-Z]", name)]


def test_every_name_that_hip_python_looks_up_is_exported():
    binding = pytest.importorskip("hip").hip
    folder = Path(binding.__file__).parent
    names = set()
    for path in [*folder.glob("cyhip.pyx"), *folder.glob("chip.pyx")]:
        names |= set(re.findall(r'__init_symbol\(&\w+, *"(\w+)"\)', path.read_text()))
    assert len(names) > 400
    assert names - exported() == set()


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_is_not_there_says_so(name):
    hip.last_error()
    assert hip.code(name) == 801
    assert hip.last_error() == 801


def test_refused_names_are_in_order_and_nowhere_twice():
    assert len(set(REFUSED)) == len(REFUSED) > 200
    for path in API.glob("not_supported*.cpp"):
        names = re.findall(r"^NOT_SUPPORTED\((\w+)\)$", path.read_text(), re.MULTILINE)
        assert names == sorted(names), path.name


# Virtual memory by hand, several operations a call, pools of other processes, and the per-thread
# names of the rest.
REFUSED_OF_MEMORY = (
    r"hipMem(Address\w+|Create|Map|Unmap|Release|RetainAllocationHandle|[SG]etAccess)"
    r"|hipMem(GetAllocation\w+|GetHandleForAddressRange|Export\w+|Import\w+)"
    r"|hipMem(Pool(Export|Import)\w+|(Get|Set|GetDefault)MemPool)"
    r"|hip\w*BatchAsync|hip\w+_spt|hipPointerSetAttribute"
)


def test_what_is_refused_of_memory():
    text = (API / "not_supported_memory.cpp").read_text()
    names = re.findall(r"^NOT_SUPPORTED\((\w+)\)$", text, re.MULTILINE)
    assert [name for name in names if not re.fullmatch(REFUSED_OF_MEMORY, name)] == []


def test_calls_that_return_text_return_none():
    hip.last_error()
    assert hip.library().hipApiName(1) is None
    assert hip.last_error() == 801


PURE = {
    "hipGetErrorName",
    "hipGetErrorString",
    "hipCreateChannelDesc",
    "hipgraphEmuLastReport",
    "hipgraphEmuReport",
    "hipgraphEmuCounters",
    "hipgraphEmuCaptureRefusal",
    "hipgraphEmuLive",
    "hipgraphEmuStopHostFunctions",
    "hipgraphEmuTimeline",
    "hipgraphEmuLookOn",
    "hipgraphEmuRunning",
}


def test_every_entry_point_goes_through_the_boundary():
    for path in API.glob("*.cpp"):
        for body in re.split(r"^HIPGRAPH_API ", path.read_text(), flags=re.MULTILINE)[1:]:
            name = re.search(r"(\w+)\(", body)[1]
            assert name in PURE or re.search(r"\bentry(<.*>)?\(", body), (path.name, name)


def test_the_process_ends_quietly_with_work_in_flight():
    """No races of static destruction: a spinning kernel, a capture, a thread that waits."""
    done = run_python(
        """
        import ctypes, threading
        from helpers import hip_ctypes as hip
        from helpers.kernels import compile_hip
        source = 'extern "C" __global__ void spin(volatile int* p) { while (*p == 0) {} }'
        spin = hip.function(hip.module(compile_hip(source)), "spin")
        memory = hip.out("hipHostMalloc", 64, 0)
        ctypes.memset(memory, 0, 64)
        params, kept = hip.parameters(ctypes.c_uint64(memory))
        assert hip.launch_kernel(spin, hip.stream(), params) == 0
        capturing = hip.stream()
        hip.begin(capturing)
        hip.ok("hipMemsetAsync", memory, 0, 4, capturing)
        wait = lambda: hip.code("hipDeviceSynchronize")
        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        print("end", flush=True)
        """
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
