"""`hipgraph-shmem inspect FILE`: what a code object or bundle holds; no GPU is needed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from ..code_object import CodeObject, code_objects
from .instructions import Decoder, open_decoder
from .output import emit

__all__ = ["inspect_file"]


def inspect_file(path: Path, *, as_json: bool) -> int:
    """Show every code object of a file; return 0.

    Args:
        path: A code object, an offload bundle or a compressed one.
        as_json: Whether to print one JSON object.

    Raises:
        CodeObjectError: The file is damaged, or none of them.
    """
    decoder = open_decoder()
    found = code_objects(path.read_bytes(), str(path))
    facts = {
        "file": str(path),
        "instructions_checked": decoder is not None,
        "code_objects": [_facts(each, decoder) for each in found],
    }
    emit(facts, _lines(facts), as_json=as_json)
    return 0


def _facts(code_object: CodeObject, decoder: Decoder | None) -> dict[str, Any]:
    functions = code_object.functions
    target = code_object.target
    return {
        "target": str(target),
        "features": dict(target.named),
        "version": code_object.version,
        "variables": dict(code_object.variables),
        "kernels": [
            {
                **dataclasses.asdict(kernel),
                "without_meaning": (
                    decoder.without_meaning(target.processor, functions.get(kernel.name, b""))
                    if decoder is not None
                    else None
                ),
            }
            for kernel in code_object.kernels.values()
        ],
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = []
    for each in facts["code_objects"]:
        lines.append(f"target    {each['target']}, code object version {each['version']}")
        lines += [f"variable  {name}: {size} bytes" for name, size in each["variables"].items()]
        for kernel in each["kernels"]:
            lines += _kernel_lines(kernel)
    if not facts["instructions_checked"]:
        lines.append("instructions were not checked: the emulated device does not load here")
    return lines


def _kernel_lines(kernel: dict[str, Any]) -> list[str]:
    lines = [
        f"kernel    {kernel['name']}",
        f"  {kernel['vgprs']} VGPRs, {kernel['agprs']} AGPRs, {kernel['sgprs']} SGPRs,"
        f" LDS {kernel['lds_bytes']} bytes, scratch {kernel['private_bytes']} bytes a lane,"
        f" wave {kernel['wavefront_size']}, up to {kernel['max_threads_per_block']} threads",
        f"  {kernel['kernarg_bytes']} bytes of arguments:",
    ]
    for argument in kernel["explicit"]:
        lines.append(
            f"    offset {argument['offset']:>3}  size {argument['size']:>2}  {argument['kind']}"
            f"  {argument['name']} {argument['type_name']}".rstrip()
        )
    missing = kernel["without_meaning"]
    if missing:
        counted = ", ".join(f"{name} ({count})" for name, count in missing.items())
        lines.append(f"  the emulated device has no meaning for: {counted}")
    return lines
