#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "isa/decode_fields.h"
#include "isa/operand.h"
#include "isa/tables.h"
#include "machine/wave.h"

// VOP1, VOP2, VOPC with their SDWA and DPP words, VOP3 (A and B), VOP3P and its MAI rows.
namespace hipgraph::emu::decoding {
namespace {

/// VOP3 opcodes below 0x1c0 are the VOPC, VOP2 and VOP1 rows at these bases.
constexpr std::uint32_t vop3_of_vop2 = 0x100, vop3_of_vop1 = 0x140, vop3_only = 0x1c0;

constexpr std::uint32_t v_swap_b32 = 81, v_accvgpr_mov_b32 = 82;  // VOP1
constexpr std::uint32_t v_permlane16_swap_b32 = 89, v_permlane32_swap_b32 = 90;
constexpr std::uint32_t v_cvt_pk_f32_fp8 = 86, v_cvt_pk_f32_bf8 = 87;
constexpr std::uint32_t v_pk_fmac_f16 = 60;                                 // VOP2
constexpr std::uint32_t v_accvgpr_read_b32 = 88, v_accvgpr_write_b32 = 89;  // VOP3P
constexpr std::uint32_t load_scale = 0x2c;  // first half of a VOP3PX2 pair
constexpr std::uint32_t dpp_row_newbcast = 0x150;

bool has(const Row& row, RowFlag flag) { return (row.flags & flag) != 0; }

bool is_exchange(const Instruction& in) {
  return in.family == Family::Vop1 &&
         (in.row->opcode == v_swap_b32 || in.row->opcode == v_permlane16_swap_b32 ||
          in.row->opcode == v_permlane32_swap_b32);
}

/// Whether a VOP1 row has only its four-byte form.
bool is_vop1_only(const Row& row) {
  return row.widths.dst == 0 || has(row, kScalarDst) || row.opcode == v_swap_b32 ||
         row.opcode == v_accvgpr_mov_b32;
}

bool takes_lane_select(const Instruction& in) {
  if (has(*in.row, kLiteralK) || is_exchange(in)) return false;
  return in.family != Family::Vop1 || !is_vop1_only(*in.row);
}

/// Whether a vector operand is a pair; the mask of a compare is none.
bool is_64_bit(const Row& row) {
  const Widths& w = row.widths;
  return (w.dst > 1 && !has(row, kMaskDst)) || w.src0 > 1 || w.src1 > 1;
}

/// The two rows with a pair as result that SDWA nevertheless takes: it picks the source's word.
bool picks_word(const Instruction& in) {
  return in.family == Family::Vop1 &&
         (in.row->opcode == v_cvt_pk_f32_fp8 || in.row->opcode == v_cvt_pk_f32_bf8);
}

bool takes_sdwa(const Instruction& in) {
  const bool packed = in.family == Family::Vop2 && in.row->opcode == v_pk_fmac_f16;
  if (has(*in.row, kReadsDst) && !packed) return false;
  return takes_lane_select(in) && (!is_64_bit(*in.row) || picks_word(in));
}

bool is_dpp_control(std::uint32_t control) {
  struct Controls {
    std::uint32_t first, last, step;
  };
  constexpr std::array known{
      Controls{0, 0xff, 1},       // quad_perm
      Controls{0x101, 0x10f, 1},  // row_shl
      Controls{0x111, 0x11f, 1},  // row_shr
      Controls{0x121, 0x12f, 1},  // row_ror
      Controls{0x130, 0x13c, 4},  // wave shifts and rotations
      Controls{0x140, 0x143, 1},  // mirrors, row_bcast
      Controls{dpp_row_newbcast, dpp_row_newbcast + 15, 1},
  };
  return std::ranges::any_of(known, [control](const Controls& group) {
    return control >= group.first && control <= group.last &&
           (control - group.first) % group.step == 0;
  });
}

/// Two bits of a word as the modifier bits of sources 0 and 1.
std::uint8_t source_bits(std::uint32_t word, unsigned first, unsigned second) {
  return static_cast<std::uint8_t>((word >> first & 1) | (word >> second & 1) << 1);
}

std::uint8_t selector(std::uint32_t word, unsigned low) {
  return static_cast<std::uint8_t>(word >> low & 7);
}

/// The destination half of an SDWA word: a mask register for compares, else selectors.
void take_sdwa_destination(Instruction& out, std::uint32_t word) {
  if (out.family == Family::Vopc) {
    out.dst = bit(word, 15) ? code16(field(word, 14, 8)) : code16(sreg::vcc);
    out.sdst = out.dst;
    return;
  }
  out.sdwa.dst_sel = selector(word, 8);
  out.sdwa.dst_unused = static_cast<std::uint8_t>(field(word, 12, 11));
  out.clamp = bit(word, 13);
  out.omod = static_cast<std::uint8_t>(field(word, 15, 14));
}

void check_sdwa(const Draft& draft) {
  const Sdwa& sdwa = draft.instruction.sdwa;
  const bool known =
      sdwa.dst_sel <= 6 && sdwa.dst_unused <= 2 && sdwa.src0_sel <= 6 && sdwa.src1_sel <= 6;
  if (!known) refuse(draft, "no SDWA selector has this number");
}

void decode_dpp(Draft& draft) {
  Instruction& out = draft.instruction;
  const std::uint32_t word = draft.take(1);
  if (out.family == Family::Vopc || !takes_lane_select(out)) refuse(draft, "takes no DPP");
  out.lane_select = LaneSelect::Dpp;
  out.src[0] = vector_code(field(word, 7, 0));
  out.dpp.ctrl = code16(field(word, 16, 8));
  out.dpp.bound_ctrl = bit(word, 19);
  out.abs = source_bits(word, 21, 23);
  out.neg = source_bits(word, 20, 22);
  out.dpp.bank_mask = static_cast<std::uint8_t>(field(word, 27, 24));
  out.dpp.row_mask = static_cast<std::uint8_t>(field(word, 31, 28));
  if (!is_dpp_control(out.dpp.ctrl)) refuse(draft, "no DPP control has this number");
  if (is_64_bit(*out.row) && out.dpp.ctrl < dpp_row_newbcast) {
    refuse(draft, "64-bit operands take no DPP control but row_newbcast");
  }
}

void decode_sdwa(Draft& draft) {
  Instruction& out = draft.instruction;
  const std::uint32_t word = draft.take(1);
  if (!takes_sdwa(out)) refuse(draft, "takes no SDWA");
  out.lane_select = LaneSelect::Sdwa;
  const std::uint32_t source = field(word, 7, 0);
  out.src[0] = bit(word, 23) ? code16(source) : vector_code(source);
  if (out.src[1] != operand_absent && bit(word, 31)) {
    out.src[1] = code16(out.src[1] - operand_vgpr);
  }
  out.sdwa.src0_sel = selector(word, 16);
  out.sdwa.src1_sel = selector(word, 24);
  out.sdwa.src0_sext = bit(word, 19);
  out.sdwa.src1_sext = bit(word, 27);
  out.neg = source_bits(word, 20, 28);
  out.abs = source_bits(word, 21, 29);
  take_sdwa_destination(out, word);
  check_sdwa(draft);
}

/// What a source 0 of 249, 250 or 255 brings with it.
void take_extra_word(Draft& draft) {
  const std::uint16_t source = draft.instruction.src[0];
  if (source == operand_code::sdwa) {
    decode_sdwa(draft);
  } else if (source == operand_code::dpp) {
    decode_dpp(draft);
  } else {
    take_literal(draft);
  }
}

/// The implicit carry operands of the four-byte forms are VCC.
void set_implicit_vcc(Instruction& out) {
  if (has(*out.row, kReadsVcc)) out.src[2] = code16(sreg::vcc);
  if (has(*out.row, kWritesVcc)) out.sdst = code16(sreg::vcc);
}

const Row* row_of_vop3(Draft& draft, std::uint32_t opcode) {
  if (opcode >= vop3_only) return find_row(draft, tables::vop3(), opcode);
  if (opcode < vop3_of_vop2) return find_row(draft, tables::vopc(), opcode);
  if (opcode < vop3_of_vop1) {
    const Row* row = find_row(draft, tables::vop2(), opcode - vop3_of_vop2);
    return row != nullptr && has(*row, kLiteralK) ? nullptr : row;
  }
  const Row* row = find_row(draft, tables::vop1(), opcode - vop3_of_vop1);
  return row != nullptr && is_vop1_only(*row) ? nullptr : row;
}

/// Reads as many of the three 9-bit sources of an eight-byte encoding as the row has.
void take_sources(Instruction& out, std::uint32_t word) {
  const Widths& w = out.row->widths;
  if (w.src0 != 0) out.src[0] = code16(field(word, 8, 0));
  if (w.src1 != 0) out.src[1] = code16(field(word, 17, 9));
  if (w.src2 != 0 || has(*out.row, kReadsVcc)) out.src[2] = code16(field(word, 26, 18));
}

void decode_packed(Draft& draft, std::uint32_t first, std::uint32_t second) {
  Instruction& out = draft.instruction;
  out.dst = vector_code(field(first, 7, 0), out.row->opcode == v_accvgpr_write_b32);
  take_sources(out, second);
  if (out.row->opcode == v_accvgpr_read_b32) {
    if (out.src[0] < operand_vgpr) refuse(draft, "source is not an AccVGPR");
    out.src[0] = code16(out.src[0] - operand_vgpr + operand_accvgpr);
  }
  out.clamp = bit(first, 15);
  out.op_sel = static_cast<std::uint8_t>(field(first, 13, 11));
  out.op_sel_hi = static_cast<std::uint8_t>(field(second, 28, 27) | (bit(first, 14) ? 4U : 0U));
  out.neg_hi = static_cast<std::uint8_t>(field(first, 10, 8));
  out.neg = static_cast<std::uint8_t>(field(second, 31, 29));
}

void decode_matrix(Draft& draft, std::uint32_t first, std::uint32_t second) {
  Instruction& out = draft.instruction;
  const bool acc_cd = bit(first, 15);
  out.dst = vector_code(field(first, 7, 0), acc_cd);
  take_sources(out, second);
  const auto to_acc = [&out](std::size_t source, bool acc) {
    std::uint16_t& code = out.src[source];
    if (acc && code >= operand_vgpr) code = code16(code - operand_vgpr + operand_accvgpr);
  };
  to_acc(0, bit(second, 27));
  to_acc(1, bit(second, 28));
  // The index register of a sparse product (whose dst is a source too) is always a VGPR.
  const bool sparse = has(*out.row, kReadsDst);
  if (out.src[2] != operand_absent) to_acc(2, acc_cd && !sparse);
  out.cbsz = static_cast<std::uint8_t>(field(first, 10, 8));
  out.abid = static_cast<std::uint8_t>(field(first, 14, 11));
  out.blgp = static_cast<std::uint8_t>(field(second, 31, 29));
  if (sparse && out.blgp != 0) refuse(draft, "a sparse product takes no blgp");
}

/// gfx950: a pair that names the scales, then the pair of the matrix product it scales.
void decode_scaled_matrix(Draft& draft, std::uint32_t first, std::uint32_t second) {
  const std::uint32_t third = draft.take(2);
  const std::uint32_t fourth = draft.take(3);
  if (field(third, 31, 23) != field(first, 31, 23) || field(third, 14, 11) != 1) {
    refuse(draft, "scales are not followed by a scaled matrix product");
  }
  set_row(draft, Family::Vop3px2, tables::mfma(), field(third, 22, 16));
  decode_matrix(draft, third, fourth);
  Instruction& out = draft.instruction;
  out.addr = code16(field(second, 8, 0));
  out.data = code16(field(second, 17, 9));
  out.op_sel = static_cast<std::uint8_t>(field(first, 12, 11));
  out.op_sel_hi = static_cast<std::uint8_t>(field(second, 28, 27));
}

}  // namespace

void decode_vop1(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Vop1, tables::vop1(), field(word, 16, 9));
  const Row& row = *out.row;
  const std::uint32_t number = field(word, 24, 17);
  if (row.widths.dst == 0) {  // v_nop, v_clrexcp
    if (number != 0 || field(word, 8, 0) != 0) refuse(draft, "has no operands");
    return;
  }
  const bool acc = row.opcode == v_accvgpr_mov_b32;
  out.dst = has(row, kScalarDst) ? code16(number) : vector_code(number, acc);
  out.src[0] = code16(field(word, 8, 0));
  if (acc && out.src[0] < operand_vgpr) refuse(draft, "source is not an AccVGPR");
  if (acc) out.src[0] = code16(out.src[0] - operand_vgpr + operand_accvgpr);
  set_implicit_vcc(out);
  take_extra_word(draft);
}

