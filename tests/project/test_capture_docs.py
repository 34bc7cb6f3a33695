"""docs/capture.md says what the device does: its tables are read and tried."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import hip_ctypes as hip

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "capture.md").read_text()
RULES = (ROOT / "native" / "emu" / "runtime" / "capture_rules.cpp").read_text()
COLUMNS = list(itertools.product((hip.GLOBAL, hip.THREAD_LOCAL, hip.RELAXED), (True, False)))
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(lambda *_: None)


def table(heading: str) -> dict[str, list[str]]:
    """The rows of a table whose first heading is this, by their first cell."""
    _, _, body = PAGE.partition(f"| {heading} |")
    rows = itertools.takewhile(lambda line: line.startswith("|"), body.splitlines()[2:])
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name: rest for name, *rest in cells}


class Scene:
    """A stream to capture, and what calls of each kind are made on."""

    def __init__(self) -> None:
        self.stream, self.idle = hip.stream(0), hip.stream()
        self.event, self.captured = hip.event(), hip.event()
        self.out = hip.malloc(64)
        self.exec = hip.instantiate(hip.out("hipGraphCreate", 0))
        hip.ok("hipEventRecord", self.event, self.idle)
        hip.ok("hipStreamSynchronize", self.idle)


MAKE: dict[str, Callable[[Scene], int]] = {
    "AllocLike": lambda _: hip.code("hipFree", None),
    "StreamSync of another stream": lambda on: hip.code("hipStreamQuery", on.idle),
    "EventSync of another event": lambda on: hip.code("hipEventQuery", on.event),
    "StreamSync of a capturing stream": lambda on: hip.code("hipStreamQuery", on.stream),
    "EventSync of a captured event": lambda on: hip.code("hipEventQuery", on.captured),
    "DeviceSync": lambda _: hip.code("hipDeviceSynchronize"),
    "BlockingCopy": lambda _: hip.code("hipMemset", None, 0, 0),
    "Callback on a capturing stream": lambda on: hip.code(
        "hipStreamAddCallback", on.stream, CALLBACK, None, 0
    ),
    "Callback on the null stream": lambda _: hip.code(
        "hipStreamAddCallback", None, CALLBACK, None, 0
    ),
    "Capturable": lambda on: hip.code("hipMemsetAsync", on.out, 0, 4, on.stream),
    "Eager": lambda on: hip.code("hipGraphLaunch", on.exec, on.stream),
    "Loading": lambda _: 0 if hip.code("hipModuleLoadData", None, None) == 1 else -1,
}
KINDS = table("kind of call")


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_of_kinds_is_what_the_device_does(device: Any, kind: str) -> None:
    on = Scene()
    for cell, (mode, same_thread) in zip(KINDS[kind], COLUMNS, strict=True):
        hip.begin(on.stream, mode)
        hip.ok("hipEventRecord", on.captured, on.stream)
        code = MAKE[kind](on) if same_thread else hip.in_thread(lambda: MAKE[kind](on))
        graph = ctypes.c_uint64(0)
        ended = hip.code("hipStreamEndCapture", on.stream, ctypes.byref(graph))
        nodes = hip.nodes(graph.value) if graph.value else []
        seen = str(code) if code else "recorded" if nodes else "legal"
        assert seen == {"runs": "legal"}.get(cell, cell), (mode, same_thread)
        assert ended == (901 if code else 0)


def test_every_kind_is_tried() -> None:
    assert list(KINDS) == list(MAKE)


def test_every_call_of_a_kind_is_listed() -> None:
    listed = {kind: re.findall(r"`(\w+)`", calls) for kind, (calls,) in table("kind").items()}
    rules: dict[str, list[str]] = {}
    for name, kind in re.findall(r'Rule\{"(\w+)", (\w+)\}', RULES):
        rules.setdefault(kind, []).append(name)
    assert listed == rules
    assert {kind.split(" ")[0] for kind in KINDS} == set(rules)
