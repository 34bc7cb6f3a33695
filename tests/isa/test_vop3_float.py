"""VOP3-only float instructions against exact arithmetic."""

import numpy as np
import pytest
from helpers import exact, isa, valu
from helpers.valu import Case

F32, F64 = np.float32, np.float64


def signalling(a):
    quiet = {2: np.uint16(0x200), 4: np.uint32(1 << 22), 8: np.uint64(1 << 51)}[a.dtype.itemsize]
    return np.isnan(a) & ((a.view(type(quiet)) & quiet) == 0)


def choose(a, b, number):
    """IEEE mode: a signalling NaN gives a NaN, else a number wins over NaN."""
    out = np.where(np.isnan(a), b, np.where(np.isnan(b), a, number))
    return np.where(signalling(a) | signalling(b), a.dtype.type(np.nan), out)


def minimum(a, b):
    return choose(a, b, np.where((a < b) | ((a == b) & np.signbit(a)), a, b))


def maximum(a, b):
    return choose(a, b, np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b))


def minimum3(a, b, c):
    return minimum(minimum(a, b), c)


def maximum3(a, b, c):
    return maximum(maximum(a, b), c)


def median(a, b, c):
    """The middle number; with a NaN among the three, the smallest."""
    stacked = np.sort(np.stack([a, b, c]), axis=0)[1]
    zeros = (np.stack([a, b, c]) == 0).sum(axis=0) > 1  # sort does not order -0 and +0
    largest = maximum3(a, b, c)
    exactly = np.where(
        largest == a, maximum(b, c), np.where(largest == b, maximum(a, c), maximum(a, b))
    )
    nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    return np.where(nan, minimum3(a, b, c), np.where(zeros, exactly, stacked))


def any_nan(function):
    def compute(a, b, c):
        return np.where(
            np.isnan(a) | np.isnan(b) | np.isnan(c), a.dtype.type(np.nan), function(a, b, c)
        )

    return compute


def fma(fmt):
    return lambda a, b, c: exact.fma_array(a, b, c, fmt)


def mad16(a, b, c):
    return a * b + c


def flushed(a):
    return np.where(np.abs(a) < np.finfo(F32).tiny, np.copysign(F32(0), a), a)


def mad_flushing(a, b, c):
    return flushed(flushed(flushed(a) * flushed(b)) + flushed(c))


def legacy_product(a, b):
    return np.where((a == 0) | (b == 0), F32(0), a * b)


def ldexp(dtype):
    return lambda a, b: np.ldexp(a.astype(F64), np.clip(b, -4000, 4000)).astype(dtype)


CASES = [
    Case("v_mad_f32", "f32 f32 f32 -> f32", mad_flushing, target="gfx90a"),
    Case(
        "v_mad_legacy_f32",
        "f32 f32 f32 -> f32",
        lambda a, b, c: flushed(flushed(legacy_product(flushed(a), flushed(b))) + flushed(c)),
        target="gfx90a",
    ),
    Case("v_fma_f32", "f32 f32 f32 -> f32", fma(exact.F32)),
    Case("v_fma_f64", "f64 f64 f64 -> f64", fma(exact.F64)),
    Case("v_min3_f32", "f32 f32 f32 -> f32", minimum3),
    Case("v_max3_f32", "f32 f32 f32 -> f32", maximum3),
    Case("v_med3_f32", "f32 f32 f32 -> f32", median),
    Case("v_mad_legacy_f16", "f16 f16 f16 -> f16", mad16),
    Case("v_fma_legacy_f16", "f16 f16 f16 -> f16", fma(exact.F16)),
    Case("v_min3_f16", "f16 f16 f16 -> f16", minimum3, keeps_high=True),
    Case("v_max3_f16", "f16 f16 f16 -> f16", maximum3, keeps_high=True),
    Case("v_med3_f16", "f16 f16 f16 -> f16", median, keeps_high=True),
    Case("v_mad_f16", "f16 f16 f16 -> f16", mad16, keeps_high=True),
    Case("v_fma_f16", "f16 f16 f16 -> f16", fma(exact.F16), keeps_high=True),
    Case("v_add_f64", "f64 f64 -> f64", np.add),
    Case("v_mul_f64", "f64 f64 -> f64", np.multiply),
    Case("v_min_f64", "f64 f64 -> f64", minimum),
    Case("v_max_f64", "f64 f64 -> f64", maximum),
    Case("v_ldexp_f64", "f64 i32 -> f64", ldexp(F64)),
    Case("v_ldexp_f32", "f32 i32 -> f32", ldexp(F32)),
    Case("v_mul_legacy_f32", "f32 f32 -> f32", legacy_product),
    Case("v_minimum3_f32", "f32 f32 f32 -> f32", any_nan(minimum3), target="gfx950"),
    Case("v_maximum3_f32", "f32 f32 f32 -> f32", any_nan(maximum3), target="gfx950"),
]


