import importlib.util
import struct

import pytest
from helpers import bundles
from helpers.kernels import FIXTURES

from hipgraph_shmem.errors import CodeObjectError
from hipgraph_shmem.offload_bundle import entries
from hipgraph_shmem.target import Target

HOST = "host-x86_64-unknown-linux-gnu-"
GFX942 = "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
GFX950 = "hipv4-amdgcn-amd-amdhsa--gfx950"
PLAIN = bundles.plain((HOST, b""), (GFX942, b"one" * 99), (GFX950, b"two" * 99))
HAS_ZSTD = any(importlib.util.find_spec(package) for package in ("zstandard", "compression"))


@pytest.fixture
def zstd():
    if not HAS_ZSTD:
        pytest.skip("this Python has no zstd: install zstandard")


def found(image):
    return [(str(entry.target), entry.image) for entry in entries(image, "test")]


EXPECTED = [("gfx942:sramecc+:xnack-", b"one" * 99), ("gfx950", b"two" * 99)]


def test_a_plain_bundle_gives_its_device_entries():
    assert found(PLAIN) == EXPECTED


@pytest.mark.parametrize("version", [1, 2, 3])
def test_zlib_of_every_version(version):
    assert found(bundles.compressed(PLAIN, version)) == EXPECTED


def test_compressed_bundles_one_after_another():
    other = bundles.plain((GFX950, b"three"))
    image = bundles.compressed(PLAIN, 2) + bundles.compressed(other, 3) + b"\0" * 8
    assert found(image) == [*EXPECTED, ("gfx950", b"three")]


@pytest.mark.parametrize("name", ["three_v2.ccob", "three_v3.ccob"])
def test_what_llvm_compressed_equals_what_it_bundled(zstd, name):
    folder = FIXTURES / "bundles"
    plain = found(folder.joinpath("three.bundle").read_bytes())
    assert [target for target, _ in plain] == ["gfx90a:xnack-", "gfx942", "gfx950"]
    assert found(folder.joinpath(name).read_bytes()) == plain


def test_an_old_entry_name_without_environment():
    assert found(bundles.plain(("hip-amdgcn-amd-amdhsa-gfx906", b"x"))) == [("gfx906", b"x")]


def test_a_generic_processor_keeps_its_dashes():
    image = bundles.plain(("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", b"x"))
    assert entries(image, "test")[0].target == Target("gfx9-4-generic")


def test_a_bundle_with_only_a_host_entry_is_empty():
    assert found(bundles.plain((HOST, b""))) == []


BAD = {
    "unknown version": bundles.compressed(PLAIN, 4),
    "unknown method": bundles.compressed(PLAIN, 3, method=7),
    "bad hash": bundles.compressed(PLAIN, 3, digest=b"12345678"),
    "claims too little": bundles.compressed(PLAIN, 2, claimed=10),
    "claims too much": bundles.compressed(PLAIN, 2, claimed=len(PLAIN) + 1),
    "claims beyond all bounds": bundles.compressed(PLAIN, 3, claimed=1 << 60),
    "payload cut": bundles.compressed(PLAIN, 3)[:-20],
    "header cut": bundles.compressed(PLAIN, 3)[:20],
    "no payload": b"CCOB",
    "not zlib": bundles.compressed(PLAIN, 1, compress=lambda data: data),
    "garbage after": bundles.compressed(PLAIN, 2) + b"garbage",
    "plain cut in the table": PLAIN[:60],
    "plain cut in an image": PLAIN[:-1],
    "too many entries": bundles.MAGIC + struct.pack("<Q", 1 << 40),
    "unreadable target": bundles.plain(("hipv4-amdgcn-amd-amdhsa--sm_90", b"x")),
}


@pytest.mark.parametrize("image", BAD.values(), ids=BAD.keys())
def test_a_damaged_bundle_is_refused_with_its_source(image):
    with pytest.raises(CodeObjectError) as caught:
        entries(image, "some.hsaco")
    assert caught.value.source == "some.hsaco"
    assert caught.value.cure


def test_damaged_zstd_is_refused(zstd):
    image = bytearray(FIXTURES.joinpath("bundles/three_v3.ccob").read_bytes())
    image[200] ^= 0xFF
    with pytest.raises(CodeObjectError):
        entries(bytes(image), "some.hsaco")
