#include <string>
#include <string_view>

#include "isa/decode.h"
#include "isa/operand_text.h"

// Text of memory instructions.
namespace hipgraph::emu::text {
namespace {

/// gfx90a and every scalar access call the first two cache bits glc and slc.
void add_cache_bits(Line& line, const Instruction& in, Target target) {
  const bool old_names = target == Target::gfx90a;
  line.flag(in.sc0, old_names ? "glc" : "sc0");
  line.flag(in.nt, old_names ? "slc" : "nt");
  line.flag(in.sc1, old_names ? "scc" : "sc1");
}

std::string signed_hex(std::int32_t value) {
  if (value >= 0) return hex(static_cast<std::uint32_t>(value));
  return "-" + hex(0U - static_cast<std::uint32_t>(value));
}

/// The number in the data field of the probes.
std::string probe_text(const Instruction& in) { return std::to_string(in.words[0] >> 6 & 0x7f); }

std::string smem_line(const Instruction& in) {
  const std::string_view mnemonic = in.row->mnemonic;
  Line line{std::string(mnemonic)};
  if (in.saddr == operand_absent) return line.reg(in.dst, in.row->widths.dst).take();
  const bool is_probe = mnemonic.starts_with("s_atc_probe");
  if (is_probe) line.operand(probe_text(in));
  // An atomic that returns does so into its data registers.
  if (in.data != operand_absent) {
    line.reg(in.data, in.row->widths.src0);
  } else {
    line.reg(in.dst, in.row->widths.dst);
  }
  line.reg(in.saddr, in.row->widths.src1);
  if (in.soffset == operand_absent) {
    line.operand(signed_hex(in.imm));
  } else {
    line.operand(operand_text(in, in.soffset, 1));
    if ((in.words[0] >> 17 & 1) != 0) line.raw(" offset:" + signed_hex(in.imm));
  }
  return line.flag(in.sc0, "glc").take();
}

/// Whether a DS instruction has two offsets, each for one datum.
bool has_two_offsets(std::string_view mnemonic) {
  return mnemonic.starts_with("ds_read2") || mnemonic.starts_with("ds_write2") ||
         mnemonic.starts_with("ds_wrxchg2");
}

std::string ds_line(const Instruction& in) {
  const std::string_view mnemonic = in.row->mnemonic;
  Line line{std::string(mnemonic)};
  line.reg(in.dst, in.row->widths.dst).reg(in.addr, 1);
  line.reg(in.data, in.row->widths.src0).reg(in.data1, in.row->widths.src1);
  if (has_two_offsets(mnemonic)) {
    line.number("offset0", in.offset0).number("offset1", in.offset1);
  } else {
    line.number("offset", in.imm);
  }
  return line.flag(in.gds, "gds").take();
}

std::string flat_address(const Instruction& in) {
  return in.addr == operand_absent ? "off" : register_text(in.addr, address_width(in));
}

std::string flat_line(const Instruction& in, Target target) {
  const bool flat = in.family == Family::Flat;
  Line line(in.row->mnemonic);
  line.reg(in.dst, in.row->widths.dst);
  line.operand(flat_address(in));
  line.reg(in.data, in.row->widths.src0);
  if (!flat) {
    // gfx90a's scratch has one address operand, a VGPR or an SGPR.
    line.operand(in.saddr == operand_absent
                     ? "off"
                     : register_text(in.saddr, in.family == Family::Global ? 2 : 1));
  }
  line.number("offset", in.imm);
  add_cache_bits(line, in, target);
  return line.flag(in.lds, "lds").take();
}

/// The format of a typed access stands among the operands, before the scalar offset.
std::string buffer_format(const Instruction& in) {
  return "dfmt:" + std::to_string(in.words[0] >> 19 & 15) +
         ", nfmt:" + std::to_string(in.words[0] >> 23 & 7);
}

std::string buffer_line(const Instruction& in, Target target) {
  Line line(in.row->mnemonic);
  if (in.saddr != operand_absent) {
    if (in.data != operand_absent) {
      line.reg(in.data, in.row->widths.src0);
    } else {
      line.reg(in.dst, in.row->widths.dst);
    }
    // buffer_store_lds_dword has neither data nor address registers.
    if (in.row->widths.dst + in.row->widths.src0 != 0) line.operand(flat_address(in));
    line.reg(in.saddr, 4);
    if (in.family == Family::Mtbuf) line.operand(buffer_format(in));
    line.operand(operand_text(in, in.soffset, 1));
    line.flag(in.idxen, "idxen").flag(in.offen, "offen").number("offset", in.imm);
  }
  add_cache_bits(line, in, target);
  return line.flag(in.lds, "lds").take();
}

}  // namespace

std::string memory_line(const Instruction& in, Target target) {
  switch (in.family) {
    case Family::Smem: return smem_line(in);
    case Family::Ds: return ds_line(in);
    case Family::Mubuf:
    case Family::Mtbuf: return buffer_line(in, target);
    default: return flat_line(in, target);
  }
}

}  // namespace hipgraph::emu::text
