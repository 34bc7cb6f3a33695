#include "isa/vector_modifiers.h"

#include <string>

#include "isa/lane_select.h"
#include "machine/trap.h"

namespace hipgraph::emu::vector {
namespace {

bool takes_signs(const Instruction& in, Kind kind) {
  return is_float(kind) && (!is_packed(kind) || in.family == Family::Vop3p);
}

bool takes_op_sel(const Instruction& in, const Meaning& m, std::size_t slot) {
  if ((m.options & kOpSelByte) != 0 && slot >= 2) return true;
  if (is_packed(m.source[slot])) return in.family == Family::Vop3p;
  return is_short(m.source[slot]) && (m.options & kOpSel) != 0;
}

void check_source(const Instruction& in, const Meaning& m, std::size_t slot) {
  const Kind kind = m.source[slot];
  const auto set = [slot](unsigned bits) { return (bits >> slot & 1) != 0; };
  if (set(in.abs | in.neg | in.neg_hi) && !takes_signs(in, kind)) {
    refuse(in, "abs or neg of a source that is not a float");
  }
  if (set(in.neg_hi) && !is_packed(kind)) refuse(in, "neg_hi of an unpacked source");
  if (set(in.op_sel) && !takes_op_sel(in, m, slot)) refuse(in, "op_sel of a 32-bit source");
  const bool narrow = rows_of(kind) <= 1 && !is_packed(kind);
  if (in.lane_select == LaneSelect::Sdwa && !narrow) refuse(in, "SDWA of a wide or packed source");
}

void check_mode(const Wave& wave, const Instruction& in, const Meaning& m) {
  const u32 unexpected = (wave.mode ^ m.mode_expected) & m.mode_care;
  const u32 rounding = unexpected & (mode_bit::f32_round | mode_bit::f16_f64_round);
  const bool half = m.result == Kind::F16 || m.result == Kind::PF16;
  if (rounding != 0 && (half || (m.options & kRounds) == 0)) {
    refuse(in, "MODE round other than to nearest even");
  }
  if ((unexpected & mode_bit::f16_overflow) != 0) refuse(in, "MODE fp16_ovfl");
}

void check_result(const Instruction& in, const Meaning& m) {
  const bool scales = m.result == Kind::F32 || m.result == Kind::F16 || m.result == Kind::F64;
  if (in.omod != 0 && !scales) refuse(in, "omod of a result that is not a float");
  const bool clamps = denormal_bits(m.result) != 0 || m.saturating != nullptr;
  if (in.clamp && !clamps) refuse(in, "clamp");
  const bool selects = is_partial(m) && (m.options & kKeepsHigh) == 0;
  if ((in.op_sel & 8) != 0 && !selects) refuse(in, "op_sel of a 32-bit result");
  const bool picks = in.lane_select == LaneSelect::Sdwa && in.sdwa.dst_sel != part::dword;
  if (picks && rows_of(m.result) > 1) refuse(in, "dst_sel of a 64-bit result");
}

/// The sign bits of an operand: `abs` clears them, `neg` flips them.
void apply_signs(u32* rows, Kind kind, bool abs, bool neg, bool neg_hi) {
  if (!abs && !neg && !neg_hi) return;
  if (kind == Kind::F64 || kind == Kind::R64) rows += wave_size;
  const u32 sign = is_short(kind) || is_packed(kind) ? float_bits::sign16 : float_bits::sign32;
  const u32 clear = abs ? ~sign : ~0U;
  u32 flip = neg ? sign : 0;
  if (is_packed(kind)) flip |= neg_hi ? float_bits::sign32 : 0;
  for (std::size_t i = 0; i < wave_size; ++i) rows[i] = (rows[i] & clear) ^ flip;
}

// The masks keep the stores unconditional, which vector code needs to be fast.
void flush_f32(const u32* from, u32* to) {
#pragma clang loop vectorize(assume_safety)
  for (std::size_t i = 0; i < wave_size; ++i) {
    const u32 kept = (from[i] & float_bits::infinity32) == 0 ? float_bits::sign32 : ~0U;
    to[i] = from[i] & kept;
  }
}

void flush_f16_pair(const u32* from, u32* to) {
#pragma clang loop vectorize(assume_safety)
  for (std::size_t i = 0; i < wave_size; ++i) {
    const u32 low = (from[i] & 0x7c00) == 0 ? 0x8000 : 0xffff;
    const u32 high = (from[i] & 0x7c000000) == 0 ? 0x80000000 : 0xffff0000;
    to[i] = from[i] & (low | high);
  }
}

void flush_f64(const u32* from, u32* to) {
#pragma clang loop vectorize(assume_safety)
  for (std::size_t i = 0; i < wave_size; ++i) {
    const u32 high = from[i + wave_size];
    const u32 kept = (high & 0x7ff00000) == 0 ? 0 : ~0U;
    to[i] = from[i] & kept;
    to[i + wave_size] = high & (kept | float_bits::sign32);
  }
}

/// op_sel of a packed source: which half or register each element reads.
void swizzle(u32* rows, Kind kind, bool low_from_high, bool high_from_high) {
  if (rows_of(kind) == 2) {
    for (std::size_t i = 0; i < wave_size; ++i) {
      const u32 low = rows[i], high = rows[i + wave_size];
      rows[i] = low_from_high ? high : low;
      rows[i + wave_size] = high_from_high ? high : low;
    }
    return;
  }
  for (std::size_t i = 0; i < wave_size; ++i) {
    const u32 low = rows[i] & 0xffff, high = rows[i] >> 16;
    rows[i] = (low_from_high ? high : low) | (high_from_high ? high : low) << 16;
  }
}

void apply_packed(const Instruction& in, std::size_t k, Kind kind, u32* rows) {
  swizzle(rows, kind, (in.op_sel >> k & 1) != 0, (in.op_sel_hi >> k & 1) != 0);
  const bool neg = (in.neg >> k & 1) != 0, neg_hi = (in.neg_hi >> k & 1) != 0;
  if (kind == Kind::PF32) {
    apply_signs(rows, Kind::F32, false, neg, false);
    apply_signs(rows + wave_size, Kind::F32, false, neg_hi, false);
  } else {
    apply_signs(rows, kind, false, neg, neg_hi);
  }
}

/// Rewrites every element of a float result, seen as f32 or f64 (both hold an f16 exactly).
template <typename Change>
void change_floats(u32* rows, Kind kind, Change change) {
  const std::size_t count = wave_size * (kind == Kind::PF32 ? 2 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (kind == Kind::F64) {
      Value<double>::store(rows, i, change(Value<double>::load(rows, i)));
    } else if (kind == Kind::F32 || kind == Kind::PF32) {
      rows[i] = std::bit_cast<u32>(static_cast<float>(change(std::bit_cast<float>(rows[i]))));
    } else {
      const auto low = f32_from_f16({static_cast<u16>(rows[i])});
      const auto high = f32_from_f16({static_cast<u16>(rows[i] >> 16)});
      rows[i] = f16_from_f32(static_cast<float>(change(low))).bits;
      if (kind == Kind::PF16) {
        rows[i] |= static_cast<u32>(f16_from_f32(static_cast<float>(change(high))).bits) << 16;
      }
    }
  }
}

}  // namespace

void refuse(const Instruction& instruction, const char* what) {
  throw Trap(TrapKind::UnsupportedModifier, std::string(instruction.row->mnemonic) + ": " + what);
}

void check_modifiers(const Wave& wave, const Instruction& instruction, const Meaning& meaning) {
  for (std::size_t slot = 0; slot < 3; ++slot) check_source(instruction, meaning, slot);
  check_mode(wave, instruction, meaning);
  check_result(instruction, meaning);
}

void apply_source_modifiers(const Instruction& in, std::size_t slot, Kind kind, u32* rows) {
  if (is_packed(kind)) {
    if (in.family == Family::Vop3p) apply_packed(in, slot, kind, rows);
    return;
  }
  if (is_short(kind) && (in.op_sel >> slot & 1) != 0) select_part(rows, part::word1, false, rows);
  apply_signs(rows, kind, (in.abs >> slot & 1) != 0, (in.neg >> slot & 1) != 0, false);
}

void flush(const u32* from, Kind kind, u32* to) {
  switch (kind) {
    case Kind::PF32: flush_f32(from + wave_size, to + wave_size); [[fallthrough]];
    case Kind::F32: return flush_f32(from, to);
    case Kind::F16:
    case Kind::PF16: return flush_f16_pair(from, to);
    case Kind::F64: return flush_f64(from, to);
    default: return;
  }
}

void finish_float(const Wave& wave, const Instruction& in, Kind kind, u32* rows) {
  // Output modifiers work only where denormal results are flushed and IEEE mode is off.
  const bool flushed = flushes(wave.mode, kind, keep_outputs);
  if (in.omod != 0 && flushed && !wave.ieee()) {
    change_floats(rows, kind, [&](auto value) {
      return in.omod == 1 ? value * 2 : in.omod == 2 ? value * 4 : value / 2;
    });
  }
  if (flushed) flush(rows, kind, rows);
  if (in.clamp) {
    const bool nan_is_zero = wave.dx10_clamp();
    change_floats(rows, kind, [&](auto value) {
      using T = decltype(value);
      if (value != value) return nan_is_zero ? T{0} : value;
      return value > 0 ? (value < 1 ? value : T{1}) : T{0};
    });
  }
}

}  // namespace hipgraph::emu::vector
