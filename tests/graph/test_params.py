"""Struct layouts against the offsets that the HIP ABI fixes."""

from __future__ import annotations

import ctypes
import struct

import pytest

from hipgraph_shmem.graph.params import (
    ArgumentBlock,
    KernelNodeParams,
    MemcpyNodeParams,
    MemsetNodeParams,
    kernel_node_params,
    memset_node_params,
)
from hipgraph_shmem.launch import LaunchConfig

LAYOUTS = [
    (
        KernelNodeParams,
        64,
        {
            "block": 0,
            "extra": 16,
            "function": 24,
            "grid": 32,
            "kernel_params": 48,
            "lds_bytes": 56,
        },
    ),
    (
        MemsetNodeParams,
        48,
        {
            "destination": 0,
            "element_size": 8,
            "height": 16,
            "pitch": 24,
            "value": 32,
            "width": 40,
        },
    ),
    (
        MemcpyNodeParams,
        160,
        {
            "source_array": 0,
            "source_position": 8,
            "source": 32,
            "destination_array": 64,
            "destination_position": 72,
            "destination": 96,
            "extent": 128,
            "kind": 152,
        },
    ),
]


@pytest.mark.parametrize(("kind", "size", "offsets"), LAYOUTS, ids=lambda value: str(value)[:30])
def test_layout(kind: type[ctypes.Structure], size: int, offsets: dict[str, int]) -> None:
    assert ctypes.sizeof(kind) == size
    assert {name: getattr(kind, name).offset for name in offsets} == offsets


def test_kernel_node_params_point_at_the_argument_bytes() -> None:
    block = ArgumentBlock(b"\x01\x02\x03\x04")
    params = kernel_node_params(0x1234, LaunchConfig(grid=(5, 6, 7), block=(256, 1, 1)), block)
    pointer_tag, address, size_tag, size_address, end = struct.unpack(
        "<5Q", ctypes.string_at(params.extra, 40)
    )
    assert (pointer_tag, size_tag, end) == (1, 2, 3)
    assert struct.unpack("<Q", ctypes.string_at(size_address, 8)) == (4,)
    assert ctypes.string_at(address, 4) == b"\x01\x02\x03\x04"
    assert (params.function, params.grid.as_tuple()) == (0x1234, (5, 6, 7))
    assert params.kernel_params is None


def test_memset_node_params() -> None:
    params = memset_node_params(0x4000, 7, 12, width=4, rows=2, pitch=64)
    raw = bytes(params)
    assert struct.unpack("<QI4xQQI4xQ", raw) == (0x4000, 4, 2, 64, 7, 12)
