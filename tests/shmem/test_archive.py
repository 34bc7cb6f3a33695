"""Static libraries read as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.shim import archive_of, compile_units

from hipgraph_shmem.shmem.archive import read_archive


def test_symbols_of_all_members(tmp_path: Path) -> None:
    first, second = tmp_path / "first.cpp", tmp_path / "a_name_of_more_than_16_bytes.cpp"
    first.write_text(
        'extern "C" int other(int);\n'
        'extern "C" int missing(int);\n'
        "namespace scope { int global = 3; }\n"
        "static int hidden(int x) { return x * missing(x); }\n"
        'extern "C" int one(int x) { return other(x) + hidden(x); }\n'
    )
    second.write_text('extern "C" int other(int);\nextern "C" int other(int x) { return x; }\n')
    archive = archive_of(compile_units([first, second], tmp_path), tmp_path / "lib.a")
    assert archive.defined == {"one", "other", "_ZN5scope6globalE"}
    assert archive.undefined == {"missing"}
    assert archive.processors == ()


def member(name: bytes, data: bytes) -> bytes:
    header = name.ljust(16) + b"0".ljust(12) + b"0".ljust(6) + b"0".ljust(6) + b"644".ljust(8)
    return header + str(len(data)).encode().ljust(10) + b"`\n" + data + b"\n" * (len(data) & 1)


@pytest.mark.parametrize(
    ("image", "processor"),
    [
        (b"__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx942\0", "gfx942"),
        (b"hip-amdgcn-amd-amdhsa-unknown-gfx90a:xnack-\0", "gfx90a:xnack-"),
        (b"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic\0", "gfx9-4-generic"),
        (b"\0arch\0gfx1201\0triple\0amdgcn-amd-amdhsa\0", "gfx1201"),
    ],
)
def test_processors(image: bytes, processor: str, tmp_path: Path) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(b"!<arch>\n" + member(b"code/", image))
    assert read_archive(path).processors == (processor,)


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (b"", "no static library: 0 bytes"),
        (b"\x7fELF and so on", "starts with"),
        (b"!<arch>\n" + member(b"a/", b"data")[:-2], "damaged"),
        (b"!<arch>\n" + b"x" * 70, "damaged"),
        (b"!<arch>\n" + member(b"a/", b"\x7fELF\x02\x01" + bytes(20)), "damaged"),
    ],
)
def test_a_damaged_file_is_refused(image: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(image)
    with pytest.raises(ValueError, match=words) as refused:
        read_archive(path)
    assert str(path) in str(refused.value)
