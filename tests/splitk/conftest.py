"""What tests of AMD's kernels need of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipgraph_shmem.env import settings


@pytest.fixture
def aiter_dir() -> Path:
    """Name the user's aiter install, or skip: its kernels are not ours to ship."""
    folder = settings().aiter_dir
    if folder is None:
        pytest.skip("HIPGRAPH_AITER_DIR names no aiter install")
    return folder
