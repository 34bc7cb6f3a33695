"""Code objects of every form load, and whatever is wrong with one is an error with its cure."""

import struct
from pathlib import Path

import numpy as np
import pytest
from helpers import bundles, emulated
from helpers.kernels import FIXTURES, assemble, compile_hip
from helpers.process import run_python

KERNEL = """
extern "C" __global__ void answer(unsigned* out) { *out = %d; }
__device__ unsigned long table[3] = {1, 2, 3};
__device__ unsigned long* pointer = table + 1;
extern "C" __global__ void follow(unsigned* out) { *out = (unsigned)*pointer; }
"""


def entry(target: str) -> str:
    return f"hipv4-amdgcn-amd-amdhsa--{target}"


def answer_of(image: bytes, name: str = "answer") -> int:
    module = emulated.load(image)
    out = emulated.upload(np.zeros(1, np.uint32))
    emulated.launch(emulated.function(module, name), (1,), (1,), emulated.words(out))
    assert emulated.synchronize() == 0
    found = int(emulated.download(out, 1)[0])
    emulated.free(out)
    emulated.call("hipModuleUnload", module)
    return found


def refusal(image: bytes) -> tuple[int, str]:
    with pytest.raises(emulated.HipCallError) as caught:
        emulated.load(image)
    return caught.value.code, str(caught.value)


@pytest.mark.parametrize("version", [4, 5, 6])
def test_code_object_versions(version):
    assert answer_of(compile_hip(KERNEL % version, version=version)) == version


def test_pointers_between_variables_are_relocated():
    assert answer_of(compile_hip(KERNEL % 0), "follow") == 2


@pytest.mark.parametrize("name", ["three.bundle", "three_v2.ccob", "three_v3.ccob"])
def test_bundles_that_llvm_wrote(name):
    image = (FIXTURES / "bundles" / name).read_bytes()
    if name.endswith("ccob") and not list(Path("/").glob("usr/lib*/**/libzstd.so.1")):
        pytest.skip("needs the system's libzstd")
    module = emulated.load(image)
    emulated.call("hipModuleUnload", module)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_zlib_bundles_of_every_version(version):
    image = bundles.plain(
        ("host-x86_64-unknown-linux-gnu-", b""),
        (entry("gfx90a"), compile_hip(KERNEL % 1, "gfx90a")),
        (entry("gfx942"), compile_hip(KERNEL % 2)),
    )
    assert answer_of(bundles.compressed(image, version)) == 2


def test_the_most_specific_entry_is_taken():
    code = [compile_hip(KERNEL % number) for number in range(4)]
    image = bundles.plain(
        (entry("gfx942"), code[0]),
        (entry("gfx942:xnack-"), code[1]),
        (entry("gfx942:xnack-:sramecc+"), code[2]),
        (entry("gfx942:xnack+"), code[3]),
    )
    assert answer_of(image) == 2


def test_generic_code_runs_and_exact_code_is_preferred():
    generic = compile_hip(KERNEL % 1, "gfx9-4-generic")
    assert answer_of(generic) == 1
    image = bundles.plain(
        (entry("gfx9-4-generic"), generic), (entry("gfx942"), compile_hip(KERNEL % 2))
    )
    assert answer_of(image) == 2


@pytest.mark.parametrize(
    ("target", "device", "loads"),
    [
        ("gfx942", "gfx942:xnack-", True),
        ("gfx942:xnack-", "gfx942:xnack-", True),
        ("gfx942:xnack+", "gfx942:xnack-", False),
        ("gfx942:sramecc+:xnack-", "gfx942", True),
        ("gfx942", "gfx942:xnack+", True),
        ("gfx942:xnack-", "gfx942:xnack+", False),
        ("gfx942:xnack+", "gfx942:xnack+:sramecc+", True),
        ("gfx90a", "gfx942", False),
        ("gfx90a", "gfx90a", True),
        ("gfx9-4-generic", "gfx950", True),
        ("gfx9-4-generic", "gfx90a", False),
        ("gfx9-generic", "gfx90a", False),
    ],
)
def test_targets_and_features(target, device, loads):
    code = f"""
        from helpers import emulated
        from helpers.kernels import compile_hip
        try:
            emulated.load(compile_hip({KERNEL % 1!r}, {target!r}))
            print(0)
        except emulated.HipCallError as failure:
            print(failure.code)
    """
    result = run_python(code, HIPGRAPH_EMU_TARGET=device)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) == (0 if loads else emulated.NO_BINARY_FOR_GPU)


