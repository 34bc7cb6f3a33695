#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace hipgraph::emu {

/// A 16-bit IEEE float as a register holds it.
struct Half {
  std::uint16_t bits = 0;
};

/// A bfloat16 as a register holds it.
struct BFloat {
  std::uint16_t bits = 0;
};

/// The 8-bit formats: e4m3 and e5m2, in the FNUZ encoding of gfx942 and the OCP encoding of gfx950.
enum class Float8 : std::uint8_t { Fp8Fnuz, Bf8Fnuz, Fp8Ocp, Bf8Ocp };

namespace float_bits {
constexpr std::uint32_t sign32 = 0x80000000, infinity32 = 0x7f800000, quiet32 = 0x00400000;
constexpr std::uint64_t sign64 = 1ULL << 63, infinity64 = 0x7ffULL << 52, quiet64 = 1ULL << 51;
constexpr std::uint16_t sign16 = 0x8000, infinity16 = 0x7c00, quiet16 = 0x0200;
}  // namespace float_bits

// The conversions are written without branches and always inlined, so that loops over lanes become
// vector code.

/// Exact.
[[gnu::always_inline]] constexpr float f32_from_f16(Half half) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half.bits & 0x7fff) << 13;
  const std::uint32_t exponent = magnitude & 0x0f800000;
  const std::uint32_t normal = magnitude + ((127 - 15) << 23);
  const std::uint32_t special = magnitude + ((255 - 31) << 23);
  // A subnormal is read as 2^-14 * 1.fraction, then the implicit one is taken away.
  const float small = std::bit_cast<float>(magnitude + ((127 - 14) << 23)) - 0x1p-14f;
  std::uint32_t bits = exponent == 0x0f800000 ? special : normal;
  bits = exponent == 0 ? std::bit_cast<std::uint32_t>(small) : bits;
  return std::bit_cast<float>(bits | static_cast<std::uint32_t>(half.bits & 0x8000) << 16);
}

/// To nearest even; a NaN keeps its upper payload and becomes quiet.
[[gnu::always_inline]] constexpr Half f16_from_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  // Subnormal results: adding 0.5 leaves the rounded f16 fraction in the low bits.
  const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(aligned) - 0x3f000000;
  const std::uint32_t odd = magnitude >> 13 & 1;
  const std::uint32_t normal = (magnitude - ((127 - 15) << 23) + 0xfff + odd) >> 13;
  const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  std::uint32_t half = magnitude < 0x38800000 ? small : normal;
  half = magnitude >= 0x47800000 ? 0x7c00 : half;
  half = magnitude > 0x7f800000 ? nan : half;
  return {static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000))};
}

/// Toward zero: what v_cvt_pkrtz does; a finite value never becomes infinite.
[[gnu::always_inline]] constexpr Half f16_from_f32_toward_zero(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t exponent = magnitude >> 23;
  const std::uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
  // exponent 112 gives 2^-15, the first subnormal; a shift beyond 24 leaves nothing.
  const std::uint32_t shift = exponent < 101 ? 31 : 126 - exponent;
  const std::uint32_t small = fraction >> (shift & 31);
  const std::uint32_t normal = (magnitude - ((127 - 15) << 23)) >> 13;
  std::uint32_t half = magnitude < 0x38800000 ? small : normal;
  half = magnitude >= 0x47800000 ? 0x7bff : half;
  half = magnitude == 0x7f800000 ? 0x7c00 : half;
  half = magnitude > 0x7f800000 ? (0x7e00 | (magnitude >> 13 & 0x3ff)) : half;
  return {static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000))};
}

/// In the rounding direction that MODE encodes: 0 nearest even, 1 up, 2 down, 3 toward zero.
[[gnu::always_inline]] constexpr Half f16_from_f32_rounded(float value, std::uint32_t mode) {
  if (mode == 0) return f16_from_f32(value);
  Half half = f16_from_f32_toward_zero(value);
  const bool away = (mode == 1 && value > 0) || (mode == 2 && value < 0);
  const bool inexact = f32_from_f16(half) != value && value == value;
  if (away && inexact) ++half.bits;
  return half;
}

/// Adds the upper bits of `random` below the kept bits and truncates.
[[gnu::always_inline]] constexpr Half f16_from_f32_stochastic(float value, std::uint32_t random) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= float_bits::infinity32) return f16_from_f32(value);
  // Below the normal numbers of f16 more bits are dropped.
  const std::uint32_t exponent = magnitude >> 23;
  const std::uint32_t dropped = exponent >= 113 ? 13 : exponent > 94 ? 126 - exponent : 31;
  const std::uint64_t significand = (magnitude & 0x7fffff) | 0x800000;
  const std::uint64_t kept = (significand + (random >> (32 - dropped))) >> dropped;
  const std::uint64_t steps = exponent >= 113 ? exponent - 113 : 0;
  const std::uint64_t half = (steps << 10) + kept;
  const std::uint64_t bounded = half > 0x7c00 ? 0x7c00 : half;
  return {static_cast<std::uint16_t>(bounded | (bits >> 16 & 0x8000))};
}

/// To f32 so that a later rounding to a narrower format is as if done once: truncated, and the
/// last bit says whether anything was lost.
[[gnu::always_inline]] constexpr float f32_sticky(double value) {
  const auto nearest = static_cast<float>(value);
  const double error = static_cast<double>(nearest) - value;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool away = value > 0 ? error > 0 : error < 0;
  const bool inexact = error > 0 || error < 0;  // false for NaN and infinity
  bits -= away ? 1U : 0U;
  bits |= inexact ? 1U : 0U;
  return std::bit_cast<float>(bits);
}

/// To nearest even, rounded once.
[[gnu::always_inline]] constexpr Half f16_from_f64(double value) {
  return f16_from_f32(f32_sticky(value));
}

/// Exact.
constexpr float f32_from_bf16(BFloat value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// To nearest even; NaN becomes quiet.
constexpr BFloat bf16_from_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  return {static_cast<std::uint16_t>((nan ? bits | float_bits::quiet32 : rounded) >> 16)};
}

/// Exact.
float f32_from_float8(std::uint8_t value, Float8 format);

/// To nearest even. A value beyond the format's range becomes its largest number when `saturates`,
/// else infinity, or NaN where the format has no infinity.
std::uint8_t float8_from_f32(float value, Float8 format, bool saturates);

/// Adds the upper bits of `random` below the kept bits and truncates.
std::uint8_t float8_from_f32_stochastic(float value, std::uint32_t random, Float8 format,
                                        bool saturates);

}  // namespace hipgraph::emu
