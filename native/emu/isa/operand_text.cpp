#include "isa/operand_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "isa/decode.h"
#include "isa/operand.h"
#include "machine/wave.h"

namespace hipgraph::emu::text {
namespace {

constexpr std::uint32_t last_sgpr = 101;

/// "s5" or "s[4:7]".
std::string numbered(const char* prefix, std::uint32_t number, std::uint32_t width) {
  if (width < 2) return prefix + std::to_string(number);
  return std::string(prefix) + "[" + std::to_string(number) + ":" +
         std::to_string(number + width - 1) + "]";
}

/// A register of which pairs have a name and halves a suffix.
std::string named_pair(const char* name, std::uint32_t code, std::uint32_t width) {
  if (width == 2) return name;
  return std::string(name) + (code % 2 == 0 ? "_lo" : "_hi");
}

std::string scalar_register(std::uint32_t code, std::uint32_t width) {
  if (code <= last_sgpr) return numbered("s", code, width);
  if (code < sreg::xnack_mask) return named_pair("flat_scratch", code, width);
  if (code < sreg::vcc) return named_pair("xnack_mask", code, width);
  if (code < sreg::ttmp) return named_pair("vcc", code, width);
  if (code < sreg::m0) return numbered("ttmp", code - sreg::ttmp, width);
  if (code == sreg::m0) return "m0";
  return named_pair("exec", code, width);
}

std::string special_source(std::uint32_t code) {
  switch (code) {
    case operand_code::shared_base: return "src_shared_base";
    case operand_code::shared_limit: return "src_shared_limit";
    case operand_code::private_base: return "src_private_base";
    case operand_code::private_limit: return "src_private_limit";
    case operand_code::pops_exiting_wave_id: return "src_pops_exiting_wave_id";
    case operand_code::vccz: return "src_vccz";
    case operand_code::execz: return "src_execz";
    default: return "src_scc";
  }
}

std::string inline_constant(std::uint32_t code, std::uint32_t width) {
  constexpr std::array floats{"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
  constexpr std::uint32_t last_positive = operand_code::first_constant + 64;
  if (code <= last_positive) return std::to_string(code - operand_code::first_constant);
  if (code <= operand_code::last_integer) return "-" + std::to_string(code - last_positive);
  if (code < operand_code::last_float) return floats[code - operand_code::first_float];
  return width == 2 ? "0.15915494309189532" : "0.15915494";  // 1/(2 pi)
}

/// Whether the assembler might take an inline constant for this value, whatever the operand's type.
bool looks_inline(std::uint32_t value) {
  const bool is_half = value >> 16 == 0 || value >> 16 == 0xffff;
  const auto number = static_cast<std::int16_t>(value);
  if (is_half && number >= -16 && number <= 64) return true;
  const auto holds = [value](const auto& table) {
    return std::ranges::find(table, value) != table.end();
  };
  const auto high_half = [value](std::uint64_t constant) { return constant >> 32 == value; };
  return holds(inline_constants::b32) || holds(inline_constants::f16) ||
         holds(inline_constants::bf16) || std::ranges::any_of(inline_constants::b64, high_half);
}

}  // namespace

std::string hex(std::uint32_t value) {
  std::array<char, 11> digits{};
  std::snprintf(digits.data(), digits.size(), "0x%x", value);
  return digits.data();
}

std::string register_text(std::uint32_t code, std::uint32_t width) {
  if (code >= operand_accvgpr) return numbered("a", code - operand_accvgpr, width);
  if (code >= operand_vgpr) return numbered("v", code - operand_vgpr, width);
  return scalar_register(code, width);
}

std::string operand_text(const Instruction& in, std::uint32_t code, std::uint32_t width) {
  if (code >= operand_vgpr || code < operand_code::first_constant) {
    return register_text(code, width);
  }
  if (is_inline_constant(code)) return inline_constant(code, width);
  if (code != operand_literal) return special_source(code);
  return looks_inline(in.literal) ? "lit(" + hex(in.literal) + ")" : hex(in.literal);
}

std::string source_text(const Instruction& in, std::size_t index) {
  return operand_text(in, in.src[index], source_width(in, index));
}

Line& Line::operand(const std::string& operand) {
  text_ += (has_operand_ ? ", " : " ") + operand;
  has_operand_ = true;
  return *this;
}

Line& Line::reg(std::uint32_t code, std::uint32_t width) {
  return code == operand_absent ? *this : operand(register_text(code, width));
}

Line& Line::flag(bool present, std::string_view name) {
  if (present) raw(" ").raw(name);
  return *this;
}

Line& Line::number(std::string_view name, std::int64_t value) {
  if (value != 0) raw(" ").raw(name).raw(":").raw(std::to_string(value));
  return *this;
}

Line& Line::bits(std::string_view name, std::uint32_t bits, std::size_t count,
                 std::uint32_t usual) {
  const std::uint32_t mask = (1U << count) - 1;
  if ((bits & mask) == (usual & mask)) return *this;
  raw(" ").raw(name).raw(":[");
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) raw(",");
    raw((bits >> i & 1) != 0 ? "1" : "0");
  }
  return raw("]");
}

Line& Line::raw(std::string_view text) {
  text_ += text;
  return *this;
}

}  // namespace hipgraph::emu::text
