#include <algorithm>
#include <array>
#include <utility>

#include "isa/decode_fields.h"
#include "isa/tables.h"

// SMEM, DS, FLAT (with GLOBAL and SCRATCH), MUBUF, MTBUF.
namespace hipgraph::emu::decoding {
namespace {

constexpr std::uint32_t saddr_off = 0x7f;
constexpr std::uint32_t buffer_store_lds_dword = 61;  // its only data is in LDS
/// DS opcodes without an address register.
constexpr std::array<std::uint16_t, 8> no_address{20, 29, 152, 154, 156, 182, 189, 190};
/// The global wave sync opcodes: all that is left of GDS on these targets.
constexpr std::uint32_t first_gws = 152, last_gws = 157;
enum Segment : std::uint8_t { kFlat = 0, kScratch = 1, kGlobal = 2 };

/// gfx90a keeps its third cache bit where gfx942 has sc1, in every vector memory encoding.
void take_cache_bits(Instruction& out, bool sc0, bool nt, bool sc1) {
  out.sc0 = sc0;
  out.nt = nt;
  out.sc1 = sc1;
}

bool reads_memory(const Row& row) { return row.widths.dst != 0; }
bool writes_memory(const Row& row) { return row.widths.src0 != 0; }

/// Scalar cache operations and clocks have nothing but the destination of the latter.
void check_no_address(const Draft& draft, std::uint32_t first, std::uint32_t second) {
  const std::uint32_t used = reads_memory(*draft.instruction.row) ? field(first, 12, 6) << 6 : 0;
  if ((first & 0x3ffff) != used || second != 0) refuse(draft, "has no address and no modifier");
}

void take_smem_address(Draft& draft, std::uint32_t first, std::uint32_t second) {
  Instruction& out = draft.instruction;
  out.saddr = code16(2 * field(first, 5, 0));
  const bool has_imm = bit(first, 17);
  const bool has_register = bit(first, 14);
  if (has_imm) out.imm = signed_field(second, 20);
  if (has_register) {
    out.soffset = code16(field(second, 31, 25));
  } else if (!has_imm) {
    out.soffset = code16(field(second, 6, 0));
  }
}

bool is_atomic(const Row& row) { return (row.flags & kAtomic) != 0; }

/// Data registers of a vector memory instruction: what is stored, and what comes back. Atomics
/// return only when sc0 asks for it; loads into LDS have no register at all.
void take_vector_data(Instruction& out, std::uint32_t stored, std::uint32_t loaded, bool acc) {
  const Row& row = *out.row;
  if (writes_memory(row)) out.data = vector_code(stored, acc);
  const bool returns = reads_memory(row) && (!is_atomic(row) || out.sc0) && !out.lds;
  if (returns) out.dst = vector_code(loaded, acc);
}

/// Loads into LDS exist for the narrow loads, and on gfx950 for three and four dwords.
bool has_lds_form(const Draft& draft) {
  constexpr std::uint32_t buffer_load_format_x = 0, first_load = 16, load_dword = 20;
  constexpr std::uint32_t load_dwordx3 = 22, load_dwordx4 = 23;
  const Instruction& in = draft.instruction;
  const std::uint32_t opcode = in.row->opcode;
  if (opcode >= first_load && opcode <= load_dword) return true;
  if (in.family != Family::Mubuf) return false;
  const bool wide = opcode == load_dwordx3 || opcode == load_dwordx4;
  return opcode == buffer_load_format_x || opcode == buffer_store_lds_dword ||
         (wide && draft.target == Target::gfx950);
}

/// Buffer instructions that touch no memory.
bool is_cache_operation(const Instruction& in) {
  return !reads_memory(*in.row) && !writes_memory(*in.row) &&
         in.row->opcode != buffer_store_lds_dword;
}

std::span<const Row> table_of(std::uint32_t segment) {
  if (segment == kFlat) return tables::flat();
  return segment == kScratch ? tables::scratch() : tables::global();
}

/// Bit 13 is `lds` on gfx90a and `sve` of scratch on its successors.
void take_flat_bit_13(Draft& draft, std::uint32_t segment) {
  const bool is_gfx90a = draft.target == Target::gfx90a;
  draft.instruction.lds = is_gfx90a && segment != kFlat && has_lds_form(draft);
  draft.instruction.sve = !is_gfx90a && segment == kScratch;
  if (!draft.instruction.lds && !draft.instruction.sve) refuse(draft, "has no LDS form");
}

void take_flat_address(Draft& draft, std::uint32_t segment, std::uint32_t second) {
  Instruction& out = draft.instruction;
  const std::uint32_t saddr = field(second, 22, 16);
  if (segment == kFlat && saddr != 0) refuse(draft, "takes no scalar address");
  if (segment != kFlat && saddr != saddr_off) out.saddr = code16(saddr);
  // Scratch has three forms: VGPR, SGPR, both. gfx942 tells by the sve bit whether the VGPR counts.
  const bool no_vgpr = segment == kScratch &&
                       (draft.target == Target::gfx90a ? out.saddr != operand_absent : !out.sve);
  if (!no_vgpr) out.addr = vector_code(field(second, 7, 0));
}

/// Registers of a DS row; the fields of those that it lacks must be 0.
void take_ds_registers(Draft& draft, std::uint32_t word, bool acc) {
  Instruction& out = draft.instruction;
  const Widths& w = out.row->widths;
  const bool addressed = std::ranges::find(no_address, out.row->opcode) == no_address.end();
  const std::array<std::pair<bool, std::uint16_t*>, 4> fields{{
      {addressed, &out.addr},
      {w.src0 != 0, &out.data},
      {w.src1 != 0, &out.data1},
      {w.dst != 0, &out.dst},
  }};
  for (unsigned i = 0; i < fields.size(); ++i) {
    const std::uint32_t number = field(word, 8 * i + 7, 8 * i);
    const auto& [present, code] = fields[i];
    if (present) *code = vector_code(number, acc && i != 0);
    if (!present && number != 0) refuse(draft, "an unused register field is not 0");
  }
}

}  // namespace

void decode_smem(Draft& draft) {
  const std::uint32_t first = draft.take(0);
  const std::uint32_t second = draft.take(1);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Smem, tables::smem(), field(first, 25, 18));
  const Row& row = *out.row;
  out.sc0 = bit(first, 16);
  const std::uint16_t data = code16(field(first, 12, 6));
  if (writes_memory(row)) out.data = data;
  if (reads_memory(row) && (!is_atomic(row) || out.sc0)) out.dst = data;
  if (row.widths.src1 != 0) {
    take_smem_address(draft, first, second);
  } else {
    check_no_address(draft, first, second);
  }
}

