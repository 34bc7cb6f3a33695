"""Split-K GEMMs that replay: our own kernels, and AMD's from an aiter install."""

from . import aiter  # noqa: A004 - the install is called so, and `aiter.load` says it best
from .counters import PoolUsage, check, reserve, usage
from .gemm import Gemm
from .plan import Plan

__all__ = ["Gemm", "Plan", "PoolUsage", "aiter", "check", "reserve", "usage"]
