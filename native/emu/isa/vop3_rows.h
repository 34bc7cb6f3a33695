#pragma once
#include <span>

#include "isa/instruction.h"

/// The rows that exist only as VOP3, by what they compute.
namespace hipgraph::emu::tables {

std::span<const Row> vop3_integer();
std::span<const Row> vop3_float();
std::span<const Row> vop3_division();
std::span<const Row> vop3_convert();
std::span<const Row> vop3_scaled_convert();  ///< conversions of gfx950 with a block scale
std::span<const Row> vop3_lane();

}  // namespace hipgraph::emu::tables