def test_a_bundle_without_the_target_lists_what_it_holds():
    image = bundles.plain(
        (entry("gfx90a:xnack-"), b"x"), (entry("gfx1100"), b"y"), ("host-x86_64-linux-", b"")
    )
    code, text = refusal(image)
    assert code == emulated.NO_BINARY_FOR_GPU
    assert "code for gfx90a:xnack-, gfx1100" in text
    assert "--offload-arch=gfx942" in text


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (b"no code object at all" * 10, "neither an ELF file nor an offload bundle"),
        (Path("/proc/self/exe").read_bytes()[:4096], "not a GPU code object"),
        (b"CCOB" + struct.pack("<HHQQQ", 9, 0, 40, 10, 0) + bytes(8), "version 9"),
        (b"CCOB" + struct.pack("<HHIIQ", 2, 7, 40, 10, 0) + bytes(16), "method 7"),
        (b"CCOB" + struct.pack("<HHQQQ", 3, 0, 64, 1 << 40, 0) + bytes(32), "which its payload"),
        (bundles.MAGIC + struct.pack("<Q", 1 << 60), "damaged"),
        (bundles.MAGIC + struct.pack("<QQQQ", 1, 1 << 62, 1 << 62, 4) + b"abcd", "damaged"),
    ],
)
def test_what_is_no_code_object(image, reason):
    code, text = refusal(image)
    assert code == emulated.INVALID_IMAGE
    assert reason in text


def test_a_payload_that_does_not_unpack():
    image = bytearray(bundles.compressed(bundles.plain((entry("gfx942"), b"x" * 1000)), 2))
    image[30:40] = bytes(10)
    assert refusal(bytes(image))[0] == emulated.INVALID_IMAGE


def test_a_false_size_is_found():
    image = bundles.plain((entry("gfx942"), compile_hip(KERNEL % 1)))
    for claimed in (len(image) - 1, len(image) + 1):
        code, text = refusal(bundles.compressed(image, 3, claimed=claimed))
        assert code == emulated.INVALID_IMAGE
        assert "does not unpack" in text


def test_an_undefined_symbol_is_named():
    source = """
        .text
        .globl start
        start: s_endpgm
        .data
        .quad nowhere_defined
    """
    code, text = refusal(assemble("gfx942", source))
    assert code == emulated.INVALID_IMAGE
    assert "nowhere_defined" in text


@pytest.mark.parametrize("source", ["file", "memory"])
def test_damaged_code_never_ends_the_process(source, tmp_path):
    """Every cut and thousands of bit errors: refused or loaded, as the bytes allow.

    A file's end is known. Memory is given without a size, so a damaged image may lead the reader
    on into whatever lies behind it.
    """
    code = f"""
        import ctypes
        import pathlib
        import random
        from helpers import bundles, emulated
        from helpers.kernels import compile_hip
        whole = compile_hip({KERNEL % 1!r})
        wrapped = bundles.compressed(
            bundles.plain(("hipv4-amdgcn-amd-amdhsa--gfx942", whole)), 3)
        random.seed(7)
        seen = set()
        path = pathlib.Path({str(tmp_path / "code")!r})
        def load(image):
            if {source == "memory"}:
                return emulated.load(image)
            path.write_bytes(image)
            module = ctypes.c_void_p()
            emulated.call("hipModuleLoad", ctypes.byref(module), bytes(path))
            return module
        def attempt(image):
            try:
                emulated.call("hipModuleUnload", load(image))
                seen.add(0)
            except emulated.HipCallError as failure:
                seen.add(failure.code)
        for image in (whole, wrapped):
            for end in range(1, len(image), 37):
                attempt(image[:end] + bytes(1 << 12))
            for _ in range(1500):
                damaged = bytearray(image)
                for _ in range(random.randint(1, 6)):
                    damaged[random.randrange(len(damaged))] = random.randrange(256)
                attempt(bytes(damaged))
        print(sorted(seen))
    """
    result = run_python(code, timeout=240)
    assert result.returncode == 0, result.stderr[-2000:]
    assert set(eval(result.stdout)) <= {0, emulated.INVALID_IMAGE, emulated.NO_BINARY_FOR_GPU}


def test_code_object_memory_comes_back():
    import ctypes

    def used() -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        emulated.call("hipMemGetInfo", ctypes.byref(free), ctypes.byref(total))
        return total.value - free.value

    image = compile_hip(KERNEL % 1)
    answer_of(image)
    before = used()
    for _ in range(300):
        emulated.call("hipModuleUnload", emulated.load(image))
    assert used() == before
