"""The plan against a count of every element, and its refusals."""

from __future__ import annotations

import itertools

import pytest

from hipgraph_shmem.splitk.plan import Plan, choose_split_k, choose_tile_m, make_plan

SIZES = list(itertools.product((1, 15, 16, 17, 33, 64, 65, 128, 129, 300), (1, 63, 64, 65, 200)))


def cover(plan: Plan) -> dict[tuple[int, int], int]:
    """Count how many workgroups of one slice make each element of the output."""
    made: dict[tuple[int, int], int] = {}
    across, down, _ = plan.grid
    for x, y in itertools.product(range(across), range(down)):
        rows = range(y * plan.tile_m, min((y + 1) * plan.tile_m, plan.m))
        columns = range(x * plan.tile_n, min((x + 1) * plan.tile_n, plan.n))
        for element in itertools.product(rows, columns):
            made[element] = made.get(element, 0) + 1
    return made


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_tiles_cover_each_element_once(m: int, n: int) -> None:
    plan = make_plan(m, n, 512, split_k=2, compute_units=304)
    made = cover(plan)
    assert len(made) == m * n
    assert set(made.values()) == {1}


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_no_tile_lies_outside(m: int, n: int) -> None:
    plan = make_plan(m, n, 512, split_k=2, compute_units=304)
    across, down, _ = plan.grid
    assert (across - 1) * plan.tile_n < n
    assert (down - 1) * plan.tile_m < m


@pytest.mark.parametrize(
    ("m", "n", "split_k"), [(1, 1, 2), (64, 256, 6), (56, 2112, 7), (129, 65, 3)]
)
def test_words_and_bytes_by_enumeration(m: int, n: int, split_k: int) -> None:
    plan = make_plan(m, n, 7168, split_k=split_k, compute_units=304)
    across, down, slices = plan.grid
    workgroups = set(itertools.product(range(across), range(down), range(slices)))
    assert plan.counter_words == len({(x, y) for x, y, _ in workgroups})
    assert plan.workspace_bytes == sum(4 * plan.tile_m * plan.tile_n for _ in workgroups)


def test_whole_k_needs_no_counter_and_no_workspace() -> None:
    plan = make_plan(64, 256, 5120, split_k=1, compute_units=304)
    assert (plan.counter_words, plan.workspace_bytes) == (0, 0)


@pytest.mark.parametrize(
    ("m", "tile"),
    [(1, 16), (16, 16), (17, 32), (32, 32), (33, 64), (64, 64), (65, 128), (999, 128)],
)
def test_smallest_tile_that_holds_m(m: int, tile: int) -> None:
    assert choose_tile_m(m) == tile


@pytest.mark.parametrize("m", [1, 32, 64, 500])
@pytest.mark.parametrize("n", [64, 512, 9000])
@pytest.mark.parametrize("k", [8, 512, 7168])
@pytest.mark.parametrize("compute_units", [1, 80, 304])
def test_chosen_split_is_sound(m: int, n: int, k: int, compute_units: int) -> None:
    split_k = choose_split_k(m, n, k, compute_units)
    tiles = make_plan(m, n, k, split_k=1, compute_units=compute_units).tiles
    assert 1 <= split_k <= min(16, max(1, k // 8))
    if split_k > 1:
        assert tiles * split_k <= compute_units
        assert 4 * split_k * m / k <= 0.3
        assert k // split_k >= 512


@pytest.mark.parametrize(("m", "n", "k"), [(64, 256, 5120), (32, 512, 8192), (56, 2112, 7168)])
def test_decode_shapes_are_split_on_a_large_device(m: int, n: int, k: int) -> None:
    assert make_plan(m, n, k, split_k=None, compute_units=304).split_k > 1


@pytest.mark.parametrize(
    ("argument", "sizes"),
    [
        ("m=0", {"m": 0}),
        ("n=-1", {"n": -1}),
        ("k=0", {"k": 0}),
        ("k=4", {"k": 4}),
        ("k=516", {"k": 516}),
        ("split_k=0", {"split_k": 0}),
        ("split_k=65", {"split_k": 65}),
    ],
)
def test_a_size_out_of_range_is_named_with_its_value(argument: str, sizes: dict[str, int]) -> None:
    given = {"m": 16, "n": 64, "k": 512, "split_k": 2, **sizes}
    split_k = given.pop("split_k")
    with pytest.raises(ValueError, match=f"^{argument} "):
        make_plan(**given, split_k=split_k, compute_units=304)


@pytest.mark.parametrize("value", [1.0, "64", True])
def test_a_size_that_is_no_integer_is_named(value: object) -> None:
    with pytest.raises(TypeError, match=r"^m="):
        make_plan(value, 64, 512, split_k=2, compute_units=304)
