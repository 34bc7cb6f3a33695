#include "isa/float8_target.h"
#include "isa/float_math.h"
#include "isa/integer_math.h"
#include "isa/tables.h"
#include "isa/vector.h"
#include "isa/vop3_rows.h"

namespace hipgraph::emu::tables {
namespace {

using namespace vector;
using namespace float_math;
using integer_math::saturated;

/// Puts a byte at position `at` of a dword.
u32 with_byte(u32 word, u32 at, u8 byte) {
  const u32 shift = (at & 3) * 8;
  return (word & ~(0xffU << shift)) | static_cast<u32>(byte) << shift;
}

template <Float8 (*Format)(const Context&)>
constexpr auto float8_pair = [](float a, float b, const Context& c) {
  const u32 low = float8_from_f32(a, Format(c), c.f16_overflow_clamps());
  const u32 high = float8_from_f32(b, Format(c), c.f16_overflow_clamps());
  return static_cast<u16>(low | high << 8);
};
template <Float8 (*Format)(const Context&)>
constexpr auto float8_stochastic = [](float a, u32 random, const Context& c) {
  return u32{float8_from_f32_stochastic(a, random, Format(c), c.f16_overflow_clamps())};
};

BFloat bf16_stochastic(float value, u32 random) {
  const u32 bits = word(value);
  const bool special = (bits & float_bits::infinity32) == float_bits::infinity32;
  if (special) return bf16_from_f32(value);
  return {static_cast<u16>((bits + (random >> 16)) >> 16)};
}

constexpr auto pair_toward_zero = [](float a, float b) {
  return Pair<Half>{f16_from_f32_toward_zero(a), f16_from_f32_toward_zero(b)};
};
constexpr auto snorm_pair = [](Half a, Half b) {
  return Pair<i16>{to_snorm16(f32_from_f16(a)), to_snorm16(f32_from_f16(b))};
};
constexpr auto unorm_pair = [](Half a, Half b) {
  return Pair<u16>{to_unorm16(f32_from_f16(a)), to_unorm16(f32_from_f16(b))};
};

constexpr Row convert_rows[]{
    row<[](float a, u32 at, u32 c) { return with_byte(c, at, to_u8(a)); }>(477, "v_cvt_pk_u8_f32"),
    row<[](float a, u32 at, Old<u32> old) { return with_byte(old.value, at, to_u8(a)); }>(
        496, "v_cvt_pkaccum_u8_f32"),
    row<[](float a, float b) { return Pair<Half>{f16_from_f32(a), f16_from_f32(b)}; }, kExact>(
        615, "v_cvt_pk_f16_f32", gfx950_only),
    row<[](float a, float b) { return Pair<BFloat>{bf16_from_f32(a), bf16_from_f32(b)}; }, kExact>(
        616, "v_cvt_pk_bf16_f32", gfx950_only),
    row<[](float a, float b) { return Pair<i16>{to_snorm16(a), to_snorm16(b)}; }>(
        660, "v_cvt_pknorm_i16_f32"),
    row<[](float a, float b) { return Pair<u16>{to_unorm16(a), to_unorm16(b)}; }>(
        661, "v_cvt_pknorm_u16_f32"),
    row<pair_toward_zero, kExact>(662, "v_cvt_pkrtz_f16_f32"),
    row<[](u32 a, u32 b) { return Pair<u16>{saturated<u16>(a), saturated<u16>(b)}; }>(
        663, "v_cvt_pk_u16_u32"),
    row<[](i32 a, i32 b) { return Pair<i16>{saturated<i16>(a), saturated<i16>(b)}; }>(
        664, "v_cvt_pk_i16_i32"),
    row<snorm_pair, kOpSel>(665, "v_cvt_pknorm_i16_f16"),
    row<unorm_pair, kOpSel>(666, "v_cvt_pknorm_u16_f16"),
    row<[](Half a, Half b) { return Pair<Half>{a, b}; }, kOpSel | kExact>(672, "v_pack_b32_f16"),
    row<float8_pair<fp8_of>, kOpSel>(674, "v_cvt_pk_fp8_f32", since_gfx942),
    row<float8_pair<bf8_of>, kOpSel>(675, "v_cvt_pk_bf8_f32", since_gfx942),
    row<float8_stochastic<fp8_of>, kOpSelByte>(676, "v_cvt_sr_fp8_f32", since_gfx942),
    row<float8_stochastic<bf8_of>, kOpSelByte>(677, "v_cvt_sr_bf8_f32", since_gfx942),
    row<[](float a, u32 random) { return f16_from_f32_stochastic(a, random); }, kOpSel | kExact>(
        678, "v_cvt_sr_f16_f32", gfx950_only),
    row<[](float a, u32 random) { return bf16_stochastic(a, random); }, kOpSel>(
        679, "v_cvt_sr_bf16_f32", gfx950_only),
};
static_assert(ascends(convert_rows));

}  // namespace

std::span<const Row> vop3_convert() { return convert_rows; }

}  // namespace hipgraph::emu::tables
