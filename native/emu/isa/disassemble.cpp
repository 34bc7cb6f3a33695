#include <array>
#include <cstdio>
#include <string>

#include "isa/decode.h"
#include "isa/hardware_register.h"
#include "isa/operand_text.h"

// Text of scalar instructions, and the choice of the right disassembler.
namespace hipgraph::emu {
namespace text {
namespace {

std::uint32_t constant16(const Instruction& in) {
  return static_cast<std::uint32_t>(in.imm) & 0xffff;
}

/// The counters that the instruction waits for; a number where bits are set that name none.
std::string wait_text(std::uint32_t value) {
  constexpr std::uint32_t all_vm = 63, all_exp = 7, all_lgkm = 15;
  if ((value >> 12 & 3) != 0) return hex(value);
  const std::uint32_t vm = (value & 15) | (value >> 14 & 3) << 4;
  const std::uint32_t exp = value >> 4 & 7;
  const std::uint32_t lgkm = value >> 8 & 15;
  const bool none = vm == all_vm && exp == all_exp && lgkm == all_lgkm;
  std::string text;
  if (vm != all_vm || none) text += " vmcnt(" + std::to_string(vm) + ")";
  if (exp != all_exp) text += " expcnt(" + std::to_string(exp) + ")";
  if (lgkm != all_lgkm) text += " lgkmcnt(" + std::to_string(lgkm) + ")";
  return text.substr(1);
}

std::string hardware_register_text(const Instruction& in) {
  const RegisterField field = register_field(constant16(in));
  return "hwreg(" + std::to_string(field.id) + ", " + std::to_string(field.offset) + ", " +
         std::to_string(field.bits) + ")";
}

/// Where a taken branch goes, as a comment; none when the place of the code is not known.
std::string target_comment(const Instruction& in, std::uint64_t pc) {
  if (pc == 0) return "";
  std::array<char, 32> text{};
  const std::uint64_t target = pc + in.size + static_cast<std::uint64_t>(std::int64_t{in.imm} * 4);
  std::snprintf(text.data(), text.size(), "  // 0x%llx", static_cast<unsigned long long>(target));
  return text.data();
}

std::string sopp_line(const Instruction& in, std::uint64_t pc) {
  constexpr std::uint32_t s_endpgm = 1, s_waitcnt = 12;
  Line line(in.row->mnemonic);
  if (in.row->opcode == s_waitcnt) return line.operand(wait_text(constant16(in))).take();
  const bool optional = in.row->opcode == s_endpgm && in.imm == 0;
  if (in.row->widths.src0 != 0 && !optional) line.operand(std::to_string(constant16(in)));
  if ((in.row->flags & kBranch) != 0) line.raw(target_comment(in, pc));
  return line.take();
}

std::string sopk_line(const Instruction& in, std::uint64_t pc) {
  constexpr std::uint32_t s_getreg = 17, s_setreg = 18, s_setreg_imm32 = 20;
  Line line(in.row->mnemonic);
  const std::uint32_t opcode = in.row->opcode;
  if (opcode == s_setreg || opcode == s_setreg_imm32) line.operand(hardware_register_text(in));
  line.reg(in.dst, in.row->widths.dst).reg(in.src[0], in.row->widths.src0);
  if (opcode == s_setreg) return line.take();
  if (opcode == s_setreg_imm32) return line.operand(hex(in.literal)).take();
  if (opcode == s_getreg) return line.operand(hardware_register_text(in)).take();
  line.operand(hex(constant16(in)));
  if ((in.row->flags & kBranch) != 0) line.raw(target_comment(in, pc));
  return line.take();
}

std::string sopc_line(const Instruction& in) {
  Line line(in.row->mnemonic);
  line.operand(source_text(in, 0));
  if (in.src[1] == operand_absent) return line.operand(std::to_string(in.imm)).take();
  return line.operand(source_text(in, 1)).take();
}

}  // namespace

std::string scalar_line(const Instruction& in, std::uint64_t pc) {
  if (in.family == Family::Sopp) return sopp_line(in, pc);
  if (in.family == Family::Sopk) return sopk_line(in, pc);
  if (in.family == Family::Sopc) return sopc_line(in);
  Line line(in.row->mnemonic);
  line.reg(in.dst, in.row->widths.dst);
  for (std::size_t i = 0; i < 2; ++i) {
    if (in.src[i] != operand_absent) line.operand(source_text(in, i));
  }
  return line.take();
}

}  // namespace text

std::string disassemble(const Instruction& in, Target target, std::uint64_t pc) {
  // The enumeration groups the families: scalar ones, SMEM, vector ones, memory.
  if (in.family <= Family::Sopp) return text::scalar_line(in, pc);
  const bool vector = in.family >= Family::Vop1 && in.family <= Family::Vop3px2;
  return vector ? text::vector_line(in, target) : text::memory_line(in, target);
}

}  // namespace hipgraph::emu
