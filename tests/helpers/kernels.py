"""Code objects made with the clang of the package ziglang: no ROCm, no GPU."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PREAMBLE = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
"""


def zig(*args: str) -> str:
    """Run one of ziglang's tools; return what it prints."""
    command = [sys.executable, "-m", "ziglang", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise ValueError(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


@functools.cache
def compile_hip(
    source: str, target: str = "gfx942", *, version: int = 6, include: Path = FIXTURES
) -> bytes:
    """Compile HIP source to a code object: front end, back end, linker."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        base.joinpath("k.hip").write_text(PREAMBLE + source)
        options = [f"-mcode-object-version={version}", "-O2", "-nogpulib", "-Wno-everything"]
        zig(
            "clang",
            "-x",
            "hip",
            "--cuda-device-only",
            "-nogpuinc",
            f"--offload-arch={target}",
            f"-I{include}",
            "-fgpu-rdc",
            "-emit-llvm",
            "-c",
            f"{base}/k.hip",
            "-o",
            f"{base}/k.bc",
            *options,
        )
        zig(
            "clang",
            "--target=amdgcn-amd-amdhsa",
            f"-mcpu={target}",
            "-c",
            "-x",
            "ir",
            f"{base}/k.bc",
            "-o",
            f"{base}/k.o",
            *options,
        )
        zig("ld.lld", "-shared", "-o", f"{base}/k.co", f"{base}/k.o")
        return base.joinpath("k.co").read_bytes()


@functools.cache
def assemble(target: str, source: str = "s_endpgm\n", *, version: int = 6) -> bytes:
    """Assemble and link GPU assembly to an ELF file."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        base.joinpath("k.s").write_text(source)
        zig(
            "clang",
            "--target=amdgcn-amd-amdhsa",
            f"-mcpu={target}",
            "-nogpulib",
            "-c",
            f"-mcode-object-version={version}",
            f"{base}/k.s",
            "-o",
            f"{base}/k.o",
        )
        zig("ld.lld", "-shared", "-o", f"{base}/k.co", f"{base}/k.o")
        return base.joinpath("k.co").read_bytes()


def arguments_code_object(target: str = "gfx942") -> bytes:
    """Compile fixtures/arguments.hip, the kernel with arguments of every alignment."""
    return compile_hip(FIXTURES.joinpath("arguments.hip").read_text(), target)
