#include "machine/float_formats.h"

#include <array>

namespace hipgraph::emu {
namespace {

struct Layout {
  int fraction_bits;
  int bias;
  bool fnuz;              // one NaN (0x80), no infinity, no negative zero
  std::uint8_t largest;   // code of the largest number
  std::uint8_t overflow;  // code that a positive value beyond it becomes
};

constexpr Layout layout(Float8 format) {
  switch (format) {
    case Float8::Fp8Fnuz: return {3, 8, true, 0x7f, 0x80};
    case Float8::Bf8Fnuz: return {2, 16, true, 0x7f, 0x80};
    case Float8::Fp8Ocp: return {3, 7, false, 0x7e, 0x7f};
    case Float8::Bf8Ocp: return {2, 15, false, 0x7b, 0x7c};
  }
  __builtin_unreachable();  // the enumeration has no other member
}

constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

constexpr float decode(std::uint8_t value, Float8 format) {
  const Layout l = layout(format);
  const int magnitude = value & 0x7f;
  const float quiet_nan = std::bit_cast<float>(0x7fc00000U);
  if (l.fnuz && value == 0x80) return quiet_nan;
  const float sign = value >= 0x80 ? -1.0f : 1.0f;
  if (magnitude > l.largest) {
    const bool infinite = format == Float8::Bf8Ocp && magnitude == l.overflow;
    return infinite ? sign * std::bit_cast<float>(float_bits::infinity32) : quiet_nan;
  }
  const int exponent = magnitude >> l.fraction_bits;
  const int fraction = magnitude & ((1 << l.fraction_bits) - 1);
  const int significand = exponent == 0 ? fraction : fraction + (1 << l.fraction_bits);
  const int scale = (exponent == 0 ? 1 : exponent) - l.bias - l.fraction_bits;
  return sign * static_cast<float>(significand) * power_of_two(scale);
}

using Table = std::array<float, 256>;

constexpr Table table(Float8 format) {
  Table values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = decode(static_cast<std::uint8_t>(i), format);
  }
  return values;
}

constexpr std::array<Table, 4> tables{table(Float8::Fp8Fnuz), table(Float8::Bf8Fnuz),
                                      table(Float8::Fp8Ocp), table(Float8::Bf8Ocp)};

// What is added to a significand before `dropped` of its bits are cut off.
std::uint64_t nearest_even(std::uint64_t significand, int dropped) {
  return (1ULL << (dropped - 1)) - 1 + (significand >> dropped & 1);
}

std::uint8_t signed_code(std::uint32_t magnitude, std::uint32_t sign, const Layout& l) {
  if (l.fnuz && magnitude == 0) return 0;
  return static_cast<std::uint8_t>(magnitude | sign);
}

template <typename Increment>
std::uint8_t encode(float value, Float8 format, bool saturates, Increment increment) {
  const Layout l = layout(format);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 24 & 0x80;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > float_bits::infinity32) return signed_code(l.fnuz ? 0x80 : 0x7f, sign, l);
  if (magnitude == float_bits::infinity32) return signed_code(l.overflow, sign, l);
  const int exponent = static_cast<int>(magnitude >> 23) - 127 + l.bias;
  const int dropped = 23 - l.fraction_bits + (exponent < 1 ? 1 - exponent : 0);
  if (dropped > 31) return signed_code(0, sign, l);
  const std::uint64_t significand = (magnitude & 0x7fffff) | 0x800000;
  const auto kept =
      static_cast<std::uint32_t>((significand + increment(significand, dropped)) >> dropped);
  // The implicit one of a normal number counts as one step of the exponent.
  const std::uint32_t steps = exponent < 1 ? 0 : static_cast<std::uint32_t>(exponent - 1);
  const std::uint32_t code = (steps << l.fraction_bits) + kept;
  if (code <= l.largest) return signed_code(code, sign, l);
  return signed_code(saturates ? l.largest : l.overflow, sign, l);
}

}  // namespace

float f32_from_float8(std::uint8_t value, Float8 format) {
  return tables[static_cast<std::size_t>(format)][value];
}

std::uint8_t float8_from_f32(float value, Float8 format, bool saturates) {
  return encode(value, format, saturates, nearest_even);
}

std::uint8_t float8_from_f32_stochastic(float value, std::uint32_t random, Float8 format,
                                        bool saturates) {
  return encode(value, format, saturates, [random](std::uint64_t, int dropped) {
    return static_cast<std::uint64_t>(random) >> (32 - dropped);
  });
}

}  // namespace hipgraph::emu
