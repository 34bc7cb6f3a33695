"""Build the precompiled kernels for every target: an offload bundle for each folder of .hip files.

    python native/kernels/build.py           write hipgraph_shmem/kernels/
    python native/kernels/build.py --check   build again and compare with what is there

Needs the ``ziglang`` package and nothing of ROCm. The result is the same bit for bit wherever it
is built with the same ziglang: sources are named relative to this folder, and symbols that only a
debugger would want are stripped.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SOURCE_DIR = Path(__file__).resolve().parent
INCLUDE_DIR = SOURCE_DIR.parent / "shmem" / "include"
ARTEFACT_DIR = SOURCE_DIR.parents[1] / "hipgraph_shmem" / "kernels"
#: Bundles by the folder of their sources. What SHMEM's users build lies apart, as theirs does.
BUNDLES = {"kernels.hipfb": ".", "pass_on.hipfb": "pass_on"}
MANIFEST_NAME = "manifest.json"
TARGETS = ("gfx90a", "gfx942", "gfx950")

# -I: relative, since the path of a header may reach the code object.
# -cuid: the compilation unit's id, else a hash of where it was compiled.
# -fno-discard-value-names: argument names for the metadata.
# -munsafe-fp-atomics: fp32 adds as one instruction, in ordinary device memory.
FRONT_END_FLAGS = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-cuid=kernels"),
    *("-I", "../shmem/include"),
    *("-std=c++20", "-O3", "-ffp-contract=off", "-munsafe-fp-atomics", "-fno-discard-value-names"),
    *("-Wall", "-Wextra", "-Wconversion", "-Werror", "-emit-llvm", "-c"),
)
BACK_END_FLAGS = (
    *("--target=amdgcn-amd-amdhsa", "-nogpulib", "-O3", "-fno-discard-value-names"),
    *("-c", "-x", "ir"),
)
LINK_FLAGS = ("-shared", "--strip-all")

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
BUNDLE_ALIGNMENT = 4096
HOST_ENTRY = "host-x86_64-unknown-linux-gnu-"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an offload bundle: what it is for, and its bytes."""

    id: str
    image: bytes

    def facts(self) -> dict[str, str | int]:
        """Describe it for the manifest."""
        return {"id": self.id, "bytes": len(self.image), "sha256": sha256(self.image)}


def ziglang(tool: str, *arguments: str, stdin: str = "") -> str:
    """Run one of ziglang's LLVM tools beside the sources and return its output."""
    command = [sys.executable, "-m", "ziglang", tool, *arguments]
    done = subprocess.run(
        command, cwd=SOURCE_DIR, input=stdin, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def build_code_object(folder: str, target: str, scratch: Path) -> bytes:
    """Compile every source of a folder for one target into one code object.

    They are compiled as one unit: the linker would keep one metadata note for each object, and
    loaders read only the first.
    """
    paths = SOURCE_DIR.joinpath(folder).glob("*.hip")
    sources = sorted(path.relative_to(SOURCE_DIR).as_posix() for path in paths)
    unit = "".join(f'#include "{name}"\n' for name in sources)
    bitcode, native, linked = (
        str(scratch / f"{target}{suffix}") for suffix in (".bc", ".o", ".co")
    )
    front_end = (*FRONT_END_FLAGS, f"--offload-arch={target}", "-", "-o", bitcode)
    ziglang("clang", *front_end, stdin=unit)
    ziglang("clang", *BACK_END_FLAGS, f"-mcpu={target}", bitcode, "-o", native)
    ziglang("ld.lld", *LINK_FLAGS, native, "-o", linked)
    return Path(linked).read_bytes()


def bundle(entries: list[Entry]) -> bytes:
    """Lay entries out as clang-offload-bundler does: a table of them, then their aligned bytes."""
    table_size = len(BUNDLE_MAGIC) + 8 + sum(24 + len(entry.id) for entry in entries)
    table = BUNDLE_MAGIC + struct.pack("<Q", len(entries))
    images = b""
    for entry in entries:
        padding = -(table_size + len(images)) % BUNDLE_ALIGNMENT
        images += bytes(padding)
        place = (table_size + len(images), len(entry.image), len(entry.id))
        table += struct.pack("<QQQ", *place) + entry.id.encode()
        images += entry.image
    return table + images


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def manifest(bundles: dict[str, list[Entry]], bundled: dict[str, bytes]) -> str:
    """Describe the bundles: what they were built from, with what, and the hashes of both ends."""
    sources = [path for path in SOURCE_DIR.rglob("*") if path.suffix in {".hip", ".h"}]
    hashes = {path.relative_to(SOURCE_DIR).as_posix(): path for path in sources}
    headers = [path for path in INCLUDE_DIR.rglob("*") if path.suffix in {".hpp", ".h"}]
    hashes |= {path.relative_to(INCLUDE_DIR).as_posix(): path for path in headers}
    facts = {
        "bundles": [
            {
                "file": name,
                "bytes": len(bundled[name]),
                "sha256": sha256(bundled[name]),
                "entries": [entry.facts() for entry in entries],
            }
            for name, entries in bundles.items()
        ],
        "sources": {name: sha256(path.read_bytes()) for name, path in sorted(hashes.items())},
        "compiler": {
            "ziglang": importlib.metadata.version("ziglang"),
            "clang": ziglang("clang", "--version").splitlines()[0],
        },
        "flags": {
            "front_end": [*FRONT_END_FLAGS, "--offload-arch=TARGET"],
            "back_end": [*BACK_END_FLAGS, "-mcpu=TARGET"],
            "link": list(LINK_FLAGS),
        },
    }
    return json.dumps(facts, indent=2) + "\n"


def build_entries(folder: str) -> list[Entry]:
    """Build a folder's code objects: an empty one for the host, and one for each target."""
    entries = [Entry(HOST_ENTRY, b"")]
    with tempfile.TemporaryDirectory() as scratch:
        for target in TARGETS:
            image = build_code_object(folder, target, Path(scratch))
            entries.append(Entry(f"hipv4-amdgcn-amd-amdhsa--{target}", image))
    return entries


def build() -> dict[str, bytes]:
    """Build everything; return the artefacts by file name."""
    bundles = {name: build_entries(folder) for name, folder in BUNDLES.items()}
    bundled = {name: bundle(entries) for name, entries in bundles.items()}
    return {**bundled, MANIFEST_NAME: manifest(bundles, bundled).encode()}


def differences(artefacts: dict[str, bytes]) -> list[str]:
    """Name the artefacts that are missing from the package or differ from fresh ones."""
    stale = []
    for name, fresh in artefacts.items():
        path = ARTEFACT_DIR / name
        if not path.is_file():
            stale.append(f"{name} is missing")
        elif path.read_bytes() != fresh:
            stale.append(f"{name} differs from a fresh build")
    return stale


def main() -> int:
    """Build, then either install the artefacts in the package or compare them with it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    artefacts = build()
    if arguments.check:
        stale = differences(artefacts)
        for line in stale:
            sys.stderr.write(f"{ARTEFACT_DIR.name}/{line}\n")
        return 1 if stale else 0
    ARTEFACT_DIR.mkdir(parents=True, exist_ok=True)
    for name, data in artefacts.items():
        (ARTEFACT_DIR / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
