#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "isa/instruction.h"

/// Spellings of operands and modifiers that the disassemblers of the families share; only
/// disassemble*.cpp and operand_text.cpp include this.
namespace hipgraph::emu::text {

/// A register or tuple: "v4", "a[0:3]", "s[2:3]", "vcc", "exec_lo".
std::string register_text(std::uint32_t code, std::uint32_t width);

/// A source: a register, an inline constant or the literal of the instruction.
std::string source_text(const Instruction& instruction, std::size_t index);
/// The same for an operand that is not one of the three sources.
std::string operand_text(const Instruction& instruction, std::uint32_t code, std::uint32_t width);

std::string hex(std::uint32_t value);

/// Builds one line of assembly: mnemonic, operands with commas between, modifiers behind.
class Line {
 public:
  explicit Line(std::string mnemonic) : text_(std::move(mnemonic)) {}
  /// Adds an operand.
  Line& operand(const std::string& operand);
  /// Adds a register unless it is absent.
  Line& reg(std::uint32_t code, std::uint32_t width);
  /// Adds a modifier that stands alone, such as " clamp", when `present`.
  Line& flag(bool present, std::string_view name);
  /// Adds " name:value" when the value is not 0.
  Line& number(std::string_view name, std::int64_t value);
  /// Adds " name:[1,0,...]" of the low bits of `bits` when they differ from `usual`.
  Line& bits(std::string_view name, std::uint32_t bits, std::size_t count, std::uint32_t usual);
  /// Adds text as it is.
  Line& raw(std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool has_operand_ = false;
};

// One function a group of families.
std::string scalar_line(const Instruction& instruction, std::uint64_t pc);
std::string vector_line(const Instruction& instruction, Target target);
std::string memory_line(const Instruction& instruction, Target target);

}  // namespace hipgraph::emu::text