@pytest.fixture(scope="module")
def codes():
    return valu.assembled(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mnemonic)
def test_values(case, codes):
    valu.check(case, codes[case])


def test_fma_f16_is_rounded_once_near_ties():
    a = np.full(64, 1 + 2.0**-10, np.float16)
    b = np.full(64, 1 + 2.0**-1, np.float16)  # the product is halfway between two f16
    c = np.array([2.0**-24, -(2.0**-24), 0, 2.0**-20] * 16, np.float16)
    rows = {
        1: a.view(np.uint16),
        2: b.view(np.uint16),
        3: c.view(np.uint16),
        0: np.zeros(64, np.uint32),
    }
    end = isa.run("gfx942", "v_fma_f16 v0, v1, v2, v3", vgpr=rows)
    valu.assert_same(
        end.vgpr[0].astype(np.uint16).view(np.float16), exact.fma_array(a, b, c, exact.F16)
    )


def cube(x, y, z):
    """Face number, s, t and twice the major axis by the rules of cube maps."""
    if abs(z) >= abs(x) and abs(z) >= abs(y):
        return (5, -x, -y, 2 * z) if z < 0 else (4, x, -y, 2 * z)
    if abs(y) >= abs(x):
        return (3, x, -z, 2 * y) if y < 0 else (2, x, z, 2 * y)
    return (1, z, -y, 2 * x) if x < 0 else (0, -z, -y, 2 * x)


def test_cube_maps():
    x, y, z = (
        np.random.default_rng(s).integers(-4, 4, 64).astype(F32) + F32(0.25) for s in range(3)
    )
    names = ("id", "sc", "tc", "ma")
    text = "\n".join(f"v_cube{name}_f32 v{4 + n}, v1, v2, v3" for n, name in enumerate(names))
    end = isa.run("gfx942", text, vgpr={1: x, 2: y, 3: z})
    want = np.array([cube(*lane) for lane in zip(x, y, z, strict=True)], F32)
    for column in range(4):
        valu.assert_same(end.vgpr[4 + column].view(F32), want[:, column], context=column)


ROUNDED = {
    "v_add_f32_e32 v0, v1, v2": ("f32", lambda a, b, _: (a, 1.0, b)),
    "v_mul_f32_e32 v0, v1, v2": ("f32", lambda a, b, _: (a, b, 0.0)),
    "v_fma_f32 v0, v1, v2, v3": ("f32", lambda a, b, c: (a, b, c)),
    "v_add_f64 v[0:1], v[2:3], v[4:5]": ("f64", lambda a, b, _: (a, 1.0, b)),
    "v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]": ("f64", lambda a, b, c: (a, b, c)),
}


@pytest.mark.parametrize("text", ROUNDED)
@pytest.mark.parametrize("mode", range(4))
def test_rounding_modes(text, mode):
    kind, terms = ROUNDED[text]
    fmt, dtype = (exact.F32, F32) if kind == "f32" else (exact.F64, F64)
    rng = np.random.default_rng(12)
    arrays = [(rng.standard_normal(64) + 3).astype(dtype) for _ in range(3)]
    rows = {}
    for n, array in enumerate(arrays):
        rows |= valu.registers(n + 1 if kind == "f32" else 2 * n + 2, array, rng)
    field = mode if kind == "f32" else mode << 2
    end = isa.run("gfx942", text, vgpr=rows, mode=isa.MODE_HIP | field)
    want = [
        exact.fma(*terms(*(float(x) for x in lane)), fmt, mode)
        for lane in zip(*arrays, strict=True)
    ]
    valu.assert_same(valu.result(end, kind, 0), np.array(want, dtype), context=(text, mode))


@pytest.mark.parametrize(
    "text", ["v_add_f16_e32 v0, v1, v2", "v_exp_f32_e32 v0, v1", "v_rcp_f64_e32 v[0:1], v[2:3]"]
)
def test_other_rounding_is_refused_where_it_is_not_modelled(text):
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", text, mode=isa.MODE_HIP | 0xF)
    assert trap.value.kind == "unsupported modifier"
    assert "round" in trap.value.text


def test_trig_preop_is_refused_by_name():
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx942", "v_trig_preop_f64 v[0:1], v[2:3], v4")
    assert "v_trig_preop_f64" in trap.value.text
