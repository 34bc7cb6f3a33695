#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "isa/decode.h"
#include "isa/decode_fields.h"
#include "isa/operand.h"
#include "machine/wave.h"

// What must hold of the operands of any instruction.
namespace hipgraph::emu {
namespace {

constexpr std::uint32_t first_f8f6f4 = 45, last_f8f6f4 = 46;  // VOP3P opcodes, gfx950

bool is_f8f6f4(const Instruction& in) {
  return (in.row->flags & kMatrix) != 0 && in.row->opcode >= first_f8f6f4 &&
         in.row->opcode <= last_f8f6f4;
}

/// Registers for 32 elements of a format: fp8, bf8, fp6, bf6, fp4.
std::uint32_t registers_of_format(std::uint8_t format) {
  constexpr std::array<std::uint8_t, 5> registers{8, 8, 6, 6, 4};
  return format < registers.size() ? registers[format] : 0;
}

}  // namespace

std::uint32_t source_width(const Instruction& in, std::size_t index) {
  const Widths& w = in.row->widths;
  if (index < 2 && is_f8f6f4(in)) return registers_of_format(index == 0 ? in.cbsz : in.blgp);
  if (index == 0) return w.src0;
  if (index == 1) return w.src1;
  // The carry or select mask that some vector rows read is a pair of SGPRs.
  return w.src2 == 0 && (in.row->flags & kReadsVcc) != 0 ? 2 : w.src2;
}

std::uint32_t address_width(const Instruction& in) {
  if (in.addr == operand_absent) return 0;
  if (in.family == Family::Flat) return 2;
  if (in.family == Family::Global) return in.saddr == operand_absent ? 2 : 1;
  return in.idxen && in.offen ? 2 : 1;  // only buffer instructions have these bits
}

namespace decoding {
namespace {

constexpr std::uint32_t last_sgpr = 101, first_ttmp = sreg::ttmp, last_ttmp = 123;
constexpr std::uint32_t no_register = 125;

bool is_scalar_register(std::uint32_t code) { return code < operand_code::first_constant; }

/// Whether registers `first` to `last` are all SGPRs, all TTMPs, or one of the named pairs.
bool is_one_kind(std::uint32_t first, std::uint32_t last) {
  if (last <= last_sgpr) return true;
  if (first >= first_ttmp && last <= last_ttmp) return true;
  return first > last_sgpr && last == first + 1 && first != sreg::m0;
}

/// A tuple must be aligned (pairs to 2, longer ones to 4) and stay within its kind of register.
void check_scalar_register(const Draft& draft, std::uint32_t code, std::uint32_t width) {
  if (code == no_register) refuse(draft, "operand code 125 is no register of this device");
  if (width < 2) return;
  const std::uint32_t alignment = width == 2 ? 2 : 4;
  if (code % alignment != 0 || !is_one_kind(code, code + width - 1)) {
    refuse(draft, "scalar operand " + std::to_string(code) + " starts no tuple of " +
                      std::to_string(width) + " registers");
  }
}

void check_vector_register(const Draft& draft, std::uint32_t code, std::uint32_t width) {
  const bool acc = code >= operand_accvgpr;
  const std::uint32_t number = code - (acc ? operand_accvgpr : operand_vgpr);
  if (number + width > 256 || (width > 1 && number % 2 != 0)) {
    refuse(draft, std::string(acc ? "a" : "v") + std::to_string(number) + " starts no tuple of " +
                      std::to_string(width) + " registers");
  }
}

bool is_special_source(std::uint32_t code) {
  return (code >= operand_code::shared_base && code <= operand_code::pops_exiting_wave_id) ||
         (code >= operand_code::vccz && code <= operand_code::scc);
}

void check_constant(const Draft& draft, std::uint32_t code, bool takes_literal) {
  if (code == operand_literal) {
    if (!takes_literal) refuse(draft, "this encoding takes no literal");
    return;
  }
  if (is_inline_constant(code) || is_special_source(code)) return;
  refuse(draft, "operand code " + std::to_string(code) + " is no source here");
}

bool takes_literal(const Instruction& in) {
  return in.family != Family::Vop3 && in.family != Family::Vop3p && in.family != Family::Vop3px2 &&
         in.lane_select == LaneSelect::None;
}

void check_source(const Draft& draft, std::uint32_t code, std::uint32_t width) {
  if (code == operand_absent) return;
  if (code >= operand_vgpr) {
    check_vector_register(draft, code, width);
  } else if (is_scalar_register(code)) {
    check_scalar_register(draft, code, width);
  } else {
    check_constant(draft, code, takes_literal(draft.instruction));
  }
}

/// A register that is written, or data that is stored.
void check_register(const Draft& draft, std::uint32_t code, std::uint32_t width) {
  if (code == operand_absent) return;
  if (code >= operand_vgpr) {
    check_vector_register(draft, code, width);
    return;
  }
  if (!is_scalar_register(code)) {
    refuse(draft, "operand code " + std::to_string(code) + " is no register");
  }
  check_scalar_register(draft, code, width);
}

/// Matrix products take A and B from vector registers, C from there or an inline constant.
void check_matrix_sources(const Draft& draft) {
  const Instruction& in = draft.instruction;
  const bool sparse = (in.row->flags & kReadsDst) != 0;  // src2 holds indices, dst accumulates
  for (std::size_t i = 0; i < in.src.size(); ++i) {
    const bool constant = i == 2 && !sparse && is_inline_constant(in.src[i]);
    if (in.src[i] < operand_vgpr && !constant) {
      refuse(draft, "a matrix product takes vector registers");
    }
    if (source_width(in, i) == 0) refuse(draft, "no element format has this number");
  }
}

/// The field that says "scaled" in the second half of a VOP3PX2 pair must be 0 without the first.
void check_unscaled_product(const Draft& draft) {
  const Instruction& in = draft.instruction;
  const bool unscaled = is_f8f6f4(in) && in.family == Family::Vop3p;
  if (unscaled && in.abid != 0) refuse(draft, "without scales it takes no abid");
}

/// A mask is a scalar register, though its field could name anything.
void check_mask_source(const Draft& draft) {
  const Instruction& in = draft.instruction;
  const bool is_mask = (in.row->flags & kReadsVcc) != 0 && in.row->widths.src2 == 0;
  if (is_mask && !is_scalar_register(in.src[2])) refuse(draft, "the mask is no scalar register");
}

/// A lane number comes from a scalar operand, and so does the value put into one lane.
void check_lane_sources(const Draft& draft) {
  constexpr std::uint32_t v_readlane_b32 = 0x289, v_writelane_b32 = 0x28a;
  const Instruction& in = draft.instruction;
  if (in.family != Family::Vop3) return;
  const bool writes = in.row->opcode == v_writelane_b32;
  const bool is_lane = writes || in.row->opcode == v_readlane_b32;
  if (is_lane && in.src[1] >= operand_vgpr) refuse(draft, "the lane number is no scalar");
  if (writes && in.src[0] >= operand_vgpr) refuse(draft, "the value is no scalar");
}

/// Some rows take source 0 from vector registers only, and so does every source wider than a pair
/// but the third of a matrix product.
void check_vector_sources(const Draft& draft) {
  constexpr std::array<std::string_view, 5> names{"v_readfirstlane_b32", "v_swap_b32",
                                                  "v_permlane16_swap_b32", "v_permlane32_swap_b32",
                                                  "v_cvt_scalef32_sr_pk_fp4_f32"};
  const Instruction& in = draft.instruction;
  if ((in.row->flags & kMatrix) != 0) return;
  const bool is_named = std::ranges::find(names, in.row->mnemonic) != names.end();
  for (std::size_t i = 0; i < in.src.size(); ++i) {
    const bool vector = source_width(in, i) > 2 || (i == 0 && is_named);
    if (vector && in.src[i] < operand_vgpr) {
      refuse(draft, "source " + std::to_string(i) + " is no vector register");
    }
  }
}

std::uint32_t base_width(const Instruction& in) {
  switch (in.family) {
    case Family::Smem: return in.row->widths.src1;
    case Family::Global: return 2;
    case Family::Mubuf:
    case Family::Mtbuf: return 4;
    default: return 1;
  }
}

bool is_m0_or_exec(std::uint32_t code) {
  return code == sreg::m0 || code == sreg::exec || code == sreg::exec + 1;
}

void check_memory_operands(const Draft& draft) {
  const Instruction& in = draft.instruction;
  if (in.family == Family::Smem && (is_m0_or_exec(in.dst) || is_m0_or_exec(in.data))) {
    refuse(draft, "M0 and EXEC are not data of scalar memory");
  }
  check_register(draft, in.addr, address_width(in));
  check_register(draft, in.data, in.row->widths.src0);
  check_register(draft, in.data1, in.row->widths.src1);
  check_register(draft, in.saddr, base_width(in));
  if (in.soffset == operand_literal) refuse(draft, "this encoding takes no literal");
  check_source(draft, in.soffset, 1);
}

}  // namespace

void check_operands(const Draft& draft) {
  const Instruction& in = draft.instruction;
  const bool mask = (in.row->flags & kMaskDst) != 0;
  check_register(draft, in.dst, mask ? 2 : in.row->widths.dst);
  check_register(draft, in.sdst, 2);
  for (std::size_t i = 0; i < in.src.size(); ++i) {
    check_source(draft, in.src[i], source_width(in, i));
  }
  if (in.family == Family::Vop3px2) {
    check_source(draft, in.addr, 1);
    check_source(draft, in.data, 1);
  } else {
    check_memory_operands(draft);
  }
  check_mask_source(draft);
  check_lane_sources(draft);
  check_vector_sources(draft);
  const bool is_matrix = (in.row->flags & kMatrix) != 0 && in.src[2] != operand_absent;
  if (is_matrix) check_matrix_sources(draft);
  check_unscaled_product(draft);
}

}  // namespace decoding
}  // namespace hipgraph::emu