void decode_vop2(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Vop2, tables::vop2(), field(word, 30, 25));
  out.dst = vector_code(field(word, 24, 17));
  out.src[0] = code16(field(word, 8, 0));
  out.src[1] = vector_code(field(word, 16, 9));
  set_implicit_vcc(out);
  if (has(*out.row, kLiteralK)) {
    // ...mk computes S0 * K + V1, ...ak S0 * V1 + K; the "k" that tells is before the type.
    out.src[2] = operand_literal;
    out.literal = draft.take(1);
    const std::string_view mnemonic = out.row->mnemonic;
    if (mnemonic.find("mk_") != std::string_view::npos) std::swap(out.src[1], out.src[2]);
  }
  take_extra_word(draft);
}

void decode_vopc(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Vopc, tables::vopc(), field(word, 24, 17));
  out.dst = code16(sreg::vcc);
  out.sdst = out.dst;
  out.src[0] = code16(field(word, 8, 0));
  out.src[1] = vector_code(field(word, 16, 9));
  take_extra_word(draft);
}

void decode_vop3(Draft& draft) {
  const std::uint32_t first = draft.take(0);
  const std::uint32_t second = draft.take(1);
  Instruction& out = draft.instruction;
  const std::uint32_t opcode = field(first, 25, 16);
  out.family = Family::Vop3;
  out.row = row_of_vop3(draft, opcode);
  if (out.row == nullptr) {
    refuse(draft, "no instruction has opcode " + std::to_string(opcode) + " of VOP3");
  }
  const Row& row = *out.row;
  const bool scalar = has(row, kMaskDst) || has(row, kScalarDst);
  out.dst = scalar ? code16(field(first, 7, 0)) : vector_code(field(first, 7, 0));
  take_sources(out, second);
  out.clamp = bit(first, 15);
  out.omod = static_cast<std::uint8_t>(field(second, 28, 27));
  out.neg = static_cast<std::uint8_t>(field(second, 31, 29));
  if (has(row, kHasSdst) || has(row, kWritesVcc)) {
    out.sdst = code16(field(first, 14, 8));
  } else {
    out.abs = static_cast<std::uint8_t>(field(first, 10, 8));
    out.op_sel = static_cast<std::uint8_t>(field(first, 14, 11));
    if (has(row, kMaskDst)) out.sdst = out.dst;
  }
}

void decode_vop3p(Draft& draft) {
  const std::uint32_t first = draft.take(0);
  const std::uint32_t second = draft.take(1);
  const std::uint32_t opcode = field(first, 22, 16);
  Instruction& out = draft.instruction;
  if (opcode == load_scale && draft.target == Target::gfx950) {
    decode_scaled_matrix(draft, first, second);
    return;
  }
  out.family = Family::Vop3p;
  out.row = find_row(draft, tables::vop3p(), opcode);
  if (out.row == nullptr) set_row(draft, Family::Vop3p, tables::mfma(), opcode);
  const bool moves = opcode == v_accvgpr_read_b32 || opcode == v_accvgpr_write_b32;
  if (has(*out.row, kMatrix) && !moves) {
    decode_matrix(draft, first, second);
  } else {
    decode_packed(draft, first, second);
  }
}

}  // namespace hipgraph::emu::decoding
