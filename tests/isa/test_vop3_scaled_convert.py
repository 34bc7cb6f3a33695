"""gfx950: conversions of fp8, bf8 and fp4 with a block scale."""

import ml_dtypes
import numpy as np
import pytest
from helpers import isa, valu

U32, F32, F64 = np.uint32, np.float32, np.float64
FP8, BF8, FP4 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn
SCALE = np.resize(2.0 ** np.arange(-6, 7), 64).astype(F32) * F32(1.75)  # only the exponent counts
FACTOR = np.resize(2.0 ** np.arange(-6, 7), 64)


def small(seed):
    """Numbers whose scaled value stays inside every format."""
    rng = np.random.default_rng(seed)
    return (np.clip(rng.standard_normal(64), -2.5, 2.5) * FACTOR).astype(F32)


def pair(low, high):
    return low.view(np.uint16).astype(U32) | high.view(np.uint16).astype(U32) << U32(16)


def narrow(a, dtype):
    return (a.astype(F64) / FACTOR).astype(F32).astype(dtype).view(np.uint8).astype(U32)


@pytest.mark.parametrize(("kind", "dtype"), [("fp8", FP8), ("bf8", BF8)])
@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
def test_to_float8(kind, dtype, source):
    a, b = small(1), small(2)
    if source == "f32":
        rows, operands, sel = {1: a, 2: b, 3: SCALE}, "v1, v2, v3", "0,0,0"
    else:
        kinds = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
        a, b = a.astype(kinds[source]), b.astype(kinds[source])
        rows, operands, sel = {1: pair(a, b), 3: SCALE}, "v1, v3", "0,0"
    name = f"v_cvt_scalef32_pk_{kind}_{source}"
    text = f"{name} v0, {operands}\n{name} v4, {operands} op_sel:[{sel},1]"
    end = isa.run("gfx950", text, vgpr=rows | {0: np.zeros(64, U32), 4: np.zeros(64, U32)})
    want = narrow(a.astype(F32), dtype) | narrow(b.astype(F32), dtype) << U32(8)
    np.testing.assert_array_equal(end.vgpr[0], want)
    np.testing.assert_array_equal(end.vgpr[4], want << U32(16))


@pytest.mark.parametrize(("kind", "dtype"), [("fp8", FP8), ("bf8", BF8)])
def test_from_float8(kind, dtype):
    codes = np.random.default_rng(3).integers(0, 0x78, (4, 64)).astype(np.uint8)
    word = sum(codes[n].astype(U32) << U32(8 * n) for n in range(4))
    values = codes.view(dtype).astype(F64) * FACTOR
    rows = {1: word, 3: SCALE}
    for select in (0, 1):
        low, high = values[2 * select], values[2 * select + 1]
        suffix = f"v1, v3 op_sel:[{select},0,0]"
        text = f"""
            v_cvt_scalef32_pk_f32_{kind} v[4:5], {suffix}
            v_cvt_scalef32_pk_bf16_{kind} v6, {suffix}
            v_cvt_scalef32_pk_f16_{kind} v7, {suffix}
        """
        end = isa.run("gfx950", text, vgpr=rows)
        valu.assert_same(end.vgpr[4].view(F32), low.astype(F32))
        valu.assert_same(end.vgpr[5].view(F32), high.astype(F32))
        np.testing.assert_array_equal(
            end.vgpr[6], pair(low.astype(ml_dtypes.bfloat16), high.astype(ml_dtypes.bfloat16))
        )
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(
                end.vgpr[7], pair(low.astype(np.float16), high.astype(np.float16))
            )
    for byte in range(4):
        text = f"v_cvt_scalef32_f32_{kind} v4, v1, v3 op_sel:[{byte & 1},{byte >> 1}]"
        end = isa.run("gfx950", text, vgpr=rows)
        valu.assert_same(end.vgpr[4].view(F32), values[byte].astype(F32))


@pytest.mark.parametrize("byte", range(4))
def test_fp4(byte):
    a, b = small(4), small(5)
    sel = f"op_sel:[0,0,{byte & 1},{byte >> 1}]"
    end = isa.run(
        "gfx950",
        f"v_cvt_scalef32_pk_fp4_f32 v0, v1, v2, v3 {sel}",
        vgpr={0: np.zeros(64, U32), 1: a, 2: b, 3: SCALE},
    )
    want = narrow(a, FP4) | narrow(b, FP4) << U32(4)
    np.testing.assert_array_equal(end.vgpr[0], want << U32(8 * byte))
    sel = f"op_sel:[{byte & 1},{byte >> 1},0]"
    back = isa.run(
        "gfx950", f"v_cvt_scalef32_pk_f32_fp4 v[4:5], v0, v3 {sel}", vgpr={0: end.vgpr[0], 3: SCALE}
    )
    for row, shift in ((4, 0), (5, 4)):
        codes = (want >> U32(shift) & U32(15)).astype(np.uint8)
        valu.assert_same(
            back.vgpr[row].view(F32), (codes.view(FP4).astype(F64) * FACTOR).astype(F32)
        )


def test_fp4_ties_and_saturation():
    a = np.resize(np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 7, -5, 100, -np.inf], F32), 64)
    one = np.ones(64, F32)
    end = isa.run(
        "gfx950",
        "v_cvt_scalef32_pk_fp4_f32 v0, v1, v1, v3",
        vgpr={0: np.zeros(64, U32), 1: a, 3: one},
    )
    want = np.resize(np.array([0, 2, 2, 4, 4, 6, 6, 7, 14, 7, 15], U32), 64)
    np.testing.assert_array_equal(end.vgpr[0] & U32(15), want)


def test_the_rest_is_refused_by_name():
    with pytest.raises(isa.Trap) as trap:
        isa.run("gfx950", "v_cvt_scalef32_pk32_f32_fp6 v[0:31], v[32:37], v40")
    assert trap.value.kind == "unsupported instruction"
    assert "v_cvt_scalef32_pk32_f32_fp6" in trap.value.text
