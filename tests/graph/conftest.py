"""What the tests of checks share: a module of small kernels, and buffers for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.checks import SOURCE
from helpers.kernels import compile_hip

from hipgraph_shmem import Buffer, Module


@pytest.fixture
def module(device: Any) -> Iterator[Module]:
    with Module(compile_hip(SOURCE)) as made:
        yield made


@pytest.fixture
def buffers(device: Any) -> Iterator[tuple[Buffer, ...]]:
    with Buffer(256) as one, Buffer(256) as two, Buffer(256) as three:
        yield one, two, three
