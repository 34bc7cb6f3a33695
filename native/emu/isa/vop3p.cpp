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

constexpr auto minimum_f16 = [](Half a, Half b, const Context& c) {
  return minimum(a, b, c.ieee());
};
constexpr auto maximum_f16 = [](Half a, Half b, const Context& c) {
  return maximum(a, b, c.ieee());
};

// IEEE 754-2019 minimum and maximum: a NaN wins.
template <float (*Pick)(float, float, bool)>
constexpr auto pick_2019 = [](Half x, Half y, Half z) {
  const float a = f32_from_f16(x), b = f32_from_f16(y), c = f32_from_f16(z);
  const float first = nan_or(a, b, Pick(a, b, false));
  return f16_from_f32(nan_or(first, c, Pick(first, c, false)));
};

// v_fma_mix: each source is f32, or the half of a register that op_sel picks.
float f32_of(float a) { return a; }
float f32_of(Half a) { return f32_from_f16(a); }

template <typename A, typename B, typename C>
constexpr auto mix_f32 = [](A a, B b, C c) { return std::fma(f32_of(a), f32_of(b), f32_of(c)); };
template <typename A, typename B, typename C>
constexpr auto mix_f16 =
    [](A a, B b, C c) { return f16_from_f32(std::fma(f32_of(a), f32_of(b), f32_of(c))); };

template <auto F>
constexpr const Meaning* mixed = &meaning<F, kOpSel>;

/// By which sources are f16, as op_sel_hi tells.
constexpr std::array<const Meaning*, 8> mix_to_f32{
    mixed<mix_f32<float, float, float>>, mixed<mix_f32<Half, float, float>>,
    mixed<mix_f32<float, Half, float>>,  mixed<mix_f32<Half, Half, float>>,
    mixed<mix_f32<float, float, Half>>,  mixed<mix_f32<Half, float, Half>>,
    mixed<mix_f32<float, Half, Half>>,   mixed<mix_f32<Half, Half, Half>>};
constexpr std::array<const Meaning*, 8> mix_to_f16{
    mixed<mix_f16<float, float, float>>, mixed<mix_f16<Half, float, float>>,
    mixed<mix_f16<float, Half, float>>,  mixed<mix_f16<Half, Half, float>>,
    mixed<mix_f16<float, float, Half>>,  mixed<mix_f16<Half, float, Half>>,
    mixed<mix_f16<float, Half, Half>>,   mixed<mix_f16<Half, Half, Half>>};

/// The mixed rows use neg_hi for abs, and op_sel only where the source is f16. `destination` is
/// the half written, as bit 3 of op_sel.
template <const std::array<const Meaning*, 8>& Meanings, u8 Destination>
void mix(Wave& wave, const Instruction& in) {
  Instruction plain = in;
  plain.abs = in.neg_hi;
  plain.neg_hi = 0;
  plain.op_sel = static_cast<u8>((in.op_sel & in.op_sel_hi & 7) | Destination);
  plain.op_sel_hi = 7;
  execute(wave, plain, *Meanings[in.op_sel_hi & 7]);
}

/// v_pk_mov_b32: op_sel picks a register of source 0 for the low result, of source 1 for the high.
constexpr auto move_pair = [](Pair<u32> a, Pair<u32> b, const Context& c) {
  return Pair<u32>{(c.parameter & 1) != 0 ? a.high : a.low,
                   (c.parameter & 2) != 0 ? b.high : b.low};
};

void packed_move(Wave& wave, const Instruction& in) {
  Instruction plain = in;
  plain.op_sel = 0;
  plain.op_sel_hi = 7;
  execute(wave, plain, meaning<move_pair>, in.op_sel);
}

constexpr auto dot_bf16 = [](Pair<BFloat> a, Pair<BFloat> b, float c) { return dot(a, b, c); };
i64 dot(Pair<i16> a, Pair<i16> b) { return i64{a.low} * b.low + i64{a.high} * b.high; }
i64 dot(Pair<u16> a, Pair<u16> b) { return i64{a.low} * b.low + i64{a.high} * b.high; }

template <unsigned Bits, bool Signed>
constexpr auto dot_add =
    [](u32 a, u32 b, u32 c) { return static_cast<u32>(integer_math::dot<Bits, Signed>(a, b)) + c; };
template <unsigned Bits, bool Signed, typename T>
constexpr auto dot_add_saturated =
    [](u32 a, u32 b, T c) { return saturated<T>(integer_math::dot<Bits, Signed>(a, b) + c); };

constexpr auto shift_left = [](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); };
constexpr auto shift_right = [](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); };
constexpr auto shift_right_signed = [](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); };

