#pragma once
#include "isa/vector_value.h"

/// Dot products of two pairs, as v_dot2 and v_dot2c sum them: one rounding an addition.
namespace hipgraph::emu::vector {

[[gnu::always_inline]] constexpr float dot(Pair<Half> a, Pair<Half> b, float c) {
  const float low = c + f32_from_f16(a.low) * f32_from_f16(b.low);
  return low + f32_from_f16(a.high) * f32_from_f16(b.high);
}

[[gnu::always_inline]] constexpr float dot(Pair<BFloat> a, Pair<BFloat> b, float c) {
  const float low = f32_from_bf16(a.low) * f32_from_bf16(b.low);
  return low + f32_from_bf16(a.high) * f32_from_bf16(b.high) + c;
}

}  // namespace hipgraph::emu::vector
