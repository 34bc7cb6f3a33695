#pragma once
#include "isa/instruction.h"

/// DS instructions that move data between lanes through the LDS hardware without touching LDS.
namespace hipgraph::emu::lds_exchange {

/// ds_swizzle_b32: a fixed pattern within groups of 4 or 32 lanes.
void swizzle(Wave& wave, const Instruction& instruction);
/// ds_permute_b32: every lane pushes its value to a lane of its choice.
void permute(Wave& wave, const Instruction& instruction);
/// ds_bpermute_b32: every lane pulls the value of a lane of its choice.
void bpermute(Wave& wave, const Instruction& instruction);

}  // namespace hipgraph::emu::lds_exchange
