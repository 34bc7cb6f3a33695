"""What the emulated device counts, against another emulator's counts of the same kernel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hipgraph_shmem.emulated import take_counters
from hipgraph_shmem.memory import Buffer, zeros
from hipgraph_shmem.splitk.aiter import load
from hipgraph_shmem.stream import Stream


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize(("k", "counted"), [(512, 22_688), (1024, 36_288)])
def test_instructions_of_a_shipped_kernel(
    aiter_dir: Path, stream: Stream, k: int, counted: int
) -> None:
    gemm = load(aiter_dir).gemm(64, 256, k, kernel="32x64_pf3_splitk", split_k=1)
    a, b = zeros((64, k), "bfloat16", stream), zeros((256, k), "bfloat16", stream)
    out = Buffer((64, 256), np.float32)
    stream.synchronize()
    take_counters()
    gemm(stream, a, b, out)
    stream.synchronize()
    counts = take_counters()
    assert counts["instructions"] == counted == sum(counts["by_class"].values())
    # Two row fragments of each of 8 workgroups x 4 waves, 16 of K at a time.
    assert counts["by_class"]["matrix"] == 8 * 4 * 2 * k // 16
    assert (counts["launches"], counts["workgroups"], counts["waves"]) == (1, 8, 32)
