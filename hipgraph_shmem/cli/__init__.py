"""The `hipgraph-shmem` command: one subcommand for each question a user has."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from ..env import settings
from ..errors import Error

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0 when all is as it should be.

    Args:
        arguments: Words after the command's name; None takes those of the process.
    """
    options = _parser().parse_args(arguments)
    try:
        return _COMMANDS[options.command](options)
    except (Error, ValueError, OSError) as error:
        print(f"hipgraph-shmem: {error}", file=sys.stderr)
        return 2


# Each imports what it needs when it is called: `--help` needs neither HIP nor NumPy.


def _info(options: argparse.Namespace) -> int:
    from .info import show_info

    return show_info(as_json=options.json)


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import show_doctor

    return show_doctor(as_json=options.json)


def _run(options: argparse.Namespace) -> int:
    from .run import run_pes

    return run_pes(options.n, options.program, timeout=options.timeout)


def _demo(options: argparse.Namespace) -> int:
    if options.pes:
        from .pes import show_pes

        return show_pes(options.pes, as_json=options.json, replays=options.replays or 20)
    from .demo import show_demo

    return show_demo(
        as_json=options.json, aiter_folder=_aiter_folder(options), replays=options.replays or 100
    )


def _inspect(options: argparse.Namespace) -> int:
    if options.what == "graph":
        from .inspect_graph import inspect_graph

        return inspect_graph(as_json=options.json, dot_file=options.dot, svg_file=options.svg)
    if options.dot or options.svg:
        raise ValueError("--dot and --svg draw a graph: hipgraph-shmem inspect graph")
    from .inspect_file import inspect_file

    return inspect_file(Path(options.what), as_json=options.json)


def _bench(options: argparse.Namespace) -> int:
    if options.what == "shmem":
        from .bench_shmem import show_bench_shmem

        return show_bench_shmem(as_json=options.json, repeats=options.repeats)
    if options.what == "soak":
        from .soak import show_soak

        return show_soak(as_json=options.json, replays=options.replays, cycles=options.cycles)
    from .bench import show_bench

    return show_bench(
        as_json=options.json, aiter_folder=_aiter_folder(options), repeats=options.repeats
    )


def _build_rocshmem(options: argparse.Namespace) -> int:
    from .build_rocshmem import build_rocshmem

    return build_rocshmem(options)


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = MappingProxyType(
    {
        "info": _info,
        "doctor": _doctor,
        "demo": _demo,
        "inspect": _inspect,
        "run": _run,
        "bench": _bench,
        "build-rocshmem": _build_rocshmem,
    }
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hipgraph-shmem", description="HIP graphs with split-K GEMMs that replay."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="which HIP library and devices are used")
    doctor = commands.add_parser("doctor", help="look for faults of the environment")
    demo = commands.add_parser("demo", help="capture a split-K GEMM and replay it, checked")
    demo.add_argument(
        "--replays", type=_positive, help="replays with new inputs each (default 100; PEs: 20)"
    )
    demo.add_argument(
        "--pes", type=_positive, metavar="N", help="one GEMM over N PEs through SHMEM instead"
    )
    inspect = commands.add_parser("inspect", help="what a file of GPU code or a graph holds")
    inspect.add_argument("what", metavar="graph|FILE", help="graph: a recorded split-K GEMM")
    inspect.add_argument("--dot", type=Path, metavar="FILE", help="graph: write it as DOT text")
    inspect.add_argument("--svg", type=Path, metavar="FILE", help="graph: draw it by graphviz")
    run = commands.add_parser("run", help="start a program on several PEs of this node")
    run.add_argument("-n", type=_positive, required=True, help="how many PEs")
    run.add_argument("--timeout", type=float, metavar="S", help="stop all after S seconds")
    run.add_argument(
        "program", nargs=argparse.REMAINDER, help="a script or -m MODULE, with its arguments"
    )
    bench = commands.add_parser("bench", help="measure")
    bench.add_argument(
        "what",
        choices=("emu", "shmem", "soak"),
        help="emu: the emulated device; shmem: puts and barriers; soak: whether memory stays flat",
    )
    bench.add_argument("--repeats", type=_positive, default=5, help="launches that are timed")
    bench.add_argument("--replays", type=_positive, default=10**6, help="soak: launches of a graph")
    bench.add_argument("--cycles", type=_positive, default=10**4, help="soak: captures")
    for command in (demo, bench):
        command.add_argument(
            "--aiter", type=Path, metavar="DIR", help="an aiter install: add AMD's kernels"
        )
    for command in (info, doctor, demo, inspect, bench):
        command.add_argument("--json", action="store_true", help="print one JSON object")
    _add_build_rocshmem(commands.add_parser("build-rocshmem", help="build the rocSHMEM shim"))
    return parser


def _add_build_rocshmem(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rocm", type=Path, metavar="DIR", help="ROCm; default: ROCM_PATH")
    parser.add_argument(
        "--rocshmem", type=Path, metavar="DIR", help="rocSHMEM's folder, or its librocshmem.a"
    )
    parser.add_argument(
        "--arch", nargs="+", metavar="GFX", help="GPUs; default: those in librocshmem.a"
    )
    parser.add_argument("--mpi", type=Path, metavar="DIR", help="MPI, where rocSHMEM needs one")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: in ~/.cache")
    parser.add_argument("--dry-run", action="store_true", help="only print the commands")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _aiter_folder(options: argparse.Namespace) -> Path | None:
    folder: Path | None = options.aiter or settings().aiter_dir
    return folder
