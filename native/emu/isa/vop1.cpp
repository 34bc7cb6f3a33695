#include <bit>
#include <cmath>

#include "isa/float8_target.h"
#include "isa/float_math.h"
#include "isa/integer_math.h"
#include "isa/lane_move.h"
#include "isa/tables.h"
#include "isa/vector.h"

namespace hipgraph::emu::tables {
namespace {

using namespace vector;
using namespace float_math;

void no_operation(Wave&, const Instruction&) {}

// The transcendental f32 operations flush denormals whatever MODE says; the value is computed in
// f64 and rounded once.
template <double (*Function)(double)>
constexpr auto f32_of =
    [](float a) { return flushed(static_cast<float>(Function(static_cast<double>(flushed(a))))); };
template <double (*Function)(double)>
constexpr auto f16_of =
    [](Half a) { return f16_from_f64(Function(static_cast<double>(f32_from_f16(a)))); };
template <float (*Function)(float)>
constexpr auto f16_exact = [](Half a) { return f16_from_f32(Function(f32_from_f16(a))); };

double reciprocal(double a) { return 1 / a; }
double root(double a) { return std::sqrt(a); }
double reciprocal_root(double a) { return 1 / root(a); }
double power_of_2(double a) { return std::exp2(a); }
double logarithm_2(double a) { return std::log2(a); }
float truncate(float a) { return __builtin_truncf(a); }
float up(float a) { return __builtin_ceilf(a); }
float down(float a) { return __builtin_floorf(a); }
float nearest(float a) { return __builtin_roundevenf(a); }

template <u32 Byte>
constexpr auto f32_of_byte = [](u32 a) { return static_cast<float>(a >> 8 * Byte & 0xff); };

template <Float8 (*Format)(const Context&)>
constexpr auto f32_of_float8 =
    [](u32 a, const Context& c) { return f32_from_float8(static_cast<u8>(a), Format(c)); };
template <Float8 (*Format)(const Context&)>
constexpr auto f32_pair_of_float8 = [](u32 a, const Context& c) {
  return Pair<float>{f32_from_float8(static_cast<u8>(a), Format(c)),
                     f32_from_float8(static_cast<u8>(a >> 8), Format(c))};
};

constexpr auto f16_nearest = [](float a) { return f16_from_f32(a); };
constexpr auto f16_in_mode = [](float a, const Context& c) {
  const Half half = f16_from_f32_rounded(a, c.mode >> 2 & 3);
  const bool overflow = (half.bits & 0x7fff) == 0x7c00 && std::fabs(a) < INFINITY;
  const bool clamps = c.f16_overflow_clamps() && overflow;
  return Half{static_cast<u16>(clamps ? half.bits - 1 : half.bits)};
};

/// v_cvt_f16_f32 honours MODE's rounding and overflow, which are nearly always the default.
void convert_to_f16(Wave& wave, const Instruction& in) {
  constexpr u32 other = mode_bit::f16_f64_round | mode_bit::f16_overflow;
  const bool nearest = (wave.mode & other) == 0;
  execute(wave, in, nearest ? meaning<f16_nearest, kExact> : meaning<f16_in_mode, kExact>);
}

u8 saturated_u8(i16 a) { return static_cast<u8>(a < 0 ? 0 : a > 255 ? 255 : a); }

constexpr auto identity = [](u32 a) { return a; };
constexpr auto ffbh_i32 = [](u32 a) {
  const u32 differs = a ^ static_cast<u32>(static_cast<i32>(a) >> 31);
  return differs == 0 ? ~0U : static_cast<u32>(std::countl_zero(differs));
};

constexpr Row vop1_rows[]{
    {0, all_targets, "v_nop", no_operation, {}},
    row<identity>(1, "v_mov_b32"),
    {2, all_targets, "v_readfirstlane_b32", read_first_lane, {1, 1}, kScalarDst},
    row<[](double a) { return to_i32(a); }>(3, "v_cvt_i32_f64"),
    row<[](i32 a) { return static_cast<double>(a); }, kExact>(4, "v_cvt_f64_i32"),
    row<[](i32 a) { return static_cast<float>(a); }, kRounds>(5, "v_cvt_f32_i32"),
    row<[](u32 a) { return static_cast<float>(a); }, kRounds>(6, "v_cvt_f32_u32"),
    row<[](float a) { return to_u32(a); }>(7, "v_cvt_u32_f32"),
    row<[](float a) { return to_i32(a); }>(8, "v_cvt_i32_f32"),
    {10, all_targets, "v_cvt_f16_f32", convert_to_f16, {1, 1}},
    row<[](Half a) { return f32_from_f16(a); }, kExact>(11, "v_cvt_f32_f16"),
    row<[](float a) { return to_i32(down(a + 0.5f)); }>(12, "v_cvt_rpi_i32_f32"),
    row<[](float a) { return to_i32(down(a)); }>(13, "v_cvt_flr_i32_f32"),
    row<[](u32 a) { return static_cast<float>(static_cast<i32>(a << 28) >> 28) * 0.0625f; },
        kExact>(14, "v_cvt_off_f32_i4"),
    row<[](double a) { return static_cast<float>(a); }, kRounds>(15, "v_cvt_f32_f64"),
    row<[](float a) { return static_cast<double>(a); }, kExact>(16, "v_cvt_f64_f32"),
    row<f32_of_byte<0>, kExact>(17, "v_cvt_f32_ubyte0"),
    row<f32_of_byte<1>, kExact>(18, "v_cvt_f32_ubyte1"),
    row<f32_of_byte<2>, kExact>(19, "v_cvt_f32_ubyte2"),
    row<f32_of_byte<3>, kExact>(20, "v_cvt_f32_ubyte3"),
    row<[](double a) { return to_u32(a); }>(21, "v_cvt_u32_f64"),
    row<[](u32 a) { return static_cast<double>(a); }, kExact>(22, "v_cvt_f64_u32"),
    row<[](double a) { return __builtin_trunc(a); }, kExact>(23, "v_trunc_f64"),
    row<[](double a) { return __builtin_ceil(a); }, kExact>(24, "v_ceil_f64"),
    row<[](double a) { return __builtin_roundeven(a); }, kExact>(25, "v_rndne_f64"),
    row<[](double a) { return __builtin_floor(a); }, kExact>(26, "v_floor_f64"),
    row<[](float a) { return fraction(a, 0x1.fffffep-1f); }>(27, "v_fract_f32"),
    row<[](float a) { return truncate(a); }, kExact>(28, "v_trunc_f32"),
    row<[](float a) { return up(a); }, kExact>(29, "v_ceil_f32"),
    row<[](float a) { return nearest(a); }, kExact>(30, "v_rndne_f32"),
    row<[](float a) { return down(a); }, kExact>(31, "v_floor_f32"),
    row<f32_of<power_of_2>>(32, "v_exp_f32"),
    row<f32_of<logarithm_2>>(33, "v_log_f32"),
    row<f32_of<reciprocal>>(34, "v_rcp_f32"),
    row<f32_of<reciprocal>>(35, "v_rcp_iflag_f32"),
    row<f32_of<reciprocal_root>>(36, "v_rsq_f32"),
    row<[](double a) { return 1 / a; }>(37, "v_rcp_f64"),
    row<[](double a) { return 1 / root(a); }>(38, "v_rsq_f64"),
    row<f32_of<root>>(39, "v_sqrt_f32"),
    row<[](double a) { return root(a); }>(40, "v_sqrt_f64"),
    row<f32_of<sine>>(41, "v_sin_f32"),
    row<f32_of<cosine>>(42, "v_cos_f32"),
    row<[](u32 a) { return ~a; }>(43, "v_not_b32"),
    row<[](u32 a) { return integer_math::reversed(a); }>(44, "v_bfrev_b32"),
    row<[](u32 a) { return a == 0 ? ~0U : static_cast<u32>(std::countl_zero(a)); }>(45,
                                                                                    "v_ffbh_u32"),
    row<[](u32 a) { return a == 0 ? ~0U : static_cast<u32>(std::countr_zero(a)); }>(46,
                                                                                    "v_ffbl_b32"),
    row<ffbh_i32>(47, "v_ffbh_i32"),
    row<[](double a) { return frexp_exponent(a); }>(48, "v_frexp_exp_i32_f64"),
    row<[](double a) { return frexp_mantissa(a); }, kExact>(49, "v_frexp_mant_f64"),
    row<[](double a) { return fraction(a, 0x1.fffffffffffffp-1); }>(50, "v_fract_f64"),
    row<[](float a) { return frexp_exponent(a); }>(51, "v_frexp_exp_i32_f32"),
    row<[](float a) { return static_cast<float>(frexp_mantissa(a)); }, kExact>(52,
                                                                               "v_frexp_mant_f32"),
    {53, all_targets, "v_clrexcp", no_operation, {}},
    refused(55, "v_screen_partition_4se_b32", {1, 1}),
    row<[](u64 a) { return a; }>(56, "v_mov_b64", since_gfx942),
    row<[](u16 a) { return f16_from_f32(a); }>(57, "v_cvt_f16_u16"),
    row<[](i16 a) { return f16_from_f32(a); }>(58, "v_cvt_f16_i16"),
    row<[](Half a) { return to_u16(f32_from_f16(a)); }>(59, "v_cvt_u16_f16"),
    row<[](Half a) { return to_i16(f32_from_f16(a)); }>(60, "v_cvt_i16_f16"),
    row<f16_of<reciprocal>>(61, "v_rcp_f16"),
    row<f16_of<root>>(62, "v_sqrt_f16"),
    row<f16_of<reciprocal_root>>(63, "v_rsq_f16"),
    row<f16_of<logarithm_2>>(64, "v_log_f16"),
    row<f16_of<power_of_2>>(65, "v_exp_f16"),
    row<f16_of<frexp_mantissa>, kExact>(66, "v_frexp_mant_f16"),
    row<[](Half a) { return static_cast<i16>(frexp_exponent(f32_from_f16(a))); }>(
        67, "v_frexp_exp_i16_f16"),
    row<f16_exact<down>, kExact>(68, "v_floor_f16"),
    row<f16_exact<up>, kExact>(69, "v_ceil_f16"),
    row<f16_exact<truncate>, kExact>(70, "v_trunc_f16"),
    row<f16_exact<nearest>, kExact>(71, "v_rndne_f16"),
    row<[](Half a) { return f16_from_f64(fraction<double>(f32_from_f16(a), 0x1.ffcp-1)); }>(
        72, "v_fract_f16"),
    row<f16_of<sine>>(73, "v_sin_f16"),
    row<f16_of<cosine>>(74, "v_cos_f16"),
    refused(75, "v_exp_legacy_f32", {1, 1}),
    refused(76, "v_log_legacy_f32", {1, 1}),
    row<[](Half a) { return to_snorm16(f32_from_f16(a)); }>(77, "v_cvt_norm_i16_f16"),
    row<[](Half a) { return to_unorm16(f32_from_f16(a)); }>(78, "v_cvt_norm_u16_f16"),
    row<[](Pair<i16> a) {
      return static_cast<u16>(saturated_u8(a.low) | saturated_u8(a.high) << 8);
    }>(79, "v_sat_pk_u8_i16"),
    {81, all_targets, "v_swap_b32", swap_registers, {1, 1}},
    row<identity>(82, "v_accvgpr_mov_b32"),
    row<f32_of_float8<fp8_of>, kExact>(84, "v_cvt_f32_fp8", since_gfx942),
    row<f32_of_float8<bf8_of>, kExact>(85, "v_cvt_f32_bf8", since_gfx942),
    row<f32_pair_of_float8<fp8_of>, kExact>(86, "v_cvt_pk_f32_fp8", since_gfx942),
    row<f32_pair_of_float8<bf8_of>, kExact>(87, "v_cvt_pk_f32_bf8", since_gfx942),
    row<[](u32 a) { return a << 1 ^ (a >> 31 != 0 ? 197U : 0U); }>(88, "v_prng_b32", gfx950_only),
    {89, gfx950_only, "v_permlane16_swap_b32", swap_lanes<16>, {1, 1}},
    {90, gfx950_only, "v_permlane32_swap_b32", swap_lanes<32>, {1, 1}},
    row<[](BFloat a) { return f32_from_bf16(a); }, kExact>(91, "v_cvt_f32_bf16", gfx950_only),
};
static_assert(ascends(vop1_rows));

}  // namespace

std::span<const Row> vop1() { return vop1_rows; }

}  // namespace hipgraph::emu::tables
