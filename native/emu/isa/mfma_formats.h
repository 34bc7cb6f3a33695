#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "machine/float_formats.h"
#include "machine/wave.h"

/// Element types of matrix inputs: how a lane's registers hold them, and as what they are
/// multiplied. `exact_products`: the product of two fits Value, so multiply-then-add rounds as an
/// FMA does (away from overflow and underflow of Value), without needing an FMA of the host.
namespace hipgraph::emu::matrix {

/// bfloat16, two in a register.
struct Bf16 {
  using Value = float;
  static constexpr std::uint32_t bits = 16;
  static constexpr bool exact_products = true;
  explicit Bf16(const Wave& /*wave*/) {}
  Value at(const VectorRegister* rows, std::uint32_t lane, std::uint32_t e) const {
    const std::uint32_t pair = rows[e / 2][lane];
    return std::bit_cast<float>(e % 2 != 0 ? pair & 0xffff0000u : pair << 16);
  }
};

/// f16, two in a register.
struct F16 {
  using Value = float;
  static constexpr std::uint32_t bits = 16;
  static constexpr bool exact_products = true;
  explicit F16(const Wave& /*wave*/) {}
  Value at(const VectorRegister* rows, std::uint32_t lane, std::uint32_t e) const {
    return f32_from_f16(Half{static_cast<std::uint16_t>(rows[e / 2][lane] >> (e % 2 * 16))});
  }
};

/// f32.
struct F32 {
  using Value = float;
  static constexpr std::uint32_t bits = 32;
  static constexpr bool exact_products = false;
  explicit F32(const Wave& /*wave*/) {}
  Value at(const VectorRegister* rows, std::uint32_t lane, std::uint32_t e) const {
    return std::bit_cast<float>(rows[e][lane]);
  }
};

/// f32 of which the matrix cores see 10 fraction bits.
struct Xf32 {
  using Value = float;
  static constexpr std::uint32_t bits = 32;
  static constexpr bool exact_products = true;
  explicit Xf32(const Wave& /*wave*/) {}
  Value at(const VectorRegister* rows, std::uint32_t lane, std::uint32_t e) const {
    return std::bit_cast<float>(rows[e][lane] & 0xffffe000u);
  }
};

/// f64, in register pairs.
struct F64 {
  using Value = double;
  static constexpr std::uint32_t bits = 64;
  static constexpr bool exact_products = false;
  explicit F64(const Wave& /*wave*/) {}
  Value at(const VectorRegister* rows, std::uint32_t lane, std::uint32_t e) const {
    return std::bit_cast<double>(rows[2 * e][lane] | std::uint64_t{rows[2 * e + 1][lane]} << 32);
  }
};

/// Signed bytes, four in a register; products and sums wrap at 32 bits.
struct I8 {
  using Value = std::uint32_t;
  static constexpr std::uint32_t bits = 8;
  static constexpr bool exact_products = true;
  explicit I8(const Wave& /*wave*/) {}
  Value at(const VectorRegister* rows, std::uint32_t lane, std::uint32_t e) const {
    const auto byte = static_cast<std::int32_t>(rows[e / 4][lane] << (24 - e % 4 * 8)) >> 24;
    return static_cast<std::uint32_t>(byte);
  }
};

/// All values of an 8-bit float format.
using Float8Values = std::array<float, 256>;
/// The values of e4m3 (`wide_exponent` false) or e5m2 as `target` encodes them.
const Float8Values& float8_values(Target target, bool wide_exponent);

/// 8-bit floats, four in a register: fp8 is e4m3, bf8 is e5m2.
template <bool wide_exponent>
struct Float8Format {
  using Value = float;
  static constexpr std::uint32_t bits = 8;
  static constexpr bool exact_products = true;
  explicit Float8Format(const Wave& wave)
      : values(float8_values(wave.launch->target, wide_exponent)) {}
  Value at(const VectorRegister* rows, std::uint32_t lane, std::uint32_t e) const {
    return values[rows[e / 4][lane] >> (e % 4 * 8) & 0xff];
  }
  const Float8Values& values;
};
using Fp8 = Float8Format<false>;
using Bf8 = Float8Format<true>;

}  // namespace hipgraph::emu::matrix
