"""VOPC: every compare of every type, class tests, and where their masks go."""

import numpy as np
import pytest
from helpers import isa, valu

FLOAT_CONDITIONS = {
    "f": lambda a, _: a != a,
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "lg": lambda a, b: (a < b) | (a > b),
    "ge": np.greater_equal,
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
    "tru": lambda a, _: (a == a) | (a != a),
}
INTEGER_CONDITIONS = {
    "f": lambda a, _: a != a,
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ne": np.not_equal,
    "ge": np.greater_equal,
    "t": lambda a, _: a == a,
}
TYPES = ("f16", "f32", "f64", "i16", "u16", "i32", "u32", "i64", "u64")
EXEC = 0xFFFF_0FF0_FFFF_FFF1


def conditions(kind):
    table = dict(FLOAT_CONDITIONS if kind[0] == "f" else INTEGER_CONDITIONS)
    if kind[0] == "f":
        table["f"] = lambda *_: np.zeros(64, bool)
    return table


def mask(lanes):
    return sum(1 << i for i in range(64) if lanes[i])


CASES = [(kind, name) for kind in TYPES for name in conditions(kind)]


@pytest.fixture(scope="module")
def codes():
    texts = []
    for kind, name in CASES:
        a, b = valu.name(2, kind), valu.name(4, kind)
        texts += [
            f"v_cmp_{name}_{kind}_e32 vcc, {a}, {b}",
            f"v_cmpx_{name}_{kind}_e64 s[8:9], {a}, {b}",
        ]
    return dict(
        zip(
            [(k, n, x) for k, n in CASES for x in (False, True)],
            isa.assemble("gfx942", texts),
            strict=True,
        )
    )


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_compare(kind, name, codes):
    rng = np.random.default_rng(11)
    a, b = valu.values(kind, rng), valu.values(kind, rng)
    b[::4] = a[::4]
    rows = valu.registers(2, a, rng) | valu.registers(4, b, rng)
    active = np.array([EXEC >> i & 1 for i in range(64)], bool)
    want = mask(conditions(kind)[name](a, b) & active)
    end = isa.run("gfx942", codes[kind, name, False], vgpr=rows, exec_mask=EXEC, vcc=isa.ALL_LANES)
    assert end.vcc == want
    assert end.exec == EXEC
    end = isa.run("gfx942", codes[kind, name, True], vgpr=rows, exec_mask=EXEC, vcc=3)
    assert (end.s64(8), end.exec, end.vcc) == (want, want, 3)


CLASS_BITS = {
    "f32": {
        1: 0x7FA00001,
        2: 0xFFC00000,
        4: 0xFF800000,
        8: 0xC0000000,
        16: 0x80000001,
        32: 0x80000000,
        64: 0,
        128: 0x7FFFFF,
        256: 0x800000,
        512: 0x7F800000,
    },
    "f16": {
        1: 0x7D01,
        2: 0x7E00,
        4: 0xFC00,
        8: 0xC000,
        16: 0x8001,
        32: 0x8000,
        64: 0,
        128: 0x3FF,
        256: 0x400,
        512: 0x7C00,
    },
    "f64": {
        1: 0x7FF0000000000001,
        2: 0x7FF8 << 48,
        4: 0xFFF << 52,
        8: 0xC00 << 52,
        16: (1 << 63) + 1,
        32: 1 << 63,
        64: 0,
        128: 1,
        256: 1 << 52,
        512: 0x7FF << 52,
    },
}


@pytest.mark.parametrize("kind", CLASS_BITS)
def test_class(kind):
    classes = list(CLASS_BITS[kind])
    bits = np.array(
        [CLASS_BITS[kind][classes[i % 10]] for i in range(64)],
        valu.BITS[np.dtype(valu.TYPES[kind]).itemsize],
    )
    rows = valu.registers(2, bits, np.random.default_rng(0))
    for tested in (0, 1 << 5, 0x155, 0x2AA, 0x3FF):
        rows[4] = np.full(64, tested, np.uint32)
        text = f"v_cmp_class_{kind}_e32 vcc, {valu.name(2, kind)}, v4"
        end = isa.run("gfx942", text, vgpr=rows, exec_mask=EXEC, mode=isa.MODE_AITER)
        assert end.vcc == mask([EXEC >> i & 1 and classes[i % 10] & tested for i in range(64)]), (
            hex(tested)
        )
    text = f"v_cmpx_class_{kind}_e64 s[8:9], |{valu.name(2, kind)}|, v4"
    rows[4] = np.full(64, 0x3C0, np.uint32)  # with abs only positive classes are left
    end = isa.run("gfx942", text, vgpr=rows)
    assert end.s64(8) == end.exec == mask([classes[i % 10] > 2 for i in range(64)])


def test_sdwa_compare_writes_its_pair():
    a = np.arange(64, dtype=np.uint32) << 16 | 0xFFFF
    text = "v_cmp_lt_u32_sdwa s[6:7], v1, v2 src0_sel:WORD_1 src1_sel:BYTE_0"
    end = isa.run("gfx942", text, vgpr={1: a, 2: np.full(64, 0x520, np.uint32)}, vcc=9)
    assert (end.s64(6), end.vcc) == ((1 << 32) - 1, 9)


def test_scalar_and_constant_sources():
    a = np.arange(64, dtype=np.float32)
    end = isa.run("gfx942", "v_cmp_gt_f32_e32 vcc, 4.0, v1", vgpr={1: a})
    assert end.vcc == 0xF
    end = isa.run("gfx942", "v_cmp_gt_f32_e32 vcc, 0x40a00000, v1", vgpr={1: a})
    assert end.vcc == 0x1F
    end = isa.run(
        "gfx942", "v_cmp_eq_u32_e64 s[4:5], s3, v1", vgpr={1: np.arange(64)}, sgpr={3: 33}
    )
    assert end.s64(4) == 1 << 33


def test_flushing_mode_compares_denormals_as_zero():
    a = np.full(64, 1e-40, np.float32)
    text = "v_cmp_eq_f32_e32 vcc, 0, v1"
    assert isa.run("gfx942", text, vgpr={1: a}, mode=isa.MODE_AITER).vcc == isa.ALL_LANES
    assert isa.run("gfx942", text, vgpr={1: a}).vcc == 0
