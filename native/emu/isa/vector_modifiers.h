#pragma once
#include "isa/vector.h"

/// What the modifiers of a vector instruction do to rows of lanes, by kind of operand.
namespace hipgraph::emu::vector {

constexpr bool is_short(Kind kind) {
  return kind == Kind::B16 || kind == Kind::F16 || kind == Kind::R16 || kind == Kind::BF16;
}

constexpr bool is_packed(Kind kind) { return kind >= Kind::PB16; }

constexpr bool is_float(Kind kind) {
  switch (kind) {
    case Kind::None:
    case Kind::B16:
    case Kind::B32:
    case Kind::B64:
    case Kind::I64:
    case Kind::PB16:
    case Kind::PB32: return false;
    default: return true;
  }
}

/// Whether MODE flushes denormal sources (results) of this kind.
constexpr bool flushes(u32 mode, Kind kind, u32 direction) {
  const u32 bits = denormal_bits(kind) & direction;
  return bits != 0 && (mode & bits) == 0;
}
constexpr u32 keep_inputs = 0x50, keep_outputs = 0xa0;

/// Throws Trap (UnsupportedModifier) for what the row does not take here.
void check_modifiers(const Wave& wave, const Instruction& instruction, const Meaning& meaning);

/// Applies op_sel, abs and neg of source `slot` to its rows.
void apply_source_modifiers(const Instruction& instruction, std::size_t slot, Kind kind, u32* rows);

/// Copies rows with denormals as signed zero; `from` and `to` may be the same.
void flush(const u32* from, Kind kind, u32* to);

/// omod, flushing and clamp of a float result.
void finish_float(const Wave& wave, const Instruction& instruction, Kind kind, u32* rows);

}  // namespace hipgraph::emu::vector
