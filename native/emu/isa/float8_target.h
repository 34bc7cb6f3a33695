#pragma once
#include "isa/vector.h"
#include "machine/float_formats.h"

namespace hipgraph::emu::vector {

/// The encoding that e4m3 conversions of the target use.
constexpr Float8 fp8_of(const Context& context) {
  return context.target == Target::gfx950 ? Float8::Fp8Ocp : Float8::Fp8Fnuz;
}

/// The encoding that e5m2 conversions of the target use.
constexpr Float8 bf8_of(const Context& context) {
  return context.target == Target::gfx950 ? Float8::Bf8Ocp : Float8::Bf8Fnuz;
}

}  // namespace hipgraph::emu::vector
