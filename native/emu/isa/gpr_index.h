#pragma once
#include <cstdint>

#include "isa/instruction.h"

namespace hipgraph::emu {

/// MODE bits that s_set_gpr_idx_* and s_setvskip change.
constexpr std::uint32_t mode_gpr_idx_enable = 1U << 27;
constexpr std::uint32_t mode_vskip = 1U << 28;

/// The instruction with its VGPR numbers moved by M0[7:0], as VGPR indexing does to the operands
/// that M0[15:12] enables (source 0, 1, 2, destination). Throws Trap (UnsupportedModifier) for an
/// instruction that the manual does not allow there.
Instruction with_gpr_index(const Instruction& instruction, std::uint32_t m0);

}  // namespace hipgraph::emu