constexpr Row vop3p_rows[]{
    row<[](i16 a, i16 b, i16 c) { return static_cast<i16>(a * b + c); }, kPacked,
        [](i16 a, i16 b, i16 c) { return saturated<i16>(a * b + c); }>(0, "v_pk_mad_i16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }, kPacked>(1, "v_pk_mul_lo_u16"),
    row<[](i16 a, i16 b) { return static_cast<i16>(a + b); }, kPacked,
        [](i16 a, i16 b) { return saturated<i16>(a + b); }>(2, "v_pk_add_i16"),
    row<[](i16 a, i16 b) { return static_cast<i16>(a - b); }, kPacked,
        [](i16 a, i16 b) { return saturated<i16>(a - b); }>(3, "v_pk_sub_i16"),
    row<shift_left, kPacked>(4, "v_pk_lshlrev_b16"),
    row<shift_right, kPacked>(5, "v_pk_lshrrev_b16"),
    row<shift_right_signed, kPacked>(6, "v_pk_ashrrev_i16"),
    row<[](i16 a, i16 b) { return larger(a, b); }, kPacked>(7, "v_pk_max_i16"),
    row<[](i16 a, i16 b) { return smaller(a, b); }, kPacked>(8, "v_pk_min_i16"),
    row<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }, kPacked,
        [](u16 a, u16 b, u16 c) { return saturated<u16>(i64{a} * b + c); }>(9, "v_pk_mad_u16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(a + b); }, kPacked,
        [](u16 a, u16 b) { return saturated<u16>(a + b); }>(10, "v_pk_add_u16"),
    row<[](u16 a, u16 b) { return static_cast<u16>(a - b); }, kPacked,
        [](u16 a, u16 b) { return saturated<u16>(a - b); }>(11, "v_pk_sub_u16"),
    row<[](u16 a, u16 b) { return larger(a, b); }, kPacked>(12, "v_pk_max_u16"),
    row<[](u16 a, u16 b) { return smaller(a, b); }, kPacked>(13, "v_pk_min_u16"),
    row<[](Half a, Half b, Half c) { return fma(a, b, c); }, kPacked>(14, "v_pk_fma_f16"),
    row<[](Half a, Half b) { return add(a, b); }, kPacked>(15, "v_pk_add_f16"),
    row<[](Half a, Half b) { return multiply(a, b); }, kPacked>(16, "v_pk_mul_f16"),
    row<minimum_f16, kPacked | kExact>(17, "v_pk_min_f16"),
    row<maximum_f16, kPacked | kExact>(18, "v_pk_max_f16"),
    row<dot_bf16>(26, "v_dot2_f32_bf16", gfx950_only),
    row<pick_2019<minimum<float>>, kPacked | kExact>(27, "v_pk_minimum3_f16", gfx950_only),
    row<pick_2019<maximum<float>>, kPacked | kExact>(28, "v_pk_maximum3_f16", gfx950_only),
    {32, all_targets, "v_fma_mix_f32", mix<mix_to_f32, 0>, {1, 1, 1, 1}},
    {33, all_targets, "v_fma_mixlo_f16", mix<mix_to_f16, 0>, {1, 1, 1, 1}, kReadsDst},
    {34, all_targets, "v_fma_mixhi_f16", mix<mix_to_f16, 8>, {1, 1, 1, 1}, kReadsDst},
    row<[](Pair<Half> a, Pair<Half> b, float c) { return dot(a, b, c); }>(35, "v_dot2_f32_f16"),
    row<[](Pair<i16> a, Pair<i16> b, u32 c) { return static_cast<u32>(dot(a, b)) + c; }, kPlain,
        [](Pair<i16> a, Pair<i16> b, i32 c) { return saturated<i32>(dot(a, b) + c); }>(
        38, "v_dot2_i32_i16"),
    row<[](Pair<u16> a, Pair<u16> b, u32 c) { return static_cast<u32>(dot(a, b)) + c; }, kPlain,
        [](Pair<u16> a, Pair<u16> b, u32 c) { return saturated<u32>(dot(a, b) + c); }>(
        39, "v_dot2_u32_u16"),
    row<dot_add<8, true>, kPlain, dot_add_saturated<8, true, i32>>(40, "v_dot4_i32_i8"),
    row<dot_add<8, false>, kPlain, dot_add_saturated<8, false, u32>>(41, "v_dot4_u32_u8"),
    row<dot_add<4, true>, kPlain, dot_add_saturated<4, true, i32>>(42, "v_dot8_i32_i4"),
    row<dot_add<4, false>, kPlain, dot_add_saturated<4, false, u32>>(43, "v_dot8_u32_u4"),
    row<[](float a, float b, float c) { return std::fma(a, b, c); }, kPacked | kRounds>(
        48, "v_pk_fma_f32"),
    row<[](float a, float b) { return a * b; }, kPacked | kRounds>(49, "v_pk_mul_f32"),
    row<[](float a, float b) { return a + b; }, kPacked | kRounds>(50, "v_pk_add_f32"),
    {51, all_targets, "v_pk_mov_b32", packed_move, {2, 2, 2}},
};
static_assert(ascends(vop3p_rows));

}  // namespace

std::span<const Row> vop3p() { return vop3p_rows; }

}  // namespace hipgraph::emu::tables
