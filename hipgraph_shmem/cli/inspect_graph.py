"""`hipgraph-shmem inspect graph`: the nodes and edges that a recorded split-K GEMM becomes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from ..errors import Error
from ..graph import Graph, capture
from ..graph.dot import describe, zeroes_counters
from ..memory import Buffer
from ..splitk import Gemm
from ..stream import Stream
from .output import emit

__all__ = ["inspect_graph"]

_SHAPE = (64, 256, 5120)
_DRAWING_SECONDS = 60.0


def inspect_graph(*, as_json: bool, dot_file: Path | None, svg_file: Path | None) -> int:
    """Record the demo's GEMM and show its graph; return 0.

    Args:
        as_json: Whether to print one JSON object.
        dot_file: Where to write the DOT text, if anywhere.
        svg_file: Where to write a drawing, if anywhere.

    Raises:
        Error: A drawing is asked for and graphviz is not there, or fails.
    """
    with _example() as graph:
        text, facts = graph.to_dot(), _facts(graph)
    if dot_file is not None:
        dot_file.write_text(text)
    if svg_file is not None:
        _draw(text, svg_file)
    emit({**facts, "dot": text}, _lines(facts), as_json=as_json)
    return 0


def _example() -> Graph:
    gemm = Gemm(*_SHAPE)
    m, n, k = _SHAPE
    a, b = Buffer((m, k), "bfloat16"), Buffer((n, k), "bfloat16")
    out = Buffer((m, n), "float32")
    with Stream() as stream, capture(stream) as captured:
        gemm(stream, a, b, out)
    return captured.graph


def _facts(graph: Graph) -> dict[str, Any]:
    nodes, counters = graph.nodes, graph.recording.counters
    place = {node.handle: index for index, node in enumerate(nodes)}
    return {
        "nodes": [
            {
                "kind": node.kind.name.lower(),
                "text": ", ".join(describe(node)),
                "zeroes_counters": zeroes_counters(node, counters),
            }
            for node in nodes
        ],
        "edges": [[place[start.handle], place[end.handle]] for start, end in graph.edges],
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"node {index}  {node['text']}{' (counters)' if node['zeroes_counters'] else ''}"
        for index, node in enumerate(facts["nodes"])
    ]
    return [*lines, *(f"edge    {start} -> {end}" for start, end in facts["edges"])]


def _draw(text: str, svg_file: Path) -> None:
    program = shutil.which("dot")
    if program is None:
        raise Error(
            "--svg needs graphviz, whose program `dot` is not in PATH: install it, or --dot"
        )
    command = [program, "-Tsvg", "-o", str(svg_file)]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=_DRAWING_SECONDS
    )
    if done.returncode:
        raise Error(f"{' '.join(command)}: {done.stderr.strip()}")
