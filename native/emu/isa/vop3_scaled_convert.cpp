#include "isa/float8_target.h"
#include "isa/float_math.h"
#include "isa/tables.h"
#include "isa/vector.h"
#include "isa/vop3_rows.h"

// gfx950: conversions between wide floats and fp8, bf8, fp4 blocks that share a scale. Only the
// exponent of the scale operand counts: it stands for 2^(exponent - 127), 255 for NaN.
namespace hipgraph::emu::tables {
namespace {

using namespace vector;
using namespace float_math;

double scale_of(Raw<u32> scale) {
  const u32 exponent = scale.bits >> 23 & 0xff;
  return exponent == 255 ? NAN : number<double>(u64{exponent + 1023 - 127} << 52);
}

// The magnitudes of fp4 (e2m1), and the points from which a value rounds to the next one: to
// nearest, ties to the even code.
constexpr std::array<float, 8> fp4_values{0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

u32 fp4_from(double value) {
  const double magnitude = value < 0 ? -value : value;
  u32 code = 0;
  for (u32 next = 1; next < fp4_values.size(); ++next) {
    const double midpoint = (double{fp4_values[next - 1]} + fp4_values[next]) / 2;
    const bool reaches = magnitude > midpoint || (magnitude == midpoint && next % 2 == 0);
    code = reaches ? next : code;
  }
  return code | (is_negative(value) ? 8U : 0U);
}

float fp4_value(u32 code) {
  const float magnitude = fp4_values[code & 7];
  return (code & 8) != 0 ? -magnitude : magnitude;
}

using Format = Float8 (*)(const Context&);

u8 float8_from(double value, Float8 format, const Context& c) {
  return float8_from_f32(f32_sticky(value), format, c.f16_overflow_clamps());
}

template <Format F>
u16 float8_pair(double low, double high, double scale, const Context& c) {
  const u32 first = float8_from(low / scale, F(c), c), second = float8_from(high / scale, F(c), c);
  return static_cast<u16>(first | second << 8);
}

template <Format F>
constexpr auto pair_from_f32 = [](float a, float b, Raw<u32> scale, const Context& c) {
  return float8_pair<F>(a, b, scale_of(scale), c);
};
template <Format F>
constexpr auto pair_from_f16 = [](Pair<Half> a, Raw<u32> scale, const Context& c) {
  return float8_pair<F>(f32_from_f16(a.low), f32_from_f16(a.high), scale_of(scale), c);
};
template <Format F>
constexpr auto pair_from_bf16 = [](Pair<BFloat> a, Raw<u32> scale, const Context& c) {
  return float8_pair<F>(f32_from_bf16(a.low), f32_from_bf16(a.high), scale_of(scale), c);
};

// To wide floats: op_sel picks the half of source 0 that holds the two codes.
template <Format F, bool High>
double scaled_float8(u16 codes, Raw<u32> scale, const Context& c) {
  return f32_from_float8(static_cast<u8>(High ? codes >> 8 : codes), F(c)) * scale_of(scale);
}
template <Format F>
constexpr auto pair_to_f32 = [](u16 a, Raw<u32> scale, const Context& c) {
  return Pair<float>{static_cast<float>(scaled_float8<F, false>(a, scale, c)),
                     static_cast<float>(scaled_float8<F, true>(a, scale, c))};
};
template <Format F>
constexpr auto pair_to_f16 = [](u16 a, Raw<u32> scale, const Context& c) {
  return Pair<Half>{f16_from_f64(scaled_float8<F, false>(a, scale, c)),
                    f16_from_f64(scaled_float8<F, true>(a, scale, c))};
};
template <Format F>
constexpr auto pair_to_bf16 = [](u16 a, Raw<u32> scale, const Context& c) {
  return Pair<BFloat>{bf16_from_f32(f32_sticky(scaled_float8<F, false>(a, scale, c))),
                      bf16_from_f32(f32_sticky(scaled_float8<F, true>(a, scale, c)))};
};

// fp4 pairs fill one byte.
constexpr auto fp4_from_f32 = [](float a, float b, Raw<u32> scale) {
  return fp4_from(a / scale_of(scale)) | fp4_from(b / scale_of(scale)) << 4;
};

/// Rows whose op_sel[1:0] picks a byte of source 0.
template <const Meaning& M>
void from_byte(Wave& wave, const Instruction& in) {
  Instruction plain = in;
  plain.op_sel = in.op_sel & 12;
  execute(wave, plain, M, in.op_sel & 3);
}
u32 byte_of(u32 word, const Context& c) { return word >> c.parameter * 8 & 0xff; }

template <Format F>
constexpr auto float8_to_f32 = [](u32 a, Raw<u32> scale, const Context& c) {
  const float value = f32_from_float8(static_cast<u8>(byte_of(a, c)), F(c));
  return static_cast<float>(value * scale_of(scale));
};
constexpr auto fp4_to_f32 = [](u32 a, Raw<u32> scale, const Context& c) {
  const u32 byte = byte_of(a, c);
  return Pair<float>{static_cast<float>(fp4_value(byte) * scale_of(scale)),
                     static_cast<float>(fp4_value(byte >> 4) * scale_of(scale))};
};

constexpr Row known(u16 opcode, const char* mnemonic, Widths widths) {
  return refused(opcode, mnemonic, widths, gfx950_only);
}

constexpr Row scaled_rows[]{
    row<pair_from_f32<fp8_of>, kOpSel>(565, "v_cvt_scalef32_pk_fp8_f32", gfx950_only),
    row<pair_from_f32<bf8_of>, kOpSel>(566, "v_cvt_scalef32_pk_bf8_f32", gfx950_only),
    known(567, "v_cvt_scalef32_sr_fp8_f32", {1, 1, 1, 1}),
    known(568, "v_cvt_scalef32_sr_bf8_f32", {1, 1, 1, 1}),
    row<pair_to_f32<fp8_of>, kOpSel>(569, "v_cvt_scalef32_pk_f32_fp8", gfx950_only),
    row<pair_to_f32<bf8_of>, kOpSel>(570, "v_cvt_scalef32_pk_f32_bf8", gfx950_only),
    {571,
     gfx950_only,
     "v_cvt_scalef32_f32_fp8",
     from_byte<meaning<float8_to_f32<fp8_of>>>,
     {1, 1, 1}},
    {572,
     gfx950_only,
     "v_cvt_scalef32_f32_bf8",
     from_byte<meaning<float8_to_f32<bf8_of>>>,
     {1, 1, 1}},
    row<fp4_from_f32, kOpSelByte>(573, "v_cvt_scalef32_pk_fp4_f32", gfx950_only),
    known(574, "v_cvt_scalef32_sr_pk_fp4_f32", {1, 2, 1, 1}),
    {575, gfx950_only, "v_cvt_scalef32_pk_f32_fp4", from_byte<meaning<fp4_to_f32>>, {2, 1, 1}},
    row<pair_from_f16<fp8_of>, kOpSel>(576, "v_cvt_scalef32_pk_fp8_f16", gfx950_only),
    row<pair_from_f16<bf8_of>, kOpSel>(577, "v_cvt_scalef32_pk_bf8_f16", gfx950_only),
    known(578, "v_cvt_scalef32_sr_fp8_f16", {1, 1, 1, 1}),
    known(579, "v_cvt_scalef32_sr_bf8_f16", {1, 1, 1, 1}),
    row<pair_from_bf16<fp8_of>, kOpSel>(580, "v_cvt_scalef32_pk_fp8_bf16", gfx950_only),
    row<pair_from_bf16<bf8_of>, kOpSel>(581, "v_cvt_scalef32_pk_bf8_bf16", gfx950_only),
    known(582, "v_cvt_scalef32_sr_fp8_bf16", {1, 1, 1, 1}),
    known(583, "v_cvt_scalef32_sr_bf8_bf16", {1, 1, 1, 1}),
    row<pair_to_f16<fp8_of>, kOpSel>(584, "v_cvt_scalef32_pk_f16_fp8", gfx950_only),
    row<pair_to_f16<bf8_of>, kOpSel>(585, "v_cvt_scalef32_pk_f16_bf8", gfx950_only),
    known(586, "v_cvt_scalef32_f16_fp8", {1, 1, 1}),
    known(587, "v_cvt_scalef32_f16_bf8", {1, 1, 1}),
    known(588, "v_cvt_scalef32_pk_fp4_f16", {1, 1, 1}),
    known(589, "v_cvt_scalef32_pk_fp4_bf16", {1, 1, 1}),
    known(590, "v_cvt_scalef32_sr_pk_fp4_f16", {1, 1, 1, 1}),
    known(591, "v_cvt_scalef32_sr_pk_fp4_bf16", {1, 1, 1, 1}),
    known(592, "v_cvt_scalef32_pk_f16_fp4", {1, 1, 1}),
    known(593, "v_cvt_scalef32_pk_bf16_fp4", {1, 1, 1}),
    known(594, "v_cvt_scalef32_2xpk16_fp6_f32", {6, 16, 16, 1}),
    known(595, "v_cvt_scalef32_2xpk16_bf6_f32", {6, 16, 16, 1}),
    known(596, "v_cvt_scalef32_sr_pk32_fp6_f32", {6, 32, 1, 1}),
    known(597, "v_cvt_scalef32_sr_pk32_bf6_f32", {6, 32, 1, 1}),
    known(598, "v_cvt_scalef32_pk32_f32_fp6", {32, 6, 1}),
    known(599, "v_cvt_scalef32_pk32_f32_bf6", {32, 6, 1}),
    known(600, "v_cvt_scalef32_pk32_fp6_f16", {6, 16, 1}),
    known(601, "v_cvt_scalef32_pk32_fp6_bf16", {6, 16, 1}),
    known(602, "v_cvt_scalef32_pk32_bf6_f16", {6, 16, 1}),
    known(603, "v_cvt_scalef32_pk32_bf6_bf16", {6, 16, 1}),
    known(604, "v_cvt_scalef32_sr_pk32_fp6_f16", {6, 16, 1, 1}),
    known(605, "v_cvt_scalef32_sr_pk32_fp6_bf16", {6, 16, 1, 1}),
    known(606, "v_cvt_scalef32_sr_pk32_bf6_f16", {6, 16, 1, 1}),
    known(607, "v_cvt_scalef32_sr_pk32_bf6_bf16", {6, 16, 1, 1}),
    known(608, "v_cvt_scalef32_pk32_f16_fp6", {16, 6, 1}),
    known(609, "v_cvt_scalef32_pk32_bf16_fp6", {16, 6, 1}),
    known(610, "v_cvt_scalef32_pk32_f16_bf6", {16, 6, 1}),
    known(611, "v_cvt_scalef32_pk32_bf16_bf6", {16, 6, 1}),
    row<pair_to_bf16<fp8_of>, kOpSel>(617, "v_cvt_scalef32_pk_bf16_fp8", gfx950_only),
    row<pair_to_bf16<bf8_of>, kOpSel>(618, "v_cvt_scalef32_pk_bf16_bf8", gfx950_only),
};
static_assert(ascends(scaled_rows));

}  // namespace

std::span<const Row> vop3_scaled_convert() { return scaled_rows; }

}  // namespace hipgraph::emu::tables
