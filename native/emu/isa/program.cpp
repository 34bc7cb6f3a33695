#include "isa/program.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "isa/decode.h"
#include "isa/gpr_index.h"
#include "machine/trap.h"

namespace hipgraph::emu {

/// An instruction with what the run loop needs of its row.
struct Program::Decoded {
  Instruction instruction;
  Execute execute;
  InstructionClass kind;
};

namespace {

/// By the order of the enumeration: scalar families, SMEM, vector ones, DS, the rest of memory.
InstructionClass class_of(const Instruction& in) {
  if ((in.row->flags & kBranch) != 0) return InstructionClass::Branch;
  if ((in.row->flags & kMatrix) != 0) return InstructionClass::Matrix;
  if (in.family < Family::Sopp) return InstructionClass::Salu;
  if (in.family == Family::Sopp) return InstructionClass::Other;
  if (in.family == Family::Smem) return InstructionClass::Smem;
  if (in.family < Family::Ds) return InstructionClass::Valu;
  return in.family == Family::Ds ? InstructionClass::Lds : InstructionClass::Vmem;
}

bool is_vector(InstructionClass kind) {
  return kind == InstructionClass::Valu || kind == InstructionClass::Matrix ||
         kind == InstructionClass::Lds || kind == InstructionClass::Vmem;
}

std::string hex(std::uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

Program::Program(std::uint64_t code, std::uint64_t bytes, Target target, std::uint32_t vgpr_rows,
                 std::uint32_t accvgpr_rows)
    : code_(code),
      bytes_(bytes),
      target_(target),
      vgpr_rows_(vgpr_rows),
      accvgpr_rows_(accvgpr_rows),
      decoded_(bytes / 4) {}

Program::~Program() = default;

const Instruction& Program::fetch(std::uint64_t pc) { return decoded(pc).instruction; }

std::uint32_t Program::run(Wave& wave, std::uint32_t budget) {
  constexpr std::uint32_t special_mode = mode_gpr_idx_enable | mode_vskip;
  std::uint32_t executed = 0;
  wave.yields = false;
  while (executed < budget) {
    wave.instruction_pc = wave.pc;
    const Decoded& slot = decoded(wave.pc);
    wave.pc += slot.instruction.size;
    ++executed;
    if ((wave.mode & special_mode) != 0 && is_vector(slot.kind)) {
      step_in_mode(wave, slot);
      continue;
    }
    ++wave.launch->counts[static_cast<std::size_t>(slot.kind)];
    slot.execute(wave, slot.instruction);
    if (wave.status != WaveStatus::Ready || wave.yields) break;
  }
  return executed;
}

std::string Program::text(std::uint64_t pc) {
  try {
    return disassemble(read(pc), target_, pc);
  } catch (const Trap& trap) {
    return trap.text();
  }
}

const Program::Decoded& Program::decoded(std::uint64_t pc) {
  const std::uint64_t offset = pc - code_;  // wraps to a large value below the code
  const std::uint64_t index = offset / 4;
  if (index < decoded_.size() && offset % 4 == 0) {
    const std::unique_ptr<Decoded>& slot = decoded_[index];
    if (slot != nullptr) return *slot;
  }
  std::unique_ptr<Decoded> slot = decode_at(pc);
  return *(decoded_[index] = std::move(slot));
}

std::unique_ptr<Program::Decoded> Program::decode_at(std::uint64_t pc) const {
  Instruction instruction = read(pc);
  check_rows(instruction);
  if (instruction.row->execute == nullptr) {
    throw Trap(TrapKind::UnsupportedInstruction,
               std::string(instruction.row->mnemonic) +
                   " is not implemented on this device: " + disassemble(instruction, target_, pc));
  }
  return std::make_unique<Decoded>(
      Decoded{instruction, instruction.row->execute, class_of(instruction)});
}

Instruction Program::read(std::uint64_t pc) const {
  if (pc - code_ >= bytes_ || pc % 4 != 0) {
    throw Trap(TrapKind::BadBranch, "pc " + hex(pc) + " is outside the code at " + hex(code_) +
                                        " (" + std::to_string(bytes_) + " bytes)");
  }
  const auto* first = reinterpret_cast<const std::uint32_t*>(pc);
  const std::uint64_t left = (bytes_ - (pc - code_)) / 4;
  return decode(std::span(first, std::min<std::uint64_t>(left, 4)), target_);
}

void Program::check_rows(const Instruction& in) const {
  const Widths& w = in.row->widths;
  const std::array<std::pair<std::uint16_t, std::uint32_t>, 7> operands{{
      {in.dst, w.dst},
      {in.src[0], source_width(in, 0)},
      {in.src[1], source_width(in, 1)},
      {in.src[2], source_width(in, 2)},
      {in.addr, std::max(address_width(in), 1U)},
      {in.data, std::max<std::uint32_t>(w.src0, 1)},
      {in.data1, w.src1},
  }};
  for (const auto& [code, width] : operands) {
    if (code != operand_absent && code >= operand_vgpr) check_row(in, code, width);
  }
}

void Program::check_row(const Instruction& in, std::uint32_t code, std::uint32_t width) const {
  const bool acc = code >= operand_accvgpr;
  const std::uint32_t number = code - (acc ? operand_accvgpr : operand_vgpr);
  const std::uint32_t rows = acc ? accvgpr_rows_ : vgpr_rows_;
  if (number + width <= rows) return;
  throw Trap(TrapKind::RegisterFault, std::string(in.row->mnemonic) + " names " +
                                          (acc ? "a" : "v") + std::to_string(number + width - 1) +
                                          " but the kernel has " + std::to_string(rows) +
                                          (acc ? " AccVGPRs" : " VGPRs"));
}

/// A vector instruction while VSKIP or VGPR indexing is on.
void Program::step_in_mode(Wave& wave, const Decoded& slot) const {
  if ((wave.mode & mode_vskip) != 0) return;
  ++wave.launch->counts[static_cast<std::size_t>(slot.kind)];
  if (slot.kind == InstructionClass::Lds || slot.kind == InstructionClass::Vmem) {
    slot.execute(wave, slot.instruction);
    return;
  }
  const Instruction indexed = with_gpr_index(slot.instruction, wave.sgpr[sreg::m0]);
  check_rows(indexed);
  slot.execute(wave, indexed);
}

}  // namespace hipgraph::emu
