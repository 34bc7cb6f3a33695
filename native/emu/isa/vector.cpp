#include "isa/vector.h"

#include <cfenv>

#include "isa/lane_mask.h"
#include "isa/lane_select.h"
#include "isa/operand.h"
#include "isa/vector_modifiers.h"

namespace hipgraph::emu::vector {
namespace {

constexpr std::size_t old_slot = 3;

struct alignas(64) Rows {
  u32 lane[2 * wave_size];
};

/// Rows that one execution may need beside the registers themselves.
struct Scratch {
  std::array<Rows, 4> source;
  Rows result;
  LaneFlags mask, flags, exec;
};

void fill(u32* row, u32 value) {
  for (std::size_t i = 0; i < wave_size; ++i) row[i] = value;
}

u64 scalar_wide(const Wave& wave, const Instruction& in, u16 code, Kind kind) {
  if (kind == Kind::I64) return scalar_i64(wave, in, code);
  if (kind == Kind::F64 || kind == Kind::R64) return scalar_f64(wave, in, code);
  if (kind == Kind::B64 || code < operand_code::first_constant) return scalar_u64(wave, in, code);
  // A constant of packed 32-bit elements is one word for both.
  const u64 value = scalar_u32(wave, in, code);
  return value | value << 32;
}

u32 scalar_narrow(const Wave& wave, const Instruction& in, u16 code, Kind kind) {
  switch (kind) {
    case Kind::F16:
    case Kind::R16:
    case Kind::PF16: return scalar_f16(wave, in, code);
    case Kind::BF16:
    case Kind::PBF16: return scalar_bf16(wave, in, code);
    default: return scalar_u32(wave, in, code);
  }
}

/// The rows of a source: the registers themselves, or a scalar spread over `rows`.
const u32* source_rows(const Wave& wave, const Instruction& in, std::size_t slot, Kind kind,
                       Rows& rows) {
  const u16 code = in.src[slot];
  if (code >= operand_vgpr) return wave.vgpr[code - operand_vgpr].data();
  if (rows_of(kind) == 1) {
    fill(rows.lane, scalar_narrow(wave, in, code, kind));
    return rows.lane;
  }
  const u64 value = scalar_wide(wave, in, code, kind);
  fill(rows.lane, static_cast<u32>(value));
  fill(rows.lane + wave_size, static_cast<u32>(value >> 32));
  return rows.lane;
}

/// Whether the instruction runs without copies of its sources: no modifier, MODE as expected.
bool is_plain(const Wave& wave, const Instruction& in, const Meaning& m) {
  const unsigned modifiers = in.abs | in.neg | in.neg_hi | in.op_sel | in.omod |
                             static_cast<unsigned>(in.clamp) |
                             static_cast<unsigned>(in.lane_select);
  if (modifiers != 0 || ((wave.mode ^ m.mode_expected) & m.mode_care) != 0) return false;
  if (in.family != Family::Vop3p || !is_packed(m.source[0])) return true;
  const unsigned used = m.source[2] != Kind::None ? 7 : m.source[1] != Kind::None ? 3 : 1;
  return (in.op_sel_hi & used) == used;
}

void blend(u32* to, const u32* from, std::size_t rows, const LaneFlags& flags) {
  for (std::size_t row = 0; row < rows; ++row, to += wave_size, from += wave_size) {
    for (std::size_t i = 0; i < wave_size; ++i) {
      to[i] = (from[i] & flags.lane[i]) | (to[i] & ~flags.lane[i]);
    }
  }
}

void write_result(u32* to, const u32* from, std::size_t rows, u64 writable, LaneFlags& flags) {
  if (writable == ~u64{0}) {
    std::memcpy(to, from, rows * wave_size * sizeof(u32));
    return;
  }
  expand(writable, flags);
  blend(to, from, rows, flags);
}

void write_mask(Wave& wave, const Instruction& in, const Meaning& m, u64 mask) {
  set_scalar_u64(wave, m.result == Kind::None ? in.dst : in.sdst, mask);
  if ((m.options & kWritesExec) != 0) wave.set_pair(sreg::exec, mask);
}

void read_mask(const Wave& wave, const Instruction& in, const Meaning& m, LaneFlags& mask) {
  const bool vcc = (m.options & kVccMask) != 0;
  expand(vcc ? wave.vcc() : scalar_u64(wave, in, in.src[2]), mask);
}

/// Whether a source has modifiers of its own.
bool is_modified(const Instruction& in, std::size_t slot, Kind kind) {
  const unsigned bits = in.abs | in.neg | in.neg_hi | in.op_sel;
  return in.lane_select != LaneSelect::None || (bits >> slot & 1) != 0 || is_packed(kind);
}

/// Copies a source to `rows` with its modifiers. `writable` loses the lanes that DPP leaves alone.
void modify_source(const Wave& wave, const Instruction& in, std::size_t slot, Kind kind,
                   const u32* from, u32* rows, u64& writable) {
  if (slot == 0 && in.lane_select == LaneSelect::Dpp) {
    writable &= move_lanes(in.dpp, wave.exec(), from, rows_of(kind), rows);
  } else if (from != rows) {
    std::memcpy(rows, from, rows_of(kind) * wave_size * sizeof(u32));
  }
  if (in.lane_select == LaneSelect::Sdwa && slot < 2) {
    const bool extends = slot == 0 ? in.sdwa.src0_sext : in.sdwa.src1_sext;
    select_part(rows, slot == 0 ? in.sdwa.src0_sel : in.sdwa.src1_sel, extends, rows);
  }
  apply_source_modifiers(in, slot, kind, rows);
}

/// A source as the lambda sees it: the registers themselves, or a copy in `rows`.
const u32* read_source(const Wave& wave, const Instruction& in, const Meaning& m, std::size_t slot,
                       Rows& rows, u64& writable) {
  const Kind kind = m.source[slot];
  const u32* from = source_rows(wave, in, slot, kind, rows);
  if (is_modified(in, slot, kind)) {
    modify_source(wave, in, slot, kind, from, rows.lane, writable);
    from = rows.lane;
  }
  if (!flushes(wave.mode, kind, keep_inputs)) return from;
  flush(from, kind, rows.lane);
  return rows.lane;
}

/// The destination before the instruction, as a source.
const u32* read_old(const Wave& wave, const Meaning& m, const u32* to, Rows& rows) {
  if (!m.reads_old || !flushes(wave.mode, m.result, keep_inputs)) return to;
  flush(to, m.result, rows.lane);
  return rows.lane;
}

/// Puts a result narrower than its register where the instruction wants it.
void place(const Instruction& in, const Meaning& m, u32* rows, const u32* old) {
  if (in.lane_select == LaneSelect::Sdwa) {
    place_part(rows, in.sdwa.dst_sel, in.sdwa.dst_unused, old);
  } else if ((m.options & kOpSelByte) != 0) {
    place_part(rows, in.op_sel >> 2 & 3, unused::preserve, old);
  } else if ((m.options & kOpSel) != 0 && is_short(m.result)) {
    place_part(rows, (in.op_sel & 8) != 0 ? part::word1 : part::word0, unused::preserve, old);
  } else if ((m.options & kKeepsHigh) != 0) {
    place_part(rows, part::word0, unused::preserve, old);
  }
}

/// Runs a kernel under the rounding that MODE asks for.
[[gnu::noinline]] void run_rounded(Kernel kernel, const Lanes& lanes, u32 round) {
  constexpr std::array<int, 4> host{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(host[round]);
  kernel(lanes);
  std::fesetround(FE_TONEAREST);
}

void run_kernel(const Wave& wave, const Instruction& in, const Meaning& m, const Lanes& lanes) {
  const bool saturates = in.clamp && !is_float(m.result);
  const Kernel kernel = saturates ? m.saturating : m.kernel;
  const bool single = (rounding_bits(m.result) & mode_bit::f32_round) != 0;
  const u32 round = single ? wave.f32_rounding() : wave.f16_f64_rounding();
  if ((m.options & kRounds) != 0 && round != 0) return run_rounded(kernel, lanes, round);
  kernel(lanes);
}

[[gnu::noinline]] void execute_modified(Wave& wave, const Instruction& in, const Meaning& m,
                                        u32 parameter) {
  check_modifiers(wave, in, m);
  Scratch scratch;
  u64 writable = wave.exec();
  Lanes lanes{{},
              scratch.mask.lane,
              scratch.result.lane,
              scratch.flags.lane,
              {wave.launch->target, wave.mode, parameter}};
  for (std::size_t k = 0; k < 3; ++k) {
    if (m.source[k] == Kind::None) continue;
    lanes.source[k] = read_source(wave, in, m, k, scratch.source[k], writable);
  }
  const std::size_t rows = rows_of(m.result);
  u32* to = rows != 0 ? wave.vgpr[in.dst - operand_vgpr].data() : nullptr;
  lanes.source[old_slot] = read_old(wave, m, to, scratch.source[old_slot]);
  if (m.reads_mask) read_mask(wave, in, m, scratch.mask);
  run_kernel(wave, in, m, lanes);
  if (rows != 0) {
    if (is_float(m.result)) finish_float(wave, in, m.result, scratch.result.lane);
    place(in, m, scratch.result.lane, to);
    write_result(to, scratch.result.lane, rows, writable, scratch.exec);
  }
  if (m.writes_mask) write_mask(wave, in, m, pack(scratch.flags) & writable);
}

}  // namespace

void execute(Wave& wave, const Instruction& in, const Meaning& m, u32 parameter) {
  if (!is_plain(wave, in, m)) return execute_modified(wave, in, m, parameter);
  Scratch scratch;
  Lanes lanes;
  lanes.context = {wave.launch->target, wave.mode, parameter};
  for (std::size_t k = 0; k < 3; ++k) {
    if (m.source[k] == Kind::None) break;
    lanes.source[k] = source_rows(wave, in, k, m.source[k], scratch.source[k]);
  }
  const u64 exec = wave.exec();
  const std::size_t rows = rows_of(m.result);
  u32* to = rows != 0 ? wave.vgpr[in.dst - operand_vgpr].data() : nullptr;
  const bool partial = is_partial(m);
  const bool whole = exec == ~u64{0} && !partial;
  lanes.source[old_slot] = to;
  lanes.result = whole ? to : scratch.result.lane;
  lanes.mask = scratch.mask.lane;
  lanes.flags = scratch.flags.lane;
  if (m.reads_mask) read_mask(wave, in, m, scratch.mask);
  m.kernel(lanes);
  if (partial) place(in, m, scratch.result.lane, to);
  if (rows != 0 && !whole) write_result(to, scratch.result.lane, rows, exec, scratch.exec);
  if (m.writes_mask) write_mask(wave, in, m, pack(scratch.flags) & exec);
}

}  // namespace hipgraph::emu::vector
