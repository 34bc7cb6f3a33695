"""Oracles: the msgpack package on the file's note, LLVM's readelf-like facts, AMD's files."""

import struct
from pathlib import Path

import msgpack
import pytest
from helpers import bundles
from helpers.kernels import FIXTURES, arguments_code_object, assemble, compile_hip

from hipgraph_shmem.code_object import CodeObject, select, targets
from hipgraph_shmem.errors import CodeObjectError
from hipgraph_shmem.target import Target

DEVICE = Target.parse("gfx942:sramecc+:xnack-")
TWO_KERNELS = """
extern "C" __global__ __launch_bounds__(128) void first(int* p) {
  __attribute__((shared)) static int lds[256]; lds[p[0]] = p[1]; p[2] = lds[p[3]]; }
extern "C" __global__ void second() {}
"""


def metadata_by_msgpack(image):
    """Find the note by its owner's name and let the msgpack package read it."""
    at = image.index(b"AMDGPU\0\0") - 12
    _, size, kind = struct.unpack_from("<III", image, at)
    assert kind == 32
    return msgpack.unpackb(image[at + 20 : at + 20 + size], strict_map_key=False)


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950"])
def test_kernel_arguments_are_those_of_the_note(target):
    image = arguments_code_object(target)
    (raw,) = metadata_by_msgpack(image)["amdhsa.kernels"]
    kernel = CodeObject(image).kernels["mixed"]
    assert kernel.kernarg_bytes == raw[".kernarg_segment_size"]
    assert [(a.offset, a.size, a.kind) for a in kernel.arguments] == [
        (a[".offset"], a[".size"], a[".value_kind"]) for a in raw[".args"]
    ]
    assert [a.is_pointer for a in kernel.explicit] == [False, False, True] + [False] * 6 + [True]
    assert kernel.symbol == "mixed.kd"


def test_hidden_arguments_are_not_explicit():
    image = compile_hip(
        'extern "C" __global__ void k(int* p) { p[0] = __builtin_amdgcn_workgroup_size_x(); }'
    )
    kernel = CodeObject(image).kernels["k"]
    assert len(kernel.explicit) == 1
    assert {a.kind for a in kernel.arguments if a.is_hidden} >= {"hidden_group_size_x"}


def test_sizes_of_a_kernel():
    kernels = CodeObject(compile_hip(TWO_KERNELS)).kernels
    assert sorted(kernels) == ["first", "second"]
    assert kernels["first"].max_threads_per_block == 128
    assert kernels["first"].lds_bytes == 1024
    assert kernels["first"].wavefront_size == 64
    assert kernels["second"].kernarg_bytes == 0


def test_variables_have_their_sizes_and_no_marks():
    assert dict(CodeObject(arguments_code_object()).variables) == {"counter_word": 4, "table": 16}


@pytest.mark.parametrize("version", [4, 5, 6])
def test_versions_4_to_6_are_read(version):
    code_object = CodeObject(compile_hip(TWO_KERNELS, version=version))
    assert code_object.version == version
    assert sorted(code_object.kernels) == ["first", "second"]


def falsified(image, at, value):
    return image[:at] + bytes([value]) + image[at + 1 :]


def test_an_unsupported_version_is_named_with_its_cure():
    image = falsified(assemble("gfx942"), 8, 9)
    with pytest.raises(CodeObjectError) as caught:
        CodeObject(image, "new.co")
    assert "newer than" in caught.value.problem
    assert "-mcode-object-version=5" in caught.value.cure
    with pytest.raises(CodeObjectError) as caught:
        CodeObject(falsified(image, 8, 1))
    assert "older than" in caught.value.problem


def test_a_host_library_is_no_code_object():
    library = Path("/proc/self/exe").resolve().read_bytes()
    with pytest.raises(CodeObjectError) as caught:
        CodeObject(library, "python")
    assert "not a GPU code object" in caught.value.problem


@pytest.mark.parametrize("image", [b"", b"\x7fELF", b"#!/bin/sh\n", b"\x7fELF" + b"\0" * 60])
def test_what_is_no_image_is_refused(image):
    with pytest.raises(CodeObjectError):
        CodeObject(image, "no.co")