void decode_ds(Draft& draft) {
  const std::uint32_t first = draft.take(0);
  const std::uint32_t second = draft.take(1);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Ds, tables::ds(), field(first, 24, 17));
  out.offset0 = static_cast<std::uint8_t>(field(first, 7, 0));
  out.offset1 = static_cast<std::uint8_t>(field(first, 15, 8));
  out.imm = static_cast<std::int32_t>(field(first, 15, 0));
  out.gds = bit(first, 16);
  const bool gws = out.row->opcode >= first_gws && out.row->opcode <= last_gws;
  if (out.gds != gws) refuse(draft, "has no form with this GDS bit");
  take_ds_registers(draft, second, bit(first, 25));
  if (gws && (second & 1) != 0) refuse(draft, "the register is not even");
}

void decode_flat(Draft& draft) {
  const std::uint32_t first = draft.take(0);
  const std::uint32_t second = draft.take(1);
  Instruction& out = draft.instruction;
  constexpr std::array families{Family::Flat, Family::Scratch, Family::Global};
  const std::uint32_t segment = field(first, 15, 14);
  if (segment >= families.size()) refuse(draft, "no memory segment has number 3");
  set_row(draft, families[segment], table_of(segment), field(first, 24, 18));
  take_cache_bits(out, bit(first, 16), bit(first, 17), bit(first, 25));
  if (bit(first, 13)) take_flat_bit_13(draft, segment);
  out.imm =
      segment == kFlat ? static_cast<std::int32_t>(field(first, 11, 0)) : signed_field(first, 12);
  take_flat_address(draft, segment, second);
  take_vector_data(out, field(second, 15, 8), field(second, 31, 24), bit(second, 23));
}

void decode_mubuf(Draft& draft) {
  const std::uint32_t first = draft.take(0);
  const std::uint32_t second = draft.take(1);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Mubuf, tables::mubuf(), field(first, 24, 18));
  take_cache_bits(out, bit(first, 14), bit(first, 17), bit(first, 15));
  out.lds = bit(first, 16);
  if (is_cache_operation(out)) {
    constexpr std::uint32_t cache_bits = 1U << 14 | 1U << 15 | 1U << 17;
    if ((first & 0x3ffff & ~cache_bits) != 0 || second != 0) refuse(draft, "has no address");
    return;
  }
  if (out.lds ? !has_lds_form(draft) : out.row->opcode == buffer_store_lds_dword) {
    refuse(draft, "has no form with this LDS bit");
  }
  out.idxen = bit(first, 13);
  out.offen = bit(first, 12);
  out.imm = static_cast<std::int32_t>(field(first, 11, 0));
  if (out.idxen || out.offen) out.addr = vector_code(field(second, 7, 0));
  const std::uint32_t data = field(second, 15, 8);
  take_vector_data(out, data, data, bit(second, 23));
  out.saddr = code16(4 * field(second, 20, 16));
  out.soffset = code16(field(second, 31, 24));
}

void decode_mtbuf(Draft& draft) {
  const std::uint32_t first = draft.take(0);
  const std::uint32_t second = draft.take(1);
  Instruction& out = draft.instruction;
  set_row(draft, Family::Mtbuf, tables::mtbuf(), field(first, 18, 15));
  take_cache_bits(out, bit(first, 14), bit(second, 22), bit(second, 21));
  out.idxen = bit(first, 13);
  out.offen = bit(first, 12);
  out.imm = static_cast<std::int32_t>(field(first, 11, 0));
  if (out.idxen || out.offen) out.addr = vector_code(field(second, 7, 0));
  const std::uint32_t data = field(second, 15, 8);
  take_vector_data(out, data, data, bit(second, 23));
  out.saddr = code16(4 * field(second, 20, 16));
  out.soffset = code16(field(second, 31, 24));
}

}  // namespace hipgraph::emu::decoding
