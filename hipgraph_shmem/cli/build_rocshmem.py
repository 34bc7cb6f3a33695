"""`hipgraph-shmem build-rocshmem`: build the C shim over the user's rocSHMEM."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from ..env import cache_dir, rocm_roots
from ..shmem.library import SHIM_FILE
from .shim_commands import ShimBuild
from .shim_tools import find_archive, find_compiler

__all__ = ["build_rocshmem"]


def build_rocshmem(options: argparse.Namespace) -> int:
    """Print the commands, and run them unless it is a dry run.

    Raises:
        FileNotFoundError: the compiler, librocshmem.a or the shim's sources are nowhere.
        ValueError: librocshmem.a is damaged, or needs what was not given.
    """
    roots = (options.rocm,) if options.rocm else rocm_roots()
    rocm, compiler = find_compiler(roots)
    build = ShimBuild(
        rocm=rocm,
        compiler=compiler,
        archive=find_archive(options.rocshmem, (rocm, *roots)),
        folder=cache_dir() / "shim_build",
        processors=tuple(options.arch or ()),
        mpi=options.mpi,
    )
    output: Path = options.output or cache_dir() / SHIM_FILE
    commands = build.commands()
    if not options.dry_run:
        build.folder.mkdir(parents=True, exist_ok=True)
        build.header.write_text(build.configuration())
    for command in commands:
        print(shlex.join(command), flush=True)
        if options.dry_run:
            continue
        status = subprocess.run(command, check=False).returncode
        if status:
            print(f"hipgraph-shmem: this command ended with status {status}", file=sys.stderr)
            return 1
    # Moved at the end: another process may be loading the previous one.
    print(shlex.join(["mv", str(build.library), str(output)]))
    if not options.dry_run:
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(build.library, output)
        print(f"{output}: {build.summary()}")
    return 0
