#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "machine/float_formats.h"

/// Float operations as the vector ALU defines them, one lane at a time; written with selects and
/// always inlined so that loops over lanes become vector code. f16 is computed in a wider format
/// and rounded once.
namespace hipgraph::emu::float_math {

template <typename T>
struct Bits;
template <>
struct Bits<float> {
  using Word = std::uint32_t;
  static constexpr Word infinity = float_bits::infinity32, quiet = float_bits::quiet32;
  static constexpr Word sign = float_bits::sign32;
};
template <>
struct Bits<double> {
  using Word = std::uint64_t;
  static constexpr Word infinity = float_bits::infinity64, quiet = float_bits::quiet64;
  static constexpr Word sign = float_bits::sign64;
};

template <typename T>
[[gnu::always_inline]] constexpr auto word(T value) {
  return std::bit_cast<typename Bits<T>::Word>(value);
}
template <typename T>
[[gnu::always_inline]] constexpr T number(typename Bits<T>::Word bits) {
  return std::bit_cast<T>(bits);
}

template <typename T>
[[gnu::always_inline]] constexpr T quieted(T value) {
  return number<T>(word(value) | Bits<T>::quiet);
}

template <typename T>
[[gnu::always_inline]] constexpr bool is_signalling(T value) {
  return value != value && (word(value) & Bits<T>::quiet) == 0;
}

template <typename T>
[[gnu::always_inline]] constexpr bool is_negative(T value) {
  return (word(value) & Bits<T>::sign) != 0;
}

/// What both minimum and maximum do with NaN: a number wins; in IEEE mode a signalling one does.
template <typename T>
[[gnu::always_inline]] constexpr T settle_nan(T a, T b, T chosen, bool ieee) {
  T result = b != b ? a : chosen;
  result = a != a ? b : result;
  result = ieee && is_signalling(b) ? quieted(b) : result;
  return ieee && is_signalling(a) ? quieted(a) : result;
}

/// The larger; +0 is larger than -0.
template <typename T>
[[gnu::always_inline]] constexpr T maximum(T a, T b, bool ieee) {
  T chosen = a > b ? a : b;
  chosen = a == b ? number<T>(word(a) & word(b)) : chosen;
  return settle_nan(a, b, chosen, ieee);
}

/// The smaller; -0 is smaller than +0.
template <typename T>
[[gnu::always_inline]] constexpr T minimum(T a, T b, bool ieee) {
  T chosen = a < b ? a : b;
  chosen = a == b ? number<T>(word(a) | word(b)) : chosen;
  return settle_nan(a, b, chosen, ieee);
}

/// The middle one; with a NaN among them, the smallest number.
template <typename T>
[[gnu::always_inline]] constexpr T median(T a, T b, T c, bool ieee) {
  const T smallest = minimum(minimum(a, b, ieee), c, ieee);
  const T largest = maximum(maximum(a, b, ieee), c, ieee);
  T middle = maximum(a, b, ieee);
  middle = largest == b ? maximum(a, c, ieee) : middle;
  middle = largest == a ? maximum(b, c, ieee) : middle;
  return a != a || b != b || c != c ? smallest : middle;
}

/// What IEEE 754-2019 minimum and maximum do with NaN: it wins.
template <typename T>
[[gnu::always_inline]] constexpr T nan_or(T a, T b, T number) {
  return a != a ? quieted(a) : b != b ? quieted(b) : number;
}

/// f16 values go through f32 unchanged.
[[gnu::always_inline]] constexpr Half maximum(Half a, Half b, bool ieee) {
  return f16_from_f32(maximum(f32_from_f16(a), f32_from_f16(b), ieee));
}
[[gnu::always_inline]] constexpr Half minimum(Half a, Half b, bool ieee) {
  return f16_from_f32(minimum(f32_from_f16(a), f32_from_f16(b), ieee));
}

/// Denormals to signed zero.
[[gnu::always_inline]] constexpr float flushed(float value) {
  const std::uint32_t bits = word(value);
  return number<float>((bits & float_bits::infinity32) == 0 ? bits & float_bits::sign32 : bits);
}

/// v_mad_f32 and v_mac_f32: two roundings, denormals flushed whatever MODE says.
[[gnu::always_inline]] constexpr float mad(float a, float b, float c) {
  return flushed(flushed(flushed(a) * flushed(b)) + flushed(c));
}

/// f16 operations whose f32 result rounds to f16 as if computed once.
[[gnu::always_inline]] constexpr Half add(Half a, Half b) {
  return f16_from_f32(f32_from_f16(a) + f32_from_f16(b));
}
[[gnu::always_inline]] constexpr Half subtract(Half a, Half b) {
  return f16_from_f32(f32_from_f16(a) - f32_from_f16(b));
}
[[gnu::always_inline]] constexpr Half multiply(Half a, Half b) {
  return f16_from_f32(f32_from_f16(a) * f32_from_f16(b));
}

/// v_mad_f16 and v_mac_f16: two roundings.
[[gnu::always_inline]] constexpr Half mad(Half a, Half b, Half c) { return add(multiply(a, b), c); }

/// f16 fused multiply-add. The product is exact in f32; the sum is made odd where it was rounded,
/// so that rounding to f16 is as if done once.
[[gnu::always_inline]] constexpr Half fma(Half a, Half b, Half c) {
  const float product = f32_from_f16(a) * f32_from_f16(b);
  const float addend = f32_from_f16(c);
  const float sum = product + addend;
  const float shadow = sum - product;
  const float error = (product - (sum - shadow)) + (addend - shadow);
  const bool inexact = error > 0 || error < 0;
  const std::uint32_t toward = (error > 0) == (sum > 0) ? 1U : ~0U;
  const std::uint32_t step = inexact && (word(sum) & 1) == 0 ? toward : 0;
  return f16_from_f32(number<float>(word(sum) + step));
}

/// Float to integer: truncates, saturates, NaN becomes 0. `low` and `high` are the integer's range.
template <typename Integer, typename T>
constexpr Integer to_integer(T value, T low, T beyond, Integer least, Integer largest) {
  const T whole = value == value ? value : T{0};
  if (whole <= low) return least;
  if (whole >= beyond) return largest;
  return static_cast<Integer>(whole);
}

template <typename T>
constexpr std::int32_t to_i32(T value) {
  return to_integer<std::int32_t, T>(value, T(-0x1p31), T(0x1p31), INT32_MIN, INT32_MAX);
}
template <typename T>
constexpr std::uint32_t to_u32(T value) {
  return to_integer<std::uint32_t, T>(value, T(0), T(0x1p32), 0, UINT32_MAX);
}
constexpr std::int16_t to_i16(float value) {
  return to_integer<std::int16_t, float>(value, -0x1p15f, 0x1p15f, INT16_MIN, INT16_MAX);
}
constexpr std::uint16_t to_u16(float value) {
  return to_integer<std::uint16_t, float>(value, 0, 0x1p16f, 0, UINT16_MAX);
}
constexpr std::uint8_t to_u8(float value) {
  return to_integer<std::uint8_t, float>(value, 0, 0x1p8f, 0, UINT8_MAX);
}

/// value * 2^exponent for f16 and f32, rounded by the caller: exact in f64.
[[gnu::always_inline]] constexpr double scaled(double value, std::int32_t exponent) {
  const std::int32_t bounded = exponent < -400 ? -400 : exponent > 400 ? 400 : exponent;
  return value * number<double>(static_cast<std::uint64_t>(bounded + 1023) << 52);
}

/// The fraction, below one: x - floor(x) would round up to it for tiny negative values.
template <typename T>
T fraction(T value, T below_one) {
  const T rest = value - std::floor(value);
  return rest > below_one ? below_one : rest;
}

/// Exponent of a value in [0.5, 1) * 2^e; 0 for zero, infinity and NaN.
constexpr std::int32_t frexp_exponent(double value) {
  const bool small = (word(value) & float_bits::infinity64) == 0;
  const double normal = small ? value * 0x1p54 : value;
  const auto field = static_cast<std::int32_t>(word(normal) >> 52 & 0x7ff);
  const bool special = field == 0x7ff || normal == 0;
  return special ? 0 : field - 1022 - (small ? 54 : 0);
}

/// The value in [0.5, 1) with the sign; zero, infinity and NaN stay.
[[gnu::always_inline]] constexpr double frexp_mantissa(double value) {
  const bool small = (word(value) & float_bits::infinity64) == 0;
  const std::uint64_t bits = word(small ? value * 0x1p54 : value);
  const bool special = (bits >> 52 & 0x7ff) == 0x7ff || (bits & ~float_bits::sign64) == 0;
  return special ? value : number<double>((bits & ~float_bits::infinity64) | 1022ULL << 52);
}

/// Sine of revolutions within a quarter of one, where it is exact at 0 and the quarters.
inline double quarter_sine(double revolutions) {
  return std::sin(2 * 3.14159265358979323846 * revolutions);
}

/// Sine and cosine of revolutions, valid to 256 of them; beyond that 0 and 1.
inline double sine(double revolutions) {
  if (std::fabs(revolutions) > 256) return std::isinf(revolutions) ? NAN : 0;
  const double rest = revolutions - __builtin_roundeven(revolutions);
  if (rest == 0) return std::copysign(0.0, revolutions);
  const bool beyond = std::fabs(rest) > 0.25;
  return quarter_sine(beyond ? std::copysign(0.5, rest) - rest : rest);
}
inline double cosine(double revolutions) {
  if (std::fabs(revolutions) > 256) return std::isinf(revolutions) ? NAN : 1;
  const double rest = revolutions - __builtin_roundeven(revolutions);
  return quarter_sine(0.25 - std::fabs(rest));
}

/// To a signed or unsigned normalised 16-bit integer, to nearest even; NaN becomes 0.
inline std::int16_t to_snorm16(float value) {
  const double bounded = value > 1 ? 1 : value < -1 ? -1 : value == value ? value : 0;
  return static_cast<std::int16_t>(__builtin_roundeven(bounded * 32767));
}
inline std::uint16_t to_unorm16(float value) {
  const double bounded = value > 1 ? 1 : value > 0 ? value : 0;
  return static_cast<std::uint16_t>(__builtin_roundeven(bounded * 65535));
}

}  // namespace hipgraph::emu::float_math
