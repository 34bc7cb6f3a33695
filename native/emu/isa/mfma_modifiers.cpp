#include <bit>

#include "isa/memory_access.h"
#include "isa/mfma_sparse.h"

namespace hipgraph::emu::matrix {
namespace {

/// gfx90a has B's lane patterns for every shape but f64 ones; its successors kept them where a
/// shape has several blocks and for f32.
bool permutes_b(Target target, const MatrixShape& shape, bool f32_inputs) {
  if (shape.f64) return false;
  return target == Target::gfx90a || shape.blocks > 1 || f32_inputs;
}

/// The lane that `lane` takes its part of B from under a blgp pattern.
std::uint32_t lane_of_b(std::uint32_t pattern, std::uint32_t lane) {
  switch (pattern) {
    case 1: return lane % 32;                        // the lower half twice
    case 2: return 32 + lane % 32;                   // the upper half twice
    case 3: return (lane + 16) % wave_size;          // rotated down by a quarter
    default: return 16 * (pattern - 4) + lane % 16;  // one quarter four times
  }
}

}  // namespace

Modifiers modifiers_of(const Wave& wave, const Instruction& in, const MatrixShape& shape,
                       bool f32_inputs) {
  Modifiers out;
  const Target target = wave.launch->target;
  if (in.cbsz != 0 || in.abid != 0) {
    const auto blocks_log2 = static_cast<std::uint32_t>(std::countr_zero(shape.blocks));
    if (shape.f64 || in.cbsz > blocks_log2) throw_unsupported_modifier(in, "cbsz");
    if (in.abid >> in.cbsz != 0) throw_unsupported_modifier(in, "abid");
    out.broadcast_log2 = in.cbsz;
    out.broadcast_from = in.abid;
  }
  if (in.blgp == 0) return out;
  if (shape.f64 && target != Target::gfx90a) {
    out.negate = in.blgp;
  } else if (permutes_b(target, shape, f32_inputs)) {
    out.lanes_of_b = in.blgp;
  } else {
    throw_unsupported_modifier(in, "blgp");
  }
  return out;
}

void broadcast_a(const Modifiers& modifiers, const MatrixShape& shape, const VectorRegister* rows,
                 VectorRegister* copy, std::uint32_t count) {
  const std::uint32_t block_lanes = wave_size / shape.blocks;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    const std::uint32_t block = lane / block_lanes;
    const std::uint32_t first = block >> modifiers.broadcast_log2 << modifiers.broadcast_log2;
    const std::uint32_t from =
        (first + modifiers.broadcast_from) * block_lanes + lane % block_lanes;
    for (std::uint32_t r = 0; r < count; ++r) copy[r][lane] = rows[r][from];
  }
}

void permute_b(const Modifiers& modifiers, const VectorRegister* rows, VectorRegister* copy,
               std::uint32_t count) {
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    const std::uint32_t from = lane_of_b(modifiers.lanes_of_b, lane);
    for (std::uint32_t r = 0; r < count; ++r) copy[r][lane] = rows[r][from];
  }
}

std::uint32_t index_set(const Instruction& in, std::uint32_t count) {
  const std::uint32_t sets = 16 / count;
  if (in.blgp != 0) throw_unsupported_modifier(in, "blgp");
  if (in.cbsz > 3) throw_unsupported_modifier(in, "cbsz");
  if (in.cbsz != 0) return 0;  // the first set, whatever abid says
  if (in.abid >= sets) throw_unsupported_modifier(in, "abid");
  return in.abid;
}

const Float8Values& float8_values(Target target, bool wide_exponent) {
  const auto all_of = [](Float8 format) {
    Float8Values values;
    for (std::uint32_t bits = 0; bits < values.size(); ++bits) {
      values[bits] = f32_from_float8(static_cast<std::uint8_t>(bits), format);
    }
    return values;
  };
  static const Float8Values fp8_fnuz = all_of(Float8::Fp8Fnuz), bf8_fnuz = all_of(Float8::Bf8Fnuz);
  static const Float8Values fp8_ocp = all_of(Float8::Fp8Ocp), bf8_ocp = all_of(Float8::Bf8Ocp);
  if (target == Target::gfx950) return wide_exponent ? bf8_ocp : fp8_ocp;
  return wide_exponent ? bf8_fnuz : fp8_fnuz;
}

}  // namespace hipgraph::emu::matrix
