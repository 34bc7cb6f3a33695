"""HIP C++ programs compiled for the host and a device with ziglang's clang, without ROCm."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers.isa import library_path

SOURCES = Path(__file__).resolve().parents[1] / "fixtures" / "hip_programs"
ZIG = (sys.executable, "-m", "ziglang")
HOST = "x86_64-linux-gnu"
HOST_ENTRY = "host-x86_64-unknown-linux-gnu-"
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
ALIGNMENT = 4096


def run_tool(*arguments: str) -> None:
    """Run one of ziglang's tools."""
    done = subprocess.run([*ZIG, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{' '.join(arguments)}\n{done.stderr}")


def bundle(images: dict[str, bytes]) -> bytes:
    """Lay entries out as clang-offload-bundler does."""
    images = {HOST_ENTRY: b"", **images}
    table = len(MAGIC) + 8 + sum(24 + len(name) for name in images)
    head, body = MAGIC + len(images).to_bytes(8, "little"), b""
    for name, image in images.items():
        body += bytes(-(table + len(body)) % ALIGNMENT)
        place = (table + len(body), len(image), len(name))
        head += b"".join(number.to_bytes(8, "little") for number in place) + name.encode()
        body += image
    return head + body


def compile_device(unit: Path, target: str, folder: Path, *flags: str) -> bytes:
    """Compile the device side of a program to a code object."""
    bitcode, native, linked = (str(folder / f"{unit.stem}{end}") for end in (".bc", ".d.o", ".co"))
    front = ("-x", "hip", "--cuda-device-only", f"--offload-arch={target}", "-emit-llvm", "-c")
    run_tool("clang", *front, *flags, str(unit), "-o", bitcode)
    back = ("--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-O2", "-c", "-x", "ir")
    run_tool("clang", *back, bitcode, "-o", native)
    run_tool("ld.lld", "-shared", native, "-o", linked)
    return Path(linked).read_bytes()


def compile_unit(unit: Path, target: str, folder: Path) -> str:
    """Compile one source for device and host; return the object, with the device code inside."""
    flags = ("-nogpuinc", "-nogpulib", f"-cuid={unit.stem}", "-std=c++20", "-fno-exceptions")
    flags += ("-fno-threadsafe-statics", "-O2", f"-I{SOURCES}")
    image = compile_device(unit, target, folder, *flags)
    packed, made = folder / f"{unit.stem}.hipfb", folder / f"{unit.stem}.o"
    packed.write_bytes(bundle({f"hipv4-amdgcn-amd-amdhsa--{target}": image}))
    host = ("-x", "hip", "--cuda-host-only", f"--offload-arch={target}", f"--target={HOST}", "-c")
    embed = ("-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(packed))
    run_tool("clang", *host, "-fPIC", *flags, *embed, str(unit), "-o", str(made))
    return str(made)


@functools.cache
def build_program(name: str, target: str = "gfx942") -> Path:
    """Compile and link a program, or one of several units (a folder), against the library."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-{target}-"))
    source = SOURCES / name
    units = sorted(source.glob("*.hip")) if source.is_dir() else [SOURCES / f"{name}.hip"]
    objects = [compile_unit(unit, target, folder) for unit in units]
    program = folder / name
    library = library_path()
    run_tool("cc", "-target", HOST, *objects, str(library), "-o", str(program))
    return program


def run_program(
    name: str, target: str = "gfx942", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library_path().parent), **variables}
    return subprocess.run(
        [build_program(name, target)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
