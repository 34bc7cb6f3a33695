"""What HIP refuses of a graph, told with what to do instead."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..errors import GraphError, HipError
from ..hip_abi import ErrorCode

__all__ = ["explained"]


@contextlib.contextmanager
def explained(problem: str, cure: str, *codes: ErrorCode) -> Iterator[None]:
    """Raise GraphError where HIP refuses a call of the block.

    Args:
        problem: What was asked; the refusal is added.
        cure: What to do instead.
        codes: Of which codes this is the explanation; none: of all.
    """
    try:
        yield
    except HipError as error:
        if codes and error.code not in codes:
            raise
        raise GraphError(f"{problem}: {error}", cure) from error
