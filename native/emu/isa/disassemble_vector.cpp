#include <array>
#include <string>
#include <string_view>

#include "isa/decode.h"
#include "isa/operand.h"
#include "isa/operand_text.h"

// Text of vector instructions.
namespace hipgraph::emu::text {
namespace {

bool has(const Instruction& in, RowFlag flag) { return (in.row->flags & flag) != 0; }

constexpr std::uint32_t vop3_only = 0x1c0;  // VOP3 opcodes that no shorter encoding shares

bool starts_with(const Instruction& in, std::string_view prefix) {
  return std::string_view(in.row->mnemonic).starts_with(prefix);
}

bool is_bitop3(const Instruction& in) { return starts_with(in, "v_bitop3"); }
bool is_permlane_swap(const Instruction& in) {
  return starts_with(in, "v_permlane16_swap") || starts_with(in, "v_permlane32_swap");
}
/// Whether op_sel[3:2] names a byte of the destination.
bool selects_byte(const Instruction& in) {
  return starts_with(in, "v_cvt_sr_fp8") || starts_with(in, "v_cvt_sr_bf8");
}
/// Whether the row has only the source selectors of SDWA.
bool is_float8_source(const Instruction& in) {
  return starts_with(in, "v_cvt_f32_fp8") || starts_with(in, "v_cvt_f32_bf8") ||
         starts_with(in, "v_cvt_pk_f32_fp8") || starts_with(in, "v_cvt_pk_f32_bf8");
}
bool is_mix(const Instruction& in) { return starts_with(in, "v_fma_mix"); }

/// Whether only this one encoding exists, so that the assembler knows no suffix for it.
bool has_one_form(const Instruction& in) {
  constexpr std::uint32_t v_swap_b32 = 81, v_accvgpr_mov_b32 = 82;
  if (in.family == Family::Vop3) return in.row->opcode >= vop3_only;
  if (in.family == Family::Vop2) return has(in, kLiteralK);
  if (in.family != Family::Vop1) return false;
  return in.row->widths.dst == 0 || has(in, kScalarDst) || in.row->opcode == v_swap_b32 ||
         in.row->opcode == v_accvgpr_mov_b32;
}

std::string suffixed_mnemonic(const Instruction& in) {
  const std::string mnemonic = in.row->mnemonic;
  if (in.lane_select == LaneSelect::Sdwa) return mnemonic + "_sdwa";
  if (in.lane_select == LaneSelect::Dpp) return mnemonic + "_dpp";
  // A VOP3 opcode is that of the encoding, not of the row, which VOP1 and VOP2 share.
  const bool vop3_row = in.family == Family::Vop3 && (in.words[0] >> 16 & 0x3ff) >= vop3_only;
  if (vop3_row || (in.family != Family::Vop3 && has_one_form(in))) return mnemonic;
  return mnemonic + (in.family == Family::Vop3 ? "_e64" : "_e32");
}

/// A source with the modifiers that its encoding gives it.
std::string modified_source(const Instruction& in, std::size_t index, std::uint8_t abs,
                            std::uint8_t neg) {
  const std::uint16_t code = in.src[index];
  std::string text = source_text(in, index);
  const bool constant = code >= operand_code::first_constant && code < operand_vgpr;
  const bool magnitude = (abs >> index & 1) != 0;
  if (magnitude) text = "|" + text + "|";
  if ((neg >> index & 1) == 0) return text;
  return constant && !magnitude ? "neg(" + text + ")" : "-" + text;
}

std::string sdwa_source(const Instruction& in, std::size_t index) {
  const bool extended = index == 0 ? in.sdwa.src0_sext : in.sdwa.src1_sext;
  const std::string text = modified_source(in, index, in.abs, in.neg);
  return extended ? "sext(" + text + ")" : text;
}

const char* selector(std::uint8_t select) {
  constexpr std::array names{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  return names[select];
}

void add_sdwa(Line& line, const Instruction& in) {
  constexpr std::array unused{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  const Sdwa& sdwa = in.sdwa;
  if (!has(in, kMaskDst) && !is_float8_source(in)) {
    line.raw(" dst_sel:").raw(selector(sdwa.dst_sel));
    line.raw(" dst_unused:").raw(unused[sdwa.dst_unused]);
  }
  line.raw(" src0_sel:").raw(selector(sdwa.src0_sel));
  if (in.src[1] != operand_absent) line.raw(" src1_sel:").raw(selector(sdwa.src1_sel));
}

std::string quad_permutation(std::uint32_t control) {
  std::string text = "quad_perm:[";
  for (std::uint32_t i = 0; i < 4; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(control >> 2 * i & 3);
  }
  return text + "]";
}

std::string dpp_control(std::uint32_t control) {
  struct Named {
    std::uint32_t control;
    const char* text;
  };
  constexpr std::array named{
      Named{0x130, "wave_shl:1"},   Named{0x134, "wave_rol:1"},   Named{0x138, "wave_shr:1"},
      Named{0x13c, "wave_ror:1"},   Named{0x140, "row_mirror"},   Named{0x141, "row_half_mirror"},
      Named{0x142, "row_bcast:15"}, Named{0x143, "row_bcast:31"},
  };
  if (control <= 0xff) return quad_permutation(control);
  for (const Named& entry : named) {
    if (entry.control == control) return entry.text;
  }
  // What is left has a count in the low bits: 0x10n, 0x11n, 0x12n, 0x15n.
  constexpr std::array<const char*, 6> counted{
      "row_shl:", "row_shr:", "row_ror:", "", "", "row_newbcast:"};
  return counted[control >> 4 & 15] + std::to_string(control & 15);
}

void add_dpp(Line& line, const Instruction& in) {
  line.raw(" ").raw(dpp_control(in.dpp.ctrl));
  line.raw(" row_mask:").raw(hex(in.dpp.row_mask));
  line.raw(" bank_mask:").raw(hex(in.dpp.bank_mask));
  line.flag(in.dpp.bound_ctrl, "bound_ctrl:1");
}

void add_output_modifiers(Line& line, const Instruction& in) {
  constexpr std::array scales{"", " mul:2", " mul:4", " div:2"};
  line.flag(in.clamp, "clamp").raw(scales[in.omod]);
}

std::size_t source_count(const Instruction& in) {
  std::size_t count = 0;
  while (count < in.src.size() && in.src[count] != operand_absent) ++count;
  return count;
}

/// The destinations: vector result, then the extra mask.
void add_destinations(Line& line, const Instruction& in) {
  if (has(in, kMaskDst)) {
    line.reg(in.dst, 2);
    return;
  }
  line.reg(in.dst, in.row->widths.dst).reg(in.sdst, 2);
}

void add_vop3_modifiers(Line& line, const Instruction& in) {
  const std::size_t sources = source_count(in);
  if (is_permlane_swap(in)) {
    line.flag((in.op_sel & 2) != 0, "bound_ctrl:1").flag((in.op_sel & 1) != 0, "fi:1");
    return;
  }
  if (is_bitop3(in)) line.number("bitop3", in.neg | in.abs << 3 | in.omod << 6);
  if (selects_byte(in)) {
    line.bits("op_sel", in.op_sel, 4, 0);
    return;
  }
  // The bit of the destination stands behind those of the sources that there are.
  const std::uint32_t destination = in.op_sel >> 3 & 1U;
  const std::uint32_t below = in.op_sel & ((1U << sources) - 1);
  line.bits("op_sel", below | destination << sources, sources + 1, 0);
  if (!is_bitop3(in)) add_output_modifiers(line, in);
}

/// A source as its encoding spells it.
std::string ordinary_source(const Instruction& in, std::size_t index) {
  if (is_bitop3(in)) return source_text(in, index);  // the modifier bits are its table
  const bool selects = in.lane_select == LaneSelect::Sdwa && index < 2;
  return selects ? sdwa_source(in, index) : modified_source(in, index, in.abs, in.neg);
}

std::string ordinary_line(const Instruction& in) {
  Line line(suffixed_mnemonic(in));
  add_destinations(line, in);
  for (std::size_t i = 0; i < source_count(in); ++i) line.operand(ordinary_source(in, i));
  if (in.family == Family::Vop3) {
    add_vop3_modifiers(line, in);
  } else {
    add_output_modifiers(line, in);
  }
  if (in.lane_select == LaneSelect::Sdwa) add_sdwa(line, in);
  if (in.lane_select == LaneSelect::Dpp) add_dpp(line, in);
  return line.take();
}

/// madmk and its kind: the constant is spelled as the bits that it is.
std::string constant_line(const Instruction& in) {
  Line line(in.row->mnemonic);
  line.reg(in.dst, 1);
  for (std::size_t i = 0; i < in.src.size(); ++i) {
    const bool constant = i != 0 && in.src[i] == operand_literal;
    line.operand(constant ? hex(in.literal) : source_text(in, i));
  }
  return line.take();
}

/// Whether a packed row has the half selectors and signs, or only their usual values.
bool has_halves(const Instruction& in) {
  return !starts_with(in, "v_dot4") && !starts_with(in, "v_dot8") && !starts_with(in, "v_accvgpr");
}

std::string packed_line(const Instruction& in) {
  const std::size_t sources = source_count(in);
  const bool mix = is_mix(in);
  Line line(in.row->mnemonic);
  line.reg(in.dst, in.row->widths.dst);
  for (std::size_t i = 0; i < sources; ++i) {
    line.operand(mix ? modified_source(in, i, in.neg_hi, in.neg) : source_text(in, i));
  }
  if (has_halves(in)) {
    line.bits("op_sel", in.op_sel, sources, 0);
    line.bits("op_sel_hi", in.op_sel_hi, sources, mix ? 0 : 7);
  }
  if (!mix) line.bits("neg_lo", in.neg, sources, 0).bits("neg_hi", in.neg_hi, sources, 0);
  return line.flag(in.clamp, "clamp").take();
}

/// f64 products use the field of the B permutation for signs, since gfx942.
bool has_signs(const Instruction& in, Target target) {
  return target != Target::gfx90a && starts_with(in, "v_mfma_f64");
}

std::string matrix_line(const Instruction& in, Target target) {
  const bool scaled = in.family == Family::Vop3px2;
  std::string mnemonic = in.row->mnemonic;
  if (scaled) mnemonic.insert(std::string_view("v_mfma_").size(), "scale_");
  Line line(mnemonic);
  line.reg(in.dst, in.row->widths.dst);
  for (std::size_t i = 0; i < source_count(in); ++i) line.operand(source_text(in, i));
  if (scaled) {
    line.operand(operand_text(in, in.addr, 1)).operand(operand_text(in, in.data, 1));
    line.bits("op_sel", in.op_sel, 3, 0).bits("op_sel_hi", in.op_sel_hi, 3, 0);
  }
  line.number("cbsz", in.cbsz);
  if (!scaled) line.number("abid", in.abid);
  if (has_signs(in, target)) {
    line.bits("neg", in.blgp, 3, 0);
  } else {
    line.number("blgp", in.blgp);
  }
  return line.take();
}

}  // namespace

std::string vector_line(const Instruction& in, Target target) {
  const bool moves = starts_with(in, "v_accvgpr");
  if (has(in, kMatrix) && !moves) return matrix_line(in, target);
  if (in.family == Family::Vop3p) return packed_line(in);
  if (in.family == Family::Vop2 && has(in, kLiteralK)) return constant_line(in);
  return ordinary_line(in);
}

}  // namespace hipgraph::emu::text
