#include "isa/decode.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "isa/decode_fields.h"
#include "isa/operand.h"
#include "isa/tables.h"
#include "machine/trap.h"

namespace hipgraph::emu {
namespace decoding {
namespace {

/// An encoding: the bits of the first word that tell it, and its decoder.
struct Encoding {
  std::uint32_t mask;
  std::uint32_t value;
  void (*decode)(Draft&);
};

/// In the order of testing: longer prefixes before the shorter ones that they begin with.
constexpr std::array encodings{
    Encoding{0xff800000, 0xbe800000, decode_sop1},  Encoding{0xff800000, 0xbf000000, decode_sopc},
    Encoding{0xff800000, 0xbf800000, decode_sopp},  Encoding{0xf0000000, 0xb0000000, decode_sopk},
    Encoding{0xc0000000, 0x80000000, decode_sop2},  Encoding{0xfc000000, 0xc0000000, decode_smem},
    Encoding{0xfe000000, 0x7c000000, decode_vopc},  Encoding{0xfe000000, 0x7e000000, decode_vop1},
    Encoding{0x80000000, 0x00000000, decode_vop2},  Encoding{0xff800000, 0xd3800000, decode_vop3p},
    Encoding{0xfc000000, 0xd0000000, decode_vop3},  Encoding{0xfc000000, 0xd8000000, decode_ds},
    Encoding{0xfc000000, 0xdc000000, decode_flat},  Encoding{0xfc000000, 0xe0000000, decode_mubuf},
    Encoding{0xfc000000, 0xe8000000, decode_mtbuf},
};

std::string hex(std::span<const std::uint32_t> words) {
  std::string text;
  for (const std::uint32_t word : words) {
    std::array<char, 12> digits{};
    std::snprintf(digits.data(), digits.size(), " %08x", word);
    text += digits.data();
  }
  return text;
}

}  // namespace

std::uint32_t Draft::take(std::size_t at) {
  if (at >= words.size()) refuse(*this, "the code ends inside this instruction");
  instruction.words[at] = words[at];
  instruction.size = static_cast<std::uint8_t>(std::max<std::size_t>(instruction.size, 4 * at + 4));
  return words[at];
}

void refuse(const Draft& draft, const std::string& why) {
  const std::size_t shown = std::max<std::size_t>(draft.instruction.size / 4U, 2);
  const std::string words = hex(draft.words.first(std::min(draft.words.size(), shown)));
  const Row* row = draft.instruction.row;
  throw Trap(TrapKind::IllegalInstruction,
             (row == nullptr ? why : std::string(row->mnemonic) + ": " + why) + " (words" + words +
                 ", " + std::string(facts(draft.target).processor) + ")");
}

const Row* find_row(const Draft& draft, std::span<const Row> table, std::uint32_t opcode) {
  const auto first =
      std::lower_bound(table.begin(), table.end(), opcode,
                       [](const Row& row, std::uint32_t wanted) { return row.opcode < wanted; });
  for (auto row = first; row != table.end() && row->opcode == opcode; ++row) {
    if (contains(row->targets, draft.target)) return &*row;
  }
  return nullptr;
}

void set_row(Draft& draft, Family family, std::span<const Row> table, std::uint32_t opcode) {
  draft.instruction.family = family;
  draft.instruction.row = find_row(draft, table, opcode);
  if (draft.instruction.row == nullptr) {
    refuse(draft, "no instruction has opcode " + std::to_string(opcode) + " of this encoding");
  }
}

void take_literal(Draft& draft) {
  for (const std::uint16_t code : draft.instruction.src) {
    if (code == operand_literal) draft.instruction.literal = draft.take(1);
  }
}

void decode_sop1(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Sop1, tables::sop1(), field(word, 15, 8));
  if (out.row->widths.dst != 0) out.dst = code16(field(word, 22, 16));
  if (out.row->widths.src0 != 0) out.src[0] = code16(field(word, 7, 0));
  take_literal(draft);
}

void decode_sop2(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Sop2, tables::sop2(), field(word, 29, 23));
  out.dst = code16(field(word, 22, 16));
  out.src[0] = code16(field(word, 7, 0));
  out.src[1] = code16(field(word, 15, 8));
  take_literal(draft);
}

void decode_sopk(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Sopk, tables::sopk(), field(word, 27, 23));
  // Compares, s_setreg_b32 and s_cbranch_i_fork read the register of the field, others write it.
  if (out.row->widths.dst != 0) out.dst = code16(field(word, 22, 16));
  if (out.row->widths.src0 != 0) out.src[0] = code16(field(word, 22, 16));
  out.imm = signed_field(word, 15);
  if ((out.row->flags & kLiteralK) != 0) out.literal = draft.take(1);
}

void decode_sopc(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Sopc, tables::sopc(), field(word, 22, 16));
  out.src[0] = code16(field(word, 7, 0));
  // s_set_gpr_idx_on has four mode bits in place of a second source.
  if (out.row->widths.src1 != 0) {
    out.src[1] = code16(field(word, 15, 8));
  } else {
    out.imm = static_cast<std::int32_t>(field(word, 15, 8));
    if (out.imm > 15) refuse(draft, "has only four enables");
  }
  take_literal(draft);
}

void decode_sopp(Draft& draft) {
  const std::uint32_t word = draft.take(0);
  set_row(draft, Family::Sopp, tables::sopp(), field(word, 22, 16));
  draft.instruction.imm = signed_field(word, 15);
  const bool has_constant = draft.instruction.row->widths.src0 != 0;
  if (!has_constant && draft.instruction.imm != 0) refuse(draft, "has no constant");
}

}  // namespace decoding

Instruction decode(std::span<const std::uint32_t> words, Target target) {
  decoding::Draft draft{words, target, {}};
  const std::uint32_t word = draft.take(0);
  for (const decoding::Encoding& encoding : decoding::encodings) {
    if ((word & encoding.mask) != encoding.value) continue;
    encoding.decode(draft);
    decoding::check_operands(draft);
    return draft.instruction;
  }
  decoding::refuse(draft, "no encoding of this device starts so");
}

std::span<const Row> rows(Family family) {
  // In the order of the enumeration; the scaled products of VOP3PX2 are rows of the matrix table.
  constexpr std::array<std::span<const Row> (*)(), 18> of_family{
      tables::sop1, tables::sop2, tables::sopk,    tables::sopc,   tables::sopp,  tables::smem,
      tables::vop1, tables::vop2, tables::vopc,    tables::vop3,   tables::vop3p, tables::mfma,
      tables::ds,   tables::flat, tables::scratch, tables::global, tables::mubuf, tables::mtbuf};
  static_assert(static_cast<std::size_t>(Family::Mtbuf) + 1 == of_family.size());
  return of_family[static_cast<std::size_t>(family)]();
}

}  // namespace hipgraph::emu
