"""The committed code objects: what they are built from, that they rebuild, and what they hold."""

import hashlib
import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "native" / "kernels"
HEADERS = ROOT / "native" / "shmem" / "include"
ARTEFACTS = ROOT / "hipgraph_shmem" / "kernels"
BUNDLE = ARTEFACTS / "kernels.hipfb"
APART = ARTEFACTS / "pass_on.hipfb"
MANIFEST = ARTEFACTS / "manifest.json"
TARGETS = ["gfx90a", "gfx942", "gfx950"]
ELF_PROCESSOR = {"gfx90a": 0x3F, "gfx942": 0x4C, "gfx950": 0x4F}
LDS_OF_COMPUTE_UNIT = {"gfx90a": 64 << 10, "gfx942": 64 << 10, "gfx950": 160 << 10}

MATRICES = ["a", "b", "bias", "d", "workspace", "counters", "error"]
GEMM_SIZES = [(name, 4) for name in "mnk"] + [(f"stride_{name}", 8) for name in "abd"]
CHOICES = [("split_k", 4), ("d_type", 4), ("bias_type", 4)]
GEMM = [(name, 8) for name in MATRICES] + GEMM_SIZES + CHOICES
REDUCE = [(name, 8) for name in ["workspace", "bias", "d"]]
REDUCE += [("m", 4), ("n", 4), ("stride_d", 8), *CHOICES]
SPIN = [(name, 8) for name in ["a", "b", "d", "counters"]] + GEMM_SIZES + [("split_k", 4)]
TILES = [16, 32, 64, 128]
SHMEM = {
    "shmem_barrier": [("state", 8), ("team", 8)],
    "shmem_signal": [("word", 8), ("value", 8), ("operation", 4)],
    "shmem_wait_until": [("state", 8), ("word", 8), ("comparison", 4), ("value", 8)],
    "shmem_fence": [],
    **{
        f"shmem_atomic{8 * size}": [
            *[("word", 8), ("operation", 4), ("value", size), ("condition", size)],
            ("result", 8),
        ]
        for size in (4, 8)
    },
}
OFFSETS = [("target_offset", 8), ("source_offset", 8)]
SHMEM_WIDE = {
    "shmem_copy": [("target", 8), ("source", 8), ("bytes", 8)],
    **{
        f"shmem_{operation}_{kind}": [("state", 8), ("team", 8), *OFFSETS, ("count", 8)]
        for operation in ("sum", "min", "max", "prod")
        for kind in ("float", "double", "int", "long", "bfloat16")
    },
}
POINTERS = {*MATRICES, "state", "team", "word", "result", "target", "source"}
PARAMETERS = {
    **{f"splitk_gemm_{kind}_m{tile}": GEMM for kind in ["bf16", "f16"] for tile in TILES},
    **{f"splitk_reduce_m{tile}": REDUCE for tile in TILES},
    "splitk_spin_bf16_m64": SPIN,
    **SHMEM,
    **SHMEM_WIDE,
}
# Workgroups that a compute unit must be able to hold at once.
RESIDENT_WORKGROUPS = {16: 8, 32: 6, 64: 3, 128: 1}


def bundle_entries(data: bytes) -> dict[str, bytes]:
    """Read an offload bundle: entry ids and their bytes."""
    assert data[:24] == b"__CLANG_OFFLOAD_BUNDLE__"
    (count,) = struct.unpack_from("<Q", data, 24)
    entries, position = {}, 32
    for _ in range(count):
        offset, size, id_size = struct.unpack_from("<QQQ", data, position)
        entry_id = data[position + 24 : position + 24 + id_size].decode()
        entries[entry_id] = data[offset : offset + size]
        assert offset + size <= len(data)
        position += 24 + id_size
    return entries


