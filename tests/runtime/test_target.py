import pytest
from helpers.kernels import assemble

from hipgraph_shmem.code_object import CodeObject
from hipgraph_shmem.target import PROCESSORS, Target, compatible, why_not


@pytest.mark.parametrize(
    "text, target",
    [
        ("gfx942", Target("gfx942")),
        ("gfx942:xnack-", Target("gfx942", xnack=False)),
        ("gfx942:sramecc+:xnack-", Target("gfx942", sramecc=True, xnack=False)),
        ("gfx9-4-generic:xnack+", Target("gfx9-4-generic", xnack=True)),
    ],
)
def test_parse_and_print_are_inverse(text, target):
    assert Target.parse(text) == target
    assert str(target) == text


def test_the_order_of_features_is_free():
    assert Target.parse("gfx942:xnack-:sramecc+") == Target.parse("gfx942:sramecc+:xnack-")


@pytest.mark.parametrize(
    "text", ["", "sm_90", "gfx942:", "gfx942:xnack", "gfx942:foo+", "gfx942:xnack+:xnack-"]
)
def test_what_is_no_target_is_refused(text):
    with pytest.raises(ValueError, match="target="):
        Target.parse(text)


DEVICES = ["gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack+", "gfx90c"]
MATRIX = [
    ("gfx942", (True, True, False)),
    ("gfx942:xnack-", (True, False, False)),
    ("gfx942:xnack+", (False, True, False)),
    ("gfx942:sramecc+:xnack-", (True, False, False)),
    ("gfx942:sramecc-", (False, False, False)),
    ("gfx90a", (False, False, False)),
    ("gfx90c", (False, False, True)),
    ("gfx90c:xnack-", (False, False, False)),
    ("gfx9-4-generic", (True, True, False)),
    ("gfx9-generic", (False, False, True)),
    ("gfx9-4-generic:xnack+", (False, True, False)),
]


@pytest.mark.parametrize("code, taken", MATRIX, ids=[row[0] for row in MATRIX])
@pytest.mark.parametrize("column", range(3), ids=DEVICES)
def test_compatible_by_processor_and_settings(code, taken, column):
    device = Target.parse(DEVICES[column])
    assert compatible(Target.parse(code), device) is taken[column]
    assert bool(why_not(Target.parse(code), device)) is not taken[column]


def test_the_reason_names_the_setting():
    reason = why_not(Target.parse("gfx942:xnack+"), Target.parse(DEVICES[0]))
    assert "needs xnack+" in reason
    assert "HSA_XNACK=1" in reason


@pytest.mark.parametrize(
    "processor",
    ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx90c", "gfx942", "gfx950", "gfx1010", "gfx1030",
     "gfx1036", "gfx1100", "gfx1103", "gfx1151", "gfx1153", "gfx1200", "gfx1201", "gfx1250",
     "gfx9-generic", "gfx9-4-generic", "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic",
     "gfx12-generic"],
)  # fmt: skip
def test_processor_numbers_are_those_of_llvm(processor):
    image = assemble(processor)
    assert CodeObject(image).target.processor == processor


@pytest.mark.parametrize("target", ["gfx942", "gfx942:xnack-", "gfx90a:sramecc+:xnack+", "gfx1100"])
def test_settings_are_read_as_llvm_writes_them(target):
    assert str(CodeObject(assemble(target)).target) == target


def test_processor_numbers_are_unique():
    assert len(dict(PROCESSORS)) == len(PROCESSORS)
    assert len({name for _, name in PROCESSORS}) == len(PROCESSORS)
