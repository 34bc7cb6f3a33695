#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "isa/instruction.h"

namespace hipgraph::emu {

/// Decodes the instruction at the start of `words` (up to four dwords); throws Trap
/// (IllegalInstruction) when no row of `target` has these words, or too few words are left.
Instruction decode(std::span<const std::uint32_t> words, Target target);

/// Registers or dwords of source `index`, from the row; for the f8f6f4 matrix products also from
/// the element formats that the instruction chooses.
std::uint32_t source_width(const Instruction& instruction, std::size_t index);

/// Registers of the vector address of a memory instruction; 0 when it has none.
std::uint32_t address_width(const Instruction& instruction);

/// The instruction as LLVM's assembler spells it, so that assembling it gives the same words.
std::string disassemble(const Instruction& instruction, Target target, std::uint64_t pc);

/// The rows of one family, ascending by opcode (several rows may share an opcode on
/// different targets).
std::span<const Row> rows(Family family);

}  // namespace hipgraph::emu
