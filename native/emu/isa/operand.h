#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "isa/instruction.h"
#include "machine/wave.h"

namespace hipgraph::emu {

/// Scalar operand codes that are not registers.
namespace operand_code {
constexpr std::uint16_t first_constant = 128;  ///< 0, ..., 64 (192), -1 (193), ..., -16 (208)
constexpr std::uint16_t last_integer = 208;
constexpr std::uint16_t shared_base = 235, shared_limit = 236;
constexpr std::uint16_t private_base = 237, private_limit = 238;
constexpr std::uint16_t pops_exiting_wave_id = 239;
constexpr std::uint16_t first_float = 240;  ///< 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi)
constexpr std::uint16_t last_float = 248;
constexpr std::uint16_t sdwa = 249, dpp = 250;
constexpr std::uint16_t vccz = 251, execz = 252, scc = 253;
}  // namespace operand_code

/// Where the LDS and scratch windows lie in the flat address space. No allocation has such an
/// address, so the high half of a flat address tells which memory a lane means.
constexpr std::uint64_t shared_aperture = 0x00010000ULL << 32;
constexpr std::uint64_t private_aperture = 0x00020000ULL << 32;
constexpr std::uint64_t aperture_bytes = 1ULL << 32;

/// Bits of the inline constants by how wide and of what type the operand is; the index is the
/// operand code - 128. Codes that are no inline constant hold 0.
namespace inline_constants {

using Table32 = std::array<std::uint32_t, 128>;
using Table64 = std::array<std::uint64_t, 128>;
constexpr std::size_t floats_at = operand_code::first_float - operand_code::first_constant;

/// 0..64, then -1..-16, in two's complement.
template <typename Table>
constexpr Table integers() {
  Table table{};
  for (std::uint32_t i = 0; i <= 64; ++i) table[i] = i;
  for (std::uint32_t i = 1; i <= 16; ++i) table[64 + i] = 0 - static_cast<Table::value_type>(i);
  return table;
}

/// `integers` with the nine float patterns behind them.
template <typename Table>
constexpr Table with_floats(const std::array<typename Table::value_type, 9>& floats) {
  Table table = integers<Table>();
  for (std::size_t i = 0; i < floats.size(); ++i) table[floats_at + i] = floats[i];
  return table;
}

/// 32-bit operands, f32 or integer: the float constants are f32 patterns for both.
inline constexpr Table32 b32 =
    with_floats<Table32>({0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000,
                          0x40800000, 0xc0800000, 0x3e22f983});
/// f16 operands, scalar or packed: the float constants sit in the low half, the high half is 0.
inline constexpr Table32 f16 =
    with_floats<Table32>({0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118});
/// bf16 operands (gfx950), like f16.
inline constexpr Table32 bf16 =
    with_floats<Table32>({0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22});
/// 64-bit operands, f64 or integer: the float constants are f64 patterns for both.
inline constexpr Table64 b64 =
    with_floats<Table64>({0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                          0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                          0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882});

}  // namespace inline_constants

/// Whether `code` names an inline constant.
constexpr bool is_inline_constant(std::uint32_t code) {
  return (code >= operand_code::first_constant && code <= operand_code::last_integer) ||
         (code >= operand_code::first_float && code <= operand_code::last_float);
}

/// The special sources (apertures, VCCZ, EXECZ, SCC) read as 64 bits; throws Trap for a source
/// that this device does not have.
std::uint64_t special_source_u64(const Wave& wave, std::uint32_t code);
/// The special sources read as 32 bits; throws Trap for the apertures too, whose value is in the
/// high half: the hardware's answer to such a read is not documented.
std::uint32_t special_source_u32(const Wave& wave, std::uint32_t code);

/// A scalar source of 32 bits with the inline constants of `constants`.
inline std::uint32_t scalar_with(const inline_constants::Table32& constants, const Wave& wave,
                                 const Instruction& instruction, std::uint32_t code) {
  if (code < operand_code::first_constant) return wave.sgpr[code];
  if (code == operand_literal) return instruction.literal;
  if (is_inline_constant(code)) return constants[code - operand_code::first_constant];
  return special_source_u32(wave, code);
}

/// A 32-bit scalar source of an integer or f32 operation (packed 16-bit integers too).
inline std::uint32_t scalar_u32(const Wave& wave, const Instruction& instruction,
                                std::uint32_t code) {
  return scalar_with(inline_constants::b32, wave, instruction, code);
}

/// A scalar source of an f16 operation (packed too): the value is in the low half.
inline std::uint32_t scalar_f16(const Wave& wave, const Instruction& instruction,
                                std::uint32_t code) {
  return scalar_with(inline_constants::f16, wave, instruction, code);
}

/// A scalar source of a bf16 operation (packed too): the value is in the low half.
inline std::uint32_t scalar_bf16(const Wave& wave, const Instruction& instruction,
                                 std::uint32_t code) {
  return scalar_with(inline_constants::bf16, wave, instruction, code);
}

/// A 64-bit scalar source whose literal, if it has one, stands for `literal`.
inline std::uint64_t scalar_with_literal(std::uint64_t literal, const Wave& wave,
                                         std::uint32_t code) {
  if (code < operand_code::first_constant) return wave.pair(code);
  if (code == operand_literal) return literal;
  if (is_inline_constant(code)) return inline_constants::b64[code - operand_code::first_constant];
  return special_source_u64(wave, code);
}

/// A 64-bit scalar source of an untyped or unsigned operation: a literal is zero-extended.
inline std::uint64_t scalar_u64(const Wave& wave, const Instruction& instruction,
                                std::uint32_t code) {
  return scalar_with_literal(instruction.literal, wave, code);
}

/// A 64-bit scalar source of a signed operation: a literal is sign-extended.
inline std::uint64_t scalar_i64(const Wave& wave, const Instruction& instruction,
                                std::uint32_t code) {
  const auto literal = static_cast<std::int64_t>(static_cast<std::int32_t>(instruction.literal));
  return scalar_with_literal(static_cast<std::uint64_t>(literal), wave, code);
}

/// A scalar source of an f64 operation: a literal is the high half.
inline std::uint64_t scalar_f64(const Wave& wave, const Instruction& instruction,
                                std::uint32_t code) {
  return scalar_with_literal(static_cast<std::uint64_t>(instruction.literal) << 32, wave, code);
}

/// Writes a scalar register; VCC, M0 and EXEC live at their operand codes like any other.
inline void set_scalar_u32(Wave& wave, std::uint32_t code, std::uint32_t value) {
  wave.sgpr[code] = value;
}

/// Writes a scalar register pair.
inline void set_scalar_u64(Wave& wave, std::uint32_t code, std::uint64_t value) {
  wave.set_pair(code, value);
}

}  // namespace hipgraph::emu
