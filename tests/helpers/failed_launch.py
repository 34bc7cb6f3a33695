"""Run by splitk/test_counters.py: a launch that never ends, and the next one on its stream."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.gemm import problem

from hipgraph_shmem.errors import HipError
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.runtime import call
from hipgraph_shmem.splitk.counters import pool_of
from hipgraph_shmem.splitk.kernels import BLOCK, kernel
from hipgraph_shmem.stream import Stream

M, N, K, SPLIT_K = 64, 128, 256, 2


def main() -> None:
    """Let a waiting kernel find dirty counters in its stream's slot, then run it again."""
    given = problem(M, N, K)
    stream = Stream()
    a, b = from_numpy(given.a, stream), from_numpy(given.b, stream)
    out = Buffer((M, N), np.float32)
    spin = kernel(0, "splitk_spin_bf16_m64")
    config = LaunchConfig(grid=(N // 64, 1, SPLIT_K), block=BLOCK)

    def run(*, dirty: int) -> int:
        with pool_of(0).eager(stream.handle, N // 64, 0) as scratch:
            if dirty:
                call("hipMemsetD32Async", scratch.counters, dirty, N // 64, stream.handle)
            sizes = (M, N, K, K, K, N, SPLIT_K)
            launch(stream, spin, config, a, b, out, scratch.counters, *sizes)
            return scratch.counters

    first = run(dirty=0)
    given.assert_right(out.to_numpy(stream), SPLIT_K)
    run(dirty=0x3F803F80)
    with pytest.raises(HipError):
        stream.synchronize()
    assert run(dirty=0) == first
    given.assert_right(out.to_numpy(stream), SPLIT_K)


if __name__ == "__main__":
    main()