def test_every_truncation_is_found():
    image = arguments_code_object()
    for end in range(0, len(image), 97):
        with pytest.raises(CodeObjectError):
            CodeObject(image[:end], "cut.co")


def test_random_damage_raises_nothing_else():
    image = bytearray(arguments_code_object())
    for at in range(16, len(image), 31):
        damaged = bytearray(image)
        damaged[at] ^= 0xFF
        try:
            code_object = CodeObject(bytes(damaged))
            assert code_object.kernels is not None
            assert code_object.variables is not None
        except CodeObjectError:
            pass


def test_an_argument_outside_the_segment_is_refused():
    image = bytearray(arguments_code_object())
    key = b".kernarg_segment_size"
    at = image.index(key) + len(key)
    assert image[at] < 0x80  # msgpack's form of a small number is the number
    image[at] = 8
    with pytest.raises(CodeObjectError, match="outside"):
        _ = CodeObject(bytes(image)).kernels


def bundle(**images):
    return bundles.plain(
        *((f"hipv4-amdgcn-amd-amdhsa--{name}", image) for name, image in images.items())
    )


def test_select_takes_the_most_specific_entry():
    generic, plain = assemble("gfx9-4-generic"), assemble("gfx942")
    named = assemble("gfx942:sramecc+:xnack-")
    every = {"gfx9-4-generic": generic, "gfx942": plain, "gfx942:sramecc+:xnack-": named}
    for order in (every, dict(reversed(every.items()))):
        assert select(bundle(**order), DEVICE).image == named
    wordy = assemble("gfx9-4-generic:sramecc+:xnack-")
    image = bundle(**{"gfx9-4-generic:sramecc+:xnack-": wordy, "gfx942": plain})
    assert select(image, DEVICE).image == plain
    assert select(generic, DEVICE).target.processor == "gfx9-4-generic"


def test_select_lists_what_the_image_holds_and_why_not():
    image = bundle(**{"gfx90a": assemble("gfx90a"), "gfx942:xnack+": assemble("gfx942:xnack+")})
    with pytest.raises(CodeObjectError) as caught:
        select(image, DEVICE, "some.hsaco")
    assert "gfx90a: object is for gfx90a" in caught.value.problem
    assert "needs xnack+" in caught.value.problem
    assert [str(target) for target in targets(image)] == ["gfx90a", "gfx942:xnack+"]


def test_an_entry_that_lies_about_its_target_is_found():
    with pytest.raises(CodeObjectError) as caught:
        select(bundle(gfx942=assemble("gfx90a")), DEVICE)
    assert "gfx90a" in caught.value.problem


def test_a_bundle_without_device_code_says_so():
    image = bundles.plain(("host-x86_64-unknown-linux-gnu-", b""))
    with pytest.raises(CodeObjectError) as caught:
        select(image, DEVICE)
    assert "no device code" in caught.value.problem


def test_llvms_bundle_gives_the_kernel_of_each_target():
    image = FIXTURES.joinpath("bundles/three.bundle").read_bytes()
    for text in ("gfx90a:sramecc+:xnack-", "gfx942:sramecc+:xnack-", "gfx950:sramecc+:xnack+"):
        code_object = select(image, Target.parse(text))
        assert code_object.target.processor == text.split(":")[0]
        assert list(code_object.kernels) == ["mixed"]


def test_amds_shipped_kernels_are_read_as_msgpack_reads_them(aiter_dir):
    files = sorted(aiter_dir.rglob("*.co"))
    assert files
    for path in files:
        image = path.read_bytes()
        kernels = CodeObject(image, str(path)).kernels
        for raw in metadata_by_msgpack(image)["amdhsa.kernels"]:
            kernel = kernels[raw[".name"]]
            assert kernel.kernarg_bytes == raw[".kernarg_segment_size"]
            assert [(a.offset, a.size) for a in kernel.arguments] == [
                (a[".offset"], a[".size"]) for a in raw[".args"]
            ]
