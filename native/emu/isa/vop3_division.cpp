#include <cmath>

#include "isa/float_math.h"
#include "isa/tables.h"
#include "isa/vector.h"
#include "isa/vop3_rows.h"

// The three steps that compilers build a correctly rounded division from: v_div_scale moves the
// operands to where reciprocal and residuals neither overflow nor lose bits, v_div_fmas undoes
// what that did to the quotient, v_div_fixup puts in the special cases.
namespace hipgraph::emu::tables {
namespace {

using namespace vector;
using namespace float_math;

template <typename T>
struct Format;
template <>
struct Format<float> {
  static constexpr int fraction_bits = 23, bias = 127;
  /// Exponent distance from which the quotient may overflow.
  static constexpr int far = 96;
  /// What operands are scaled by.
  static constexpr float step = 0x1p64f;
  /// Beyond it the reciprocal is denormal.
  static constexpr float large = 0x1p126f;
  static constexpr int least_quotient = -150;
};
template <>
struct Format<double> {
  static constexpr int fraction_bits = 52, bias = 1023;
  static constexpr int far = 768;
  static constexpr double step = 0x1p128;
  static constexpr double large = 0x1p1022;
  static constexpr int least_quotient = -1075;
};

template <typename T>
int exponent_field(T value) {
  return static_cast<int>((word(value) & Bits<T>::infinity) >> Format<T>::fraction_bits);
}

template <typename T>
bool is_denormal(T value) {
  return value != 0 && exponent_field(value) == 0;
}

/// Whether numerator / denominator is below the normal numbers.
bool has_small_quotient(float numerator, float denominator) {
  return std::fabs(static_cast<double>(numerator) / denominator) < 0x1p-126;
}
bool has_small_quotient(double numerator, double denominator) {
  return std::fabs(numerator / denominator) < 0x1p-1022;
}

/// How numerator and denominator are scaled; the mask result tells v_div_fmas that their quotient
/// is not the true one.
template <typename T>
struct Scaling {
  T numerator, denominator;
  bool changes_quotient;
};

template <typename T>
Scaling<T> scaling(T denominator, T numerator) {
  constexpr T up = Format<T>::step, down = 1 / Format<T>::step;
  if (exponent_field(numerator) - exponent_field(denominator) >= Format<T>::far) {
    return {1, up, true};
  }
  if (is_denormal(denominator)) return {up, up, false};
  const bool small_reciprocal = std::fabs(denominator) > Format<T>::large;
  const bool small_quotient = has_small_quotient(numerator, denominator);
  if (small_reciprocal) return {small_quotient ? 1 : down, down, small_quotient};
  if (small_quotient) return {up, 1, true};
  if (exponent_field(numerator) <= Format<T>::fraction_bits) return {up, up, false};
  return {1, 1, false};
}

/// Scales `value`, which is the denominator or the numerator.
template <typename T>
Carry<T> div_scale(T value, T denominator, T numerator) {
  if (denominator == 0 || numerator == 0) return {NAN, false};
  const Scaling<T> s = scaling(denominator, numerator);
  const bool is_denominator = word(value) == word(denominator);
  return {value * (is_denominator ? s.denominator : s.numerator), s.changes_quotient};
}

/// a * b + c times the power of two that undoes v_div_scale, rounded once. Only quotients below
/// the normal numbers round here: `lost` is what the sum lost before.
float div_fmas(float a, float b, float c, bool scaled) {
  if (!scaled) return std::fma(a, b, c);
  const double product = static_cast<double>(a) * b;
  const double sum = product + c;
  const double shadow = sum - product;
  const double lost = (product - (sum - shadow)) + (c - shadow);
  const bool even = (word(sum) & 1) == 0;
  const bool grows = (lost > 0) == (sum > 0);
  const u64 odd = word(sum) + (grows ? 1 : ~u64{0});
  const double exact = (lost > 0 || lost < 0) && even ? number<double>(odd) : sum;
  return static_cast<float>(exact * (exponent_field(c) > Format<float>::bias ? 0x1p64 : 0x1p-64));
}

double div_fmas(double a, double b, double c, bool scaled) {
  const double sum = std::fma(a, b, c);
  if (!scaled) return sum;
  if (exponent_field(c) > Format<double>::bias) return sum * 0x1p128;
  const double result = sum * 0x1p-128;
  const double dropped = sum - result * 0x1p128;
  // A tie between two denormals is decided by what the sum itself lost.
  const double product = a * b;
  const double lost = std::fma(a, b, -product) + (product - (sum - c));
  const bool tie = std::fabs(dropped) == 0x1p-947;
  if (!tie || lost == 0 || (lost > 0) != (dropped > 0)) return result;
  return result + std::copysign(0x1p-1074, dropped);
}

/// The quotient with the answers that iteration cannot give.
template <typename T>
[[gnu::always_inline]] inline T div_fixup(T quotient, T denominator, T numerator) {
  using B = Bits<T>;
  const auto sign = (word(denominator) ^ word(numerator)) & B::sign;
  const T infinity = number<T>(B::infinity);
  const T low = std::fabs(denominator), high = std::fabs(numerator);
  if (numerator != numerator) return quieted(numerator);
  if (denominator != denominator) return quieted(denominator);
  if (low == high && (low == 0 || low == infinity)) {
    return number<T>(B::sign | B::infinity | B::quiet);
  }
  if (low == 0 || high == infinity) return number<T>(sign | B::infinity);
  const bool below =
      exponent_field(numerator) - exponent_field(denominator) < Format<T>::least_quotient;
  if (low == infinity || high == 0 || below) return number<T>(sign);
  // The iteration ends in a NaN where the quotient is beyond the largest number.
  if (quotient != quotient) return number<T>(sign | B::infinity);
  return number<T>((word(quotient) & ~B::sign) | sign);
}

[[gnu::always_inline]] inline Half div_fixup_f16(Half quotient, Half denominator, Half numerator) {
  return f16_from_f32(
      div_fixup(f32_from_f16(quotient), f32_from_f16(denominator), f32_from_f16(numerator)));
}

constexpr auto fixup_f16 = [](Half a, Half b, Half c) { return div_fixup_f16(a, b, c); };

constexpr Row division_rows[]{
    row<[](float a, float b, float c) { return div_fixup(a, b, c); }, kExact>(478,
                                                                              "v_div_fixup_f32"),
    row<[](double a, double b, double c) { return div_fixup(a, b, c); }, kExact>(479,
                                                                                 "v_div_fixup_f64"),
    row<[](float a, float b, float c) { return div_scale(a, b, c); }, kScalarPair | kExact>(
        480, "v_div_scale_f32"),
    row<[](double a, double b, double c) { return div_scale(a, b, c); }, kScalarPair | kExact>(
        481, "v_div_scale_f64"),
    row<[](float a, float b, float c, bool vcc) { return div_fmas(a, b, c, vcc); }, kVccMask>(
        482, "v_div_fmas_f32"),
    row<[](double a, double b, double c, bool vcc) { return div_fmas(a, b, c, vcc); }, kVccMask>(
        483, "v_div_fmas_f64"),
    row<fixup_f16, kExact>(495, "v_div_fixup_legacy_f16"),
    row<fixup_f16, kOpSel | kExact>(519, "v_div_fixup_f16"),
};
static_assert(ascends(division_rows));

}  // namespace

std::span<const Row> vop3_division() { return division_rows; }

}  // namespace hipgraph::emu::tables
