#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "isa/instruction.h"
#include "machine/target.h"

/// What the decoders of the encoding families share; only decode*.cpp include this.
namespace hipgraph::emu::decoding {

/// Bits high..low of a word.
constexpr std::uint32_t field(std::uint32_t word, unsigned high, unsigned low) {
  return word >> low & ((2U << (high - low)) - 1);
}
constexpr bool bit(std::uint32_t word, unsigned at) { return (word >> at & 1) != 0; }
/// Bits high..0 of a word as a signed number.
constexpr std::int32_t signed_field(std::uint32_t word, unsigned high) {
  return static_cast<std::int32_t>(word << (31 - high)) >> (31 - high);
}

/// A VGPR number as an operand code; `acc` picks the AccVGPR of that number.
constexpr std::uint16_t vector_code(std::uint32_t number, bool acc = false) {
  return static_cast<std::uint16_t>((acc ? operand_accvgpr : operand_vgpr) + number);
}
constexpr std::uint16_t code16(std::uint32_t code) { return static_cast<std::uint16_t>(code); }

/// The words being decoded and the instruction made of them.
struct Draft {
  std::span<const std::uint32_t> words;
  Target target;
  Instruction instruction;

  /// Word `at`; throws Trap when the code ends before it. The instruction then includes it.
  std::uint32_t take(std::size_t at);
};

/// Throws Trap (IllegalInstruction) with the reason and the words.
[[noreturn]] void refuse(const Draft& draft, const std::string& why);

/// Finds the row of `opcode` for the draft's target in `table`; null when there is none.
const Row* find_row(const Draft& draft, std::span<const Row> table, std::uint32_t opcode);

/// Sets family and row; refuses when `table` has no row of `opcode` for the target.
void set_row(Draft& draft, Family family, std::span<const Row> table, std::uint32_t opcode);

/// Takes the literal that follows when one of the sources asks for it.
void take_literal(Draft& draft);

/// Refuses registers that do not exist, misaligned tuples and sources that the family lacks.
void check_operands(const Draft& draft);

// One decoder an encoding; each reads the fields of its encoding into the draft.
void decode_sop1(Draft& draft);
void decode_sop2(Draft& draft);
void decode_sopk(Draft& draft);
void decode_sopc(Draft& draft);
void decode_sopp(Draft& draft);
void decode_vop1(Draft& draft);
void decode_vop2(Draft& draft);
void decode_vopc(Draft& draft);
void decode_vop3(Draft& draft);
void decode_vop3p(Draft& draft);
void decode_smem(Draft& draft);
void decode_ds(Draft& draft);
void decode_flat(Draft& draft);
void decode_mubuf(Draft& draft);
void decode_mtbuf(Draft& draft);

}  // namespace hipgraph::emu::decoding
