"""Runs single instructions on one wave of the emulated device and decodes words.

Text is assembled by helpers.assembler; the C entry points of native/emu/isa/test_entry.cpp run and
decode the words.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.assembler import TARGETS, assemble, assemble_each

from hipgraph_shmem.env import settings
from hipgraph_shmem.errors import RuntimeLibraryError
from hipgraph_shmem.hip_library import open_library

__all__ = ["TARGETS", "State", "Trap", "assemble", "assemble_each", "decode", "rows", "run"]

# Round to nearest even everywhere, all denormals kept, DX10 clamp and IEEE on: compiled HIP code.
MODE_HIP = 0xF0 | 1 << 8 | 1 << 9
# AMD's hand-written kernels: f32 denormals flushed, no clamp, no IEEE.
MODE_AITER = 0xC0
POISON = 0xBEBEBEBE
VCC, M0, EXEC = 106, 124, 126
CLASSES = ("salu", "smem", "valu", "matrix", "lds", "vmem", "branch", "other")
STATUS = ("ready", "at barrier", "ended")
ACCESS = ("load", "store", "atomic", "scalar load", "scalar store", "scalar atomic")
ALL_LANES = (1 << 64) - 1


class Trap(Exception):  # noqa: N818 (the device's word)
    """The device refused an instruction: `kind` as reports name it, `text` the reason."""

    def __init__(self, report: str, pc_offset: int = 0) -> None:
        """Split "kind: text" as the C entry writes it."""
        super().__init__(report)
        self.kind, _, self.text = report.partition(": ")
        self.pc_offset = pc_offset


class _Range(ctypes.Structure):
    _fields_ = [
        ("begin", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("writable", ctypes.c_uint64),
    ]


class _Wave(ctypes.Structure):
    _fields_ = [
        ("sgpr", ctypes.c_uint32 * 128),
        ("vgpr", ctypes.c_uint32 * (512 * 64)),
        ("scc", ctypes.c_uint32),
        ("mode", ctypes.c_uint32),
        ("vgpr_rows", ctypes.c_uint32),
        ("accvgpr_rows", ctypes.c_uint32),
        ("workgroup", ctypes.c_uint32 * 3),
        ("linear_workgroup", ctypes.c_uint32),
        ("wave", ctypes.c_uint32),
        ("budget", ctypes.c_uint32),
        ("scratch_lane_bytes", ctypes.c_uint32),
        ("round", ctypes.c_uint64),
        ("lds", ctypes.c_void_p),
        ("lds_bytes", ctypes.c_uint64),
        ("scratch", ctypes.c_void_p),
        ("ranges", ctypes.POINTER(_Range)),
        ("range_count", ctypes.c_uint64),
        ("pc_offset", ctypes.c_uint64),
        ("effects", ctypes.c_uint64),
        ("counts", ctypes.c_uint64 * 8),
        ("noted_address", ctypes.c_uint64),
        ("noted_bytes", ctypes.c_uint32),
        ("executed", ctypes.c_uint32),
        ("status", ctypes.c_uint32),
        ("poll_pc_offset", ctypes.c_uint64),
        ("poll_address", ctypes.c_uint64),
        ("poll_bytes", ctypes.c_uint32),
        ("poll_value", ctypes.c_uint32),
        ("poll_access", ctypes.c_uint32),
        ("trap_kind", ctypes.c_int32),
        ("text", ctypes.c_char * 1024),
    ]


@dataclass(frozen=True, slots=True)
class Poll:
    """What the wave last read from memory."""

    pc_offset: int
    address: int
    bytes: int
    value: int
    access: str


@dataclass(frozen=True, slots=True)
class State:
    """The wave after a run. Registers are indexed by operand code; AccVGPRs are rows 256.."""

    sgpr: np.ndarray
    vgpr: np.ndarray
    scc: bool
    mode: int
    lds: np.ndarray
    scratch: np.ndarray
    status: str
    pc_offset: int
    executed: int
    effects: int
    counts: dict[str, int]
    poll: Poll
    noted: tuple[int, int]

    @property
    def accvgpr(self) -> np.ndarray:
        """The AccVGPR rows."""
        return self.vgpr[256:]

    @property
    def vcc(self) -> int:
        """VCC as 64 bits."""
        return self.s64(VCC)

    @property
    def exec(self) -> int:
        """EXEC as 64 bits."""
        return self.s64(EXEC)

    @property
    def m0(self) -> int:
        """M0."""
        return int(self.sgpr[M0])

    def s64(self, code: int) -> int:
        """A scalar register pair."""
        return int(self.sgpr[code]) | int(self.sgpr[code + 1]) << 32

    def v64(self, row: int) -> np.ndarray:
        """A vector register pair, one uint64 a lane."""
        low, high = (self.vgpr[row + i].astype(np.uint64) for i in (0, 1))
        return low | high << np.uint64(32)


def library_path() -> pathlib.Path:
    """The emulated device's library: the one that HIPGRAPH_RUNTIME names, else the package's."""
    choice = settings().runtime
    return pathlib.Path(choice) if "/" in choice else open_library("emu").path


@functools.cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(library_path()))
    except RuntimeLibraryError as error:
        pytest.skip(f"this session has no emulated device: {error}")
    library.hipgraphEmuRows.restype = ctypes.c_long
    return library


def pair(code: int, value: int) -> dict[int, int]:
    """A 64-bit value as two scalar registers, for `run(sgpr=...)`."""
    return {code: value & 0xFFFFFFFF, code + 1: value >> 32 & 0xFFFFFFFF}


def address(array: np.ndarray) -> int:
    """The device address of an array that `run(memory=...)` gets."""
    return int(array.ctypes.data)


def _row(value: object) -> np.ndarray:
    """64 register values as bits: integers wrap, float32 keeps its pattern."""
    array = np.atleast_1d(value)
    if array.dtype == np.float32:
        array = array.view(np.uint32)
    if array.dtype != np.uint32:
        array = (array.astype(object) & 0xFFFFFFFF).astype(np.uint32)
    return np.broadcast_to(array, (64,))


def _ranges(memory: Sequence[np.ndarray], readonly: Sequence[np.ndarray]) -> ctypes.Array[_Range]:
    entries = [(array, 1) for array in memory] + [(array, 0) for array in readonly]
    return (_Range * max(len(entries), 1))(
        *(_Range(address(a), address(a) + a.nbytes, writable) for a, writable in entries)
    )


def _fill_registers(
    wave: _Wave,
    sgpr: Mapping[int, int],
    rows: Mapping[int, object],
) -> None:
    scalars = np.frombuffer(wave.sgpr, np.uint32)
    scalars[:] = POISON
    for code, value in sgpr.items():
        scalars[code] = value & 0xFFFFFFFF
    vectors = np.frombuffer(wave.vgpr, np.uint32).reshape(512, 64)
    vectors[:] = POISON
    for number, value in rows.items():
        vectors[number] = _row(value)


def run(
    target: str,
    code: str | bytes,
    *,
    sgpr: Mapping[int, int] = {},
    vgpr: Mapping[int, object] = {},
    accvgpr: Mapping[int, object] = {},
    exec_mask: int = ALL_LANES,
    vcc: int = 0,
    m0: int = 0,
    scc: bool = False,
    mode: int = MODE_HIP,
    lds: bytes | np.ndarray = b"",
    scratch_lane_bytes: int = 0,
    scratch: np.ndarray | None = None,
    memory: Sequence[np.ndarray] = (),
    readonly: Sequence[np.ndarray] = (),
    vgpr_rows: int = 256,
    accvgpr_rows: int = 256,
    workgroup: tuple[int, int, int] = (0, 0, 0),
    linear_workgroup: int = 0,
    wave: int = 0,
    round: int = 0,  # noqa: A002 (the machine's word)
    budget: int = 100_000,
) -> State:
    """Runs `code` and an s_endpgm behind it on one wave; raises Trap when the device refuses.

    Registers that are not given hold POISON. `memory` and `readonly` arrays are all that the wave
    may touch and are changed in place; `lds` is copied in and comes back in the result. `scratch`
    is given only where its address matters: 64 * scratch_lane_bytes bytes, changed in place.
    """
    text = assemble(target, [code])[0] if isinstance(code, str) else code
    buffer = ctypes.create_string_buffer(text + b"\x00\x00\x81\xbf", len(text) + 4)
    state = _Wave(
        scc=scc,
        mode=mode,
        vgpr_rows=vgpr_rows,
        accvgpr_rows=accvgpr_rows,
        workgroup=workgroup,
        linear_workgroup=linear_workgroup,
        wave=wave,
        budget=budget,
        scratch_lane_bytes=scratch_lane_bytes,
        round=round,
    )
    special = pair(VCC, vcc) | {M0: m0} | pair(EXEC, exec_mask)
    rows = dict(vgpr) | {256 + n: value for n, value in accvgpr.items()}
    _fill_registers(state, special | dict(sgpr), rows)
    lds_bytes = np.frombuffer(bytes(lds), np.uint8).copy()
    if scratch is None:
        scratch = np.full(64 * scratch_lane_bytes, POISON & 0xFF, np.uint8)
    ranges = _ranges(memory, readonly)
    state.lds, state.lds_bytes = lds_bytes.ctypes.data, lds_bytes.nbytes
    state.scratch = scratch.ctypes.data
    state.ranges, state.range_count = ranges, len(memory) + len(readonly)
    _library().hipgraphEmuRunWave(
        target.encode(), buffer, ctypes.c_size_t(len(text) + 4), ctypes.byref(state)
    )
    if state.trap_kind >= 0:
        raise Trap(state.text.decode(), state.pc_offset)
    return _state(state, lds_bytes, scratch)


def _state(state: _Wave, lds: np.ndarray, scratch: np.ndarray) -> State:
    poll = Poll(
        state.poll_pc_offset,
        state.poll_address,
        state.poll_bytes,
        state.poll_value,
        ACCESS[state.poll_access],
    )
    return State(
        sgpr=np.frombuffer(state.sgpr, np.uint32).copy(),
        vgpr=np.frombuffer(state.vgpr, np.uint32).reshape(512, 64).copy(),
        scc=state.scc != 0,
        mode=state.mode,
        lds=lds,
        scratch=scratch,
        status=STATUS[state.status],
        pc_offset=state.pc_offset,
        executed=state.executed,
        effects=state.effects,
        counts=dict(zip(CLASSES, state.counts, strict=True)),
        poll=poll,
        noted=(state.noted_address, state.noted_bytes),
    )


def decode(target: str, words: bytes | Sequence[int]) -> tuple[str, int]:
    """Text and size in bytes of the instruction at the start of `words`; raises Trap."""
    raw = words if isinstance(words, bytes) else struct.pack(f"<{len(words)}I", *words)
    text = ctypes.create_string_buffer(1024)
    count = ctypes.c_size_t(len(raw) // 4)
    size = _library().hipgraphEmuDecode(target.encode(), raw, count, text, ctypes.c_size_t(1024))
    if size < 0:
        raise Trap(text.value.decode())
    return text.value.decode(), size


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an instruction table."""

    family: str
    opcode: int
    mnemonic: str
    implemented: bool


def rows(target: str) -> list[Row]:
    """Every row that the target has."""
    size = _library().hipgraphEmuRows(target.encode(), None, ctypes.c_size_t(0))
    text = ctypes.create_string_buffer(size)
    _library().hipgraphEmuRows(target.encode(), text, ctypes.c_size_t(size))
    fields = (line.split("\t") for line in text.value.decode().splitlines())
    return [Row(f, int(op), name, done == "1") for f, op, name, done in fields]
