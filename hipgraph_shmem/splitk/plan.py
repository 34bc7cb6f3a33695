"""How a GEMM is cut: tiles of the output, slices of K, words and bytes needed. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

#: A lane always loads 8 consecutive elements of a row, so K is counted in steps of 8.
K_STEP = 8
#: Rows of the output that one workgroup makes; the smallest that holds M is taken.
TILE_ROWS = (16, 32, 64, 128)
#: Columns of the output that one workgroup makes.
TILE_COLUMNS = 64
#: Bytes of one partial sum (fp32).
_PARTIAL_BYTES = 4
#: A slice shorter than this does too little work to pay for its partials.
_SHORTEST_USEFUL_SLICE = 512
#: More slices than this make the reduction the longest part.
_MOST_USEFUL_SLICES = 16
#: Workgroups of the kernel that fit on one compute unit.
_RESIDENT_WORKGROUPS = 1
#: Partials may cost this part of the weight traffic: 4 * split_k * m / k.
_PARTIAL_TRAFFIC_LIMIT = 0.3


@dataclass(frozen=True, slots=True)
class Plan:
    """One GEMM of M x N x K cut into tiles and into `split_k` slices of K.

    Attributes:
        m: Rows of A and of the output.
        n: Rows of B, columns of the output.
        k: Columns of A and of B.
        split_k: Slices that K is cut into.
        tile_m: Rows of the output that one workgroup makes.
        tile_n: Columns of the output that one workgroup makes.
    """

    m: int
    n: int
    k: int
    split_k: int
    tile_m: int
    tile_n: int = TILE_COLUMNS

    @property
    def tiles_m(self) -> int:
        """Tiles down the output."""
        return ceil_div(self.m, self.tile_m)

    @property
    def tiles_n(self) -> int:
        """Tiles across the output."""
        return ceil_div(self.n, self.tile_n)

    @property
    def tiles(self) -> int:
        """Tiles of the output."""
        return self.tiles_m * self.tiles_n

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroups of the main kernel: tiles across, tiles down, slices."""
        return (self.tiles_n, self.tiles_m, self.split_k)

    @property
    def counter_words(self) -> int:
        """32-bit counters that one launch uses: one a tile, none when K is not split."""
        return self.tiles if self.split_k > 1 else 0

    @property
    def workspace_bytes(self) -> int:
        """Bytes of the partials, stored by whole tiles; none when K is not split."""
        if self.split_k == 1:
            return 0
        return self.split_k * self.tiles * self.tile_m * self.tile_n * _PARTIAL_BYTES


def ceil_div(value: int, divisor: int) -> int:
    """Divide and round up."""
    return -(-value // divisor)


def choose_tile_m(m: int) -> int:
    """Return the smallest tile height that holds `m` rows, or the largest there is."""
    return next((rows for rows in TILE_ROWS if rows >= m), TILE_ROWS[-1])


def choose_split_k(m: int, n: int, k: int, compute_units: int) -> int:
    """Return how many slices fill the device without drowning it in partials."""
    tiles = ceil_div(m, choose_tile_m(m)) * ceil_div(n, TILE_COLUMNS)
    fill = _RESIDENT_WORKGROUPS * compute_units // tiles
    split_k = max(1, min(fill, _MOST_USEFUL_SLICES, k // _SHORTEST_USEFUL_SLICE))
    while split_k > 1 and 4 * split_k * m > _PARTIAL_TRAFFIC_LIMIT * k:
        split_k -= 1
    return split_k


def make_plan(m: int, n: int, k: int, *, split_k: int | None, compute_units: int) -> Plan:
    """Check the sizes and cut the GEMM.

    Args:
        m: Rows of A and of the output, at least 1.
        n: Rows of B, at least 1.
        k: Columns of A and B, a positive multiple of 8.
        split_k: Slices of K, 1 to k / 8; None chooses for `compute_units`.
        compute_units: Compute units of the device.

    Raises:
        TypeError: A size is not an integer.
        ValueError: A size is out of range.
    """
    check_sizes(m=m, n=n, k=k, split_k=1 if split_k is None else split_k)
    if k % K_STEP:
        raise ValueError(f"k={k} is not a multiple of {K_STEP}: pad A and B with zero columns")
    if split_k is None:
        split_k = choose_split_k(m, n, k, compute_units)
    if split_k > k // K_STEP:
        raise ValueError(
            f"split_k={split_k} is more than k / {K_STEP} = {k // K_STEP}:"
            f" give at most {k // K_STEP}, or None to choose"
        )
    return Plan(m=m, n=n, k=k, split_k=split_k, tile_m=choose_tile_m(m))


def check_sizes(**sizes: int) -> None:
    """Refuse a size that is no positive integer."""
    for name, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name}={value!r} is not an integer: give a positive int")
        if value < 1:
            raise ValueError(f"{name}={value} is not positive: give at least 1")
