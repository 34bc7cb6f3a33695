#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

/// Integer operations as the vector ALU defines them, one lane at a time.
namespace hipgraph::emu::integer_math {

/// Bounds a wider value to the range of Integer.
template <typename Integer>
constexpr Integer saturated(std::int64_t value) {
  constexpr std::int64_t least = std::numeric_limits<Integer>::min();
  constexpr std::int64_t largest = std::numeric_limits<Integer>::max();
  return static_cast<Integer>(value < least ? least : value > largest ? largest : value);
}

constexpr std::int32_t i24(std::uint32_t value) {
  return static_cast<std::int32_t>(value << 8) >> 8;
}

/// The bits in the opposite order.
constexpr std::uint32_t reversed(std::uint32_t value) {
  value = (value >> 1 & 0x55555555) | (value & 0x55555555) << 1;
  value = (value >> 2 & 0x33333333) | (value & 0x33333333) << 2;
  value = (value >> 4 & 0x0f0f0f0f) | (value & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(value);
}

constexpr std::uint32_t u24(std::uint32_t value) { return value & 0xffffff; }

/// Sum of the products of `Bits`-wide elements of two dwords.
template <unsigned Bits, bool Signed>
constexpr std::int64_t dot(std::uint32_t a, std::uint32_t b) {
  std::int64_t sum = 0;
  for (unsigned at = 0; at < 32; at += Bits) {
    const std::uint32_t x = a << (32 - Bits - at), y = b << (32 - Bits - at);
    if constexpr (Signed) {
      sum += static_cast<std::int64_t>(static_cast<std::int32_t>(x) >> (32 - Bits)) *
             (static_cast<std::int32_t>(y) >> (32 - Bits));
    } else {
      sum += static_cast<std::int64_t>(static_cast<std::uint64_t>(x >> (32 - Bits)) *
                                       (y >> (32 - Bits)));
    }
  }
  return sum;
}

constexpr std::uint32_t difference(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

/// Sum of absolute differences of `Bits`-wide unsigned elements; `Masked` leaves out elements
/// whose reference (`b`) is zero.
template <unsigned Bits, bool Masked = false>
constexpr std::uint32_t sum_of_differences(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t mask = (1U << Bits) - 1;
  std::uint32_t sum = 0;
  for (unsigned at = 0; at < 32; at += Bits) {
    const std::uint32_t x = a >> at & mask, y = b >> at & mask;
    sum += Masked && y == 0 ? 0 : difference(x, y);
  }
  return sum;
}

template <typename T>
constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
constexpr T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
constexpr T middle(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

}  // namespace hipgraph::emu::integer_math
