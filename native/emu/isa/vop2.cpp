#include <cmath>

#include "isa/float_dot.h"
#include "isa/float_math.h"
#include "isa/integer_math.h"
#include "isa/tables.h"
#include "isa/vector.h"

namespace hipgraph::emu::tables {
namespace {

using namespace vector;
using namespace float_math;
using namespace integer_math;

// Sums with carry in; the carry out is set when the sum does not fit.
Carry<u32> add_carry(u32 a, u32 b, bool carry) {
  const u32 sum = a + b + (carry ? 1U : 0U);
  return {sum, carry ? sum <= a : sum < a};
}
Carry<u32> subtract_borrow(u32 a, u32 b, bool borrow) {
  return {a - b - (borrow ? 1U : 0U), borrow ? a <= b : a < b};
}
u32 add_saturated(u32 a, u32 b) { return a + b < a ? ~0U : a + b; }
u32 subtract_saturated(u32 a, u32 b) { return a < b ? 0 : a - b; }
u16 add_saturated(u16 a, u16 b) { return saturated<u16>(a + b); }
u16 subtract_saturated(u16 a, u16 b) { return saturated<u16>(a - b); }

template <unsigned Bits>
constexpr auto dot_into = [](u32 a, u32 b, Old<u32> sum) {
  return sum.value + static_cast<u32>(integer_math::dot<Bits, true>(a, b));
};
template <unsigned Bits>
constexpr auto dot_into_saturated = [](u32 a, u32 b, Old<i32> sum) {
  return saturated<i32>(sum.value + integer_math::dot<Bits, true>(a, b));
};

constexpr auto mad_mk = [](float a, float k, float b) { return mad(a, k, b); };
constexpr auto fma_three = [](float a, float b, float c) { return std::fma(a, b, c); };
constexpr auto fmac_f16 = [](Half a, Half b, Old<Half> c) { return fma(a, b, c.value); };
constexpr auto mad_f16 = [](Half a, Half b, Half c) { return mad(a, b, c); };

constexpr Row vop2_rows[]{
    row<[](Raw<u32> a, Raw<u32> b, bool pick) { return pick ? b.bits : a.bits; }>(0,
                                                                                  "v_cndmask_b32"),
    row<[](float a, float b) { return a + b; }, kRounds>(1, "v_add_f32"),
    row<[](float a, float b) { return a - b; }, kRounds>(2, "v_sub_f32"),
    row<[](float a, float b) { return b - a; }, kRounds>(3, "v_subrev_f32"),
    row<[](double a, double b, Old<double> c) { return std::fma(a, b, c.value); }, kRounds>(
        4, "v_fmac_f64"),
    row<[](float a, float b) { return a * b; }, kRounds>(5, "v_mul_f32"),
    row<[](u32 a, u32 b) { return static_cast<u32>(i24(a)) * static_cast<u32>(i24(b)); }>(
        6, "v_mul_i32_i24"),
    row<[](u32 a, u32 b) { return static_cast<i32>(i64{i24(a)} * i24(b) >> 32); }>(
        7, "v_mul_hi_i32_i24"),
    row<[](u32 a, u32 b) { return u24(a) * u24(b); }>(8, "v_mul_u32_u24"),
    row<[](u32 a, u32 b) { return static_cast<u32>(u64{u24(a)} * u24(b) >> 32); }>(
        9, "v_mul_hi_u32_u24"),
    row<[](float a, float b, const Context& c) { return minimum(a, b, c.ieee()); }, kExact>(
        10, "v_min_f32"),
    row<[](float a, float b, const Context& c) { return maximum(a, b, c.ieee()); }, kExact>(
        11, "v_max_f32"),
    row<[](i32 a, i32 b) { return smaller(a, b); }>(12, "v_min_i32"),
    row<[](i32 a, i32 b) { return larger(a, b); }>(13, "v_max_i32"),
    row<[](u32 a, u32 b) { return smaller(a, b); }>(14, "v_min_u32"),
    row<[](u32 a, u32 b) { return larger(a, b); }>(15, "v_max_u32"),
    row<[](u32 a, u32 b) { return (b >> (a & 31)); }>(16, "v_lshrrev_b32"),
    row<[](u32 a, i32 b) { return (b >> (a & 31)); }>(17, "v_ashrrev_i32"),
    row<[](u32 a, u32 b) { return b << (a & 31); }>(18, "v_lshlrev_b32"),
    row<[](u32 a, u32 b) { return a & b; }>(19, "v_and_b32"),
    row<[](u32 a, u32 b) { return a | b; }>(20, "v_or_b32"),
    row<[](u32 a, u32 b) { return a ^ b; }>(21, "v_xor_b32"),
    row<[](float a, float b, Old<float> c) { return mad(a, b, c.value); }>(22, "v_mac_f32",
                                                                           gfx90a_only),
    row<[](Pair<BFloat> a, Pair<BFloat> b, Old<float> c) { return dot(a, b, c.value); }>(
        22, "v_dot2c_f32_bf16", gfx950_only),
    row<mad_mk, kLiteral>(23, "v_madmk_f32", gfx90a_only),
    row<fma_three, kLiteral | kRounds>(23, "v_fmamk_f32", since_gfx942),
    row<mad_mk, kLiteral>(24, "v_madak_f32", gfx90a_only),
    row<fma_three, kLiteral | kRounds>(24, "v_fmaak_f32", since_gfx942),
    row<[](u32 a, u32 b) { return add_carry(a, b, false); }>(25, "v_add_co_u32"),
    row<[](u32 a, u32 b) { return subtract_borrow(a, b, false); }>(26, "v_sub_co_u32"),
    row<[](u32 a, u32 b) { return subtract_borrow(b, a, false); }>(27, "v_subrev_co_u32"),
    row<[](u32 a, u32 b, bool c) { return add_carry(a, b, c); }>(28, "v_addc_co_u32"),
    row<[](u32 a, u32 b, bool c) { return subtract_borrow(a, b, c); }>(29, "v_subb_co_u32"),
    row<[](u32 a, u32 b, bool c) { return subtract_borrow(b, a, c); }>(30, "v_subbrev_co_u32"),
    row<[](Half a, Half b) { return add(a, b); }>(31, "v_add_f16"),
    row<[](Half a, Half b) { return subtract(a, b); }>(32, "v_sub_f16"),
    row<[](Half a, Half b) { return subtract(b, a); }>(33, "v_subrev_f16"),
    row<[](Half a, Half b) { return multiply(a, b); }>(34, "v_mul_f16"),
    row<[](Half a, Half b, Old<Half> c) { return mad(a, b, c.value); }, kKeepsHigh>(35,
                                                                                    "v_mac_f16"),
    row<mad_f16, kLiteral | kKeepsHigh>(36, "v_madmk_f16"),
    row<mad_f16, kLiteral | kKeepsHigh>(37, "v_madak_f16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(a + b); }, kPlain,
        [](u16 a, u16 b) { return add_saturated(a, b); }>(38, "v_add_u16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(a - b); }, kPlain,
        [](u16 a, u16 b) { return subtract_saturated(a, b); }>(39, "v_sub_u16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(b - a); }, kPlain,
        [](u16 a, u16 b) { return subtract_saturated(b, a); }>(40, "v_subrev_u16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>(41, "v_mul_lo_u16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }>(42, "v_lshlrev_b16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); }>(43, "v_lshrrev_b16"),
    row<[](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }>(44, "v_ashrrev_i16"),
    row<[](Half a, Half b, const Context& c) { return maximum(a, b, c.ieee()); }, kExact>(
        45, "v_max_f16"),
    row<[](Half a, Half b, const Context& c) { return minimum(a, b, c.ieee()); }, kExact>(
        46, "v_min_f16"),
    row<[](u16 a, u16 b) { return larger(a, b); }>(47, "v_max_u16"),
    row<[](i16 a, i16 b) { return larger(a, b); }>(48, "v_max_i16"),
    row<[](u16 a, u16 b) { return smaller(a, b); }>(49, "v_min_u16"),
    row<[](i16 a, i16 b) { return smaller(a, b); }>(50, "v_min_i16"),
    row<[](Half a, i16 b) { return f16_from_f64(scaled(f32_from_f16(a), b)); }>(51, "v_ldexp_f16"),
    row<[](u32 a, u32 b) { return a + b; }, kPlain,
        [](u32 a, u32 b) { return add_saturated(a, b); }>(52, "v_add_u32"),
    row<[](u32 a, u32 b) { return a - b; }, kPlain,
        [](u32 a, u32 b) { return subtract_saturated(a, b); }>(53, "v_sub_u32"),
    row<[](u32 a, u32 b) { return b - a; }, kPlain,
        [](u32 a, u32 b) { return subtract_saturated(b, a); }>(54, "v_subrev_u32"),
    row<[](Pair<Half> a, Pair<Half> b, Old<float> c) { return dot(a, b, c.value); }>(
        55, "v_dot2c_f32_f16"),
    row<dot_into<16>, kPlain, dot_into_saturated<16>>(56, "v_dot2c_i32_i16"),
    row<dot_into<8>, kPlain, dot_into_saturated<8>>(57, "v_dot4c_i32_i8"),
    row<dot_into<4>, kPlain, dot_into_saturated<4>>(58, "v_dot8c_i32_i4"),
    row<[](float a, float b, Old<float> c) { return std::fma(a, b, c.value); }, kRounds>(
        59, "v_fmac_f32"),
    row<fmac_f16, kPacked>(60, "v_pk_fmac_f16"),
    row<[](u32 a, u32 b) { return ~(a ^ b); }>(61, "v_xnor_b32"),
};
static_assert(ascends(vop2_rows));

}  // namespace

std::span<const Row> vop2() { return vop2_rows; }

}  // namespace hipgraph::emu::tables