def notes(elf: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """Owner, type and contents of every note in an ELF's PT_NOTE segments."""
    (table,) = struct.unpack_from("<Q", elf, 32)
    entry_size, count = struct.unpack_from("<HH", elf, 54)
    for index in range(count):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", elf, table + index * entry_size)
        end = offset + size
        while kind == 4 and offset < end:
            owner_size, size, note_kind = struct.unpack_from("<III", elf, offset)
            contents = offset + 12 + -(-owner_size // 4) * 4
            owner = elf[offset + 12 : offset + 12 + owner_size].rstrip(b"\0")
            yield owner, note_kind, elf[contents : contents + size]
            offset = contents + -(-size // 4) * 4


def code_object(target: str) -> bytes:
    return bundle_entries(BUNDLE.read_bytes())[f"hipv4-amdgcn-amd-amdhsa--{target}"]


def kernels_of(target: str) -> dict[str, dict[str, Any]]:
    """The metadata of a target's kernels by name."""
    (metadata,) = [text for owner, kind, text in notes(code_object(target)) if owner == b"AMDGPU"]
    return {kernel[".name"]: kernel for kernel in msgpack.unpackb(metadata)["amdhsa.kernels"]}


@pytest.fixture(scope="module")
def copied_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernels' sources and artefacts somewhere else, under a path of another length."""
    root = tmp_path_factory.mktemp("another") / "place"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCES, root / "native" / "kernels", ignore=ignore)
    shutil.copytree(HEADERS, root / "native" / "shmem" / "include")
    shutil.copytree(ARTEFACTS, root / "hipgraph_shmem" / "kernels", ignore=ignore)
    return root


def build(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("ziglang", reason="the kernels are compiled with ziglang's clang")
    script = str(root / "native" / "kernels" / "build.py")
    return subprocess.run(
        [sys.executable, script, *arguments], cwd="/", capture_output=True, text=True, timeout=300
    )


def test_check_passes_where_nothing_changed_and_names_what_did(copied_tree: Path) -> None:
    damaged = bytearray(BUNDLE.read_bytes())
    damaged[-1] ^= 1
    (copied_tree / "hipgraph_shmem" / "kernels" / BUNDLE.name).write_bytes(damaged)
    done = build(copied_tree, "--check")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [f"kernels/{BUNDLE.name} differs from a fresh build"]


def test_rebuild_elsewhere_is_bit_identical(copied_tree: Path) -> None:
    artefacts = (BUNDLE, APART, MANIFEST)
    for artefact in artefacts:
        (copied_tree / "hipgraph_shmem" / "kernels" / artefact.name).unlink()
    done = build(copied_tree)
    assert done.returncode == 0, done.stderr
    for artefact in artefacts:
        rebuilt = copied_tree / "hipgraph_shmem" / "kernels" / artefact.name
        assert rebuilt.read_bytes() == artefact.read_bytes(), artefact.name


def test_manifest_tells_the_truth() -> None:
    manifest = json.loads(MANIFEST.read_text())
    assert [bundle["file"] for bundle in manifest["bundles"]] == [BUNDLE.name, APART.name]
    for facts in manifest["bundles"]:
        bundle = (ARTEFACTS / facts["file"]).read_bytes()
        assert facts["sha256"] == hashlib.sha256(bundle).hexdigest()
        assert facts["bytes"] == len(bundle)
        assert {entry["id"]: entry["sha256"] for entry in facts["entries"]} == {
            entry_id: hashlib.sha256(image).hexdigest()
            for entry_id, image in bundle_entries(bundle).items()
        }
    sources = {}
    for folder, suffixes in ((SOURCES, (".hip", ".h")), (HEADERS, (".hpp", ".h"))):
        for path in folder.rglob("*"):
            if path.suffix in suffixes:
                sources[path.relative_to(folder).as_posix()] = path
    assert manifest["sources"] == {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sources.items()
    }
    assert f'"ziglang=={manifest["compiler"]["ziglang"]}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("bundle", [BUNDLE, APART], ids=lambda path: path.name)
def test_bundle_holds_an_empty_host_entry_and_one_for_each_target(bundle: Path) -> None:
    entries = bundle_entries(bundle.read_bytes())
    assert list(entries) == [
        "host-x86_64-unknown-linux-gnu-",
        *(f"hipv4-amdgcn-amd-amdhsa--{target}" for target in TARGETS),
    ]
    assert [len(image) > 0 for image in entries.values()] == [False, True, True, True]


@pytest.mark.parametrize("bundle", [BUNDLE, APART], ids=lambda path: path.name)
def test_bundle_carries_no_machine_path(bundle: Path) -> None:
    data = bundle.read_bytes()
    for trace in (b"/tmp", b"/home", b"/root", b".hip\0", b"native/kernels"):
        assert trace not in data


@pytest.mark.parametrize("target", TARGETS)
def test_code_object_is_for_its_target_in_any_feature_mode(target: str) -> None:
    elf = code_object(target)
    machine, flags = struct.unpack_from("<H", elf, 18)[0], struct.unpack_from("<I", elf, 48)[0]
    assert (elf[:4], elf[7], machine) == (b"\x7fELF", 64, 224)
    assert flags & 0xFF == ELF_PROCESSOR[target]
    assert (flags >> 8 & 3, flags >> 10 & 3) == (1, 1)  # xnack any, sramecc any


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_and_their_parameters_are_the_documented_ones(target: str) -> None:
    kernels = kernels_of(target)
    assert kernels.keys() == PARAMETERS.keys()
    for name, expected in PARAMETERS.items():
        arguments = kernels[name][".args"]
        assert [(argument[".name"], argument[".size"]) for argument in arguments] == expected
        for argument in arguments:
            pointer = argument[".name"] in POINTERS
            assert argument[".value_kind"] == ("global_buffer" if pointer else "by_value")
            assert argument[".offset"] % argument[".size"] == 0
        threads = 64 if name in SHMEM else 256
        assert kernels[name][".max_flat_workgroup_size"] == threads
        assert kernels[name][".wavefront_size"] == 64


@pytest.mark.parametrize("target", TARGETS)
def test_no_kernel_spills_or_uses_scratch(target: str) -> None:
    for name, kernel in kernels_of(target).items():
        assert kernel[".private_segment_fixed_size"] == 0, name
        assert kernel[".vgpr_spill_count"] == kernel[".sgpr_spill_count"] == 0, name
        assert not kernel[".uses_dynamic_stack"], name


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("target", TARGETS)
def test_registers_and_lds_leave_room_for_the_planned_workgroups(target: str, tile: int) -> None:
    kernels = kernels_of(target)
    for kind in ("bf16", "f16"):
        kernel = kernels[f"splitk_gemm_{kind}_m{tile}"]
        # Two stages of tile rows of 144 bytes, and the word that tells who arrived last.
        assert 2 * tile * 144 < kernel[".group_segment_fixed_size"] <= 2 * tile * 144 + 16
        registers = -(-kernel[".vgpr_count"] // 8) * 8
        by_registers = min(8, 512 // registers)  # each of the four waves runs on its own SIMD
        by_lds = LDS_OF_COMPUTE_UNIT[target] // kernel[".group_segment_fixed_size"]
        assert min(by_registers, by_lds) >= RESIDENT_WORKGROUPS[tile]
