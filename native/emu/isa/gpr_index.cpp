#include "isa/gpr_index.h"

#include <algorithm>
#include <string>

#include "machine/trap.h"

namespace hipgraph::emu {
namespace {

constexpr std::uint32_t enables_at = 12, enables_destination = 8;

void move(std::uint16_t& code, std::uint32_t index) {
  if (code == operand_absent || code < operand_vgpr) return;
  if (code + index >= operand_accvgpr) {
    throw Trap(TrapKind::RegisterFault, "VGPR index " + std::to_string(index) + " moves v" +
                                            std::to_string(code - operand_vgpr) + " beyond v255");
  }
  code = static_cast<std::uint16_t>(code + index);
}

bool is_accvgpr(std::uint16_t code) { return code != operand_absent && code >= operand_accvgpr; }

bool is_allowed(const Instruction& in) {
  const bool accvgprs = is_accvgpr(in.dst) || std::ranges::any_of(in.src, is_accvgpr);
  return in.lane_select == LaneSelect::None && !accvgprs &&
         (in.row->flags & (kMatrix | kScalarDst)) == 0;
}

}  // namespace

Instruction with_gpr_index(const Instruction& instruction, std::uint32_t m0) {
  if (!is_allowed(instruction)) {
    throw Trap(TrapKind::UnsupportedModifier,
               std::string(instruction.row->mnemonic) + " in this form has no VGPR indexing");
  }
  Instruction moved = instruction;
  const std::uint32_t index = m0 & 0xff;
  const std::uint32_t enables = m0 >> enables_at & 15;
  for (std::size_t i = 0; i < moved.src.size(); ++i) {
    if ((enables >> i & 1) != 0) move(moved.src[i], index);
  }
  if ((enables & enables_destination) != 0) move(moved.dst, index);
  return moved;
}

}  // namespace hipgraph::emu
