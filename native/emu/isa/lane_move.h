#pragma once
#include <algorithm>
#include <bit>

#include "isa/instruction.h"
#include "isa/operand.h"
#include "machine/wave.h"

/// Instructions that move a register's lanes rather than compute with them.
namespace hipgraph::emu {

/// The register row that an operand code names.
inline VectorRegister& register_row(Wave& wave, std::uint16_t code) {
  return wave.vgpr[code - operand_vgpr];
}

/// One lane of a source; a scalar source has the same value in all of them.
inline std::uint32_t lane_of_source(Wave& wave, const Instruction& in, std::uint32_t lane) {
  const std::uint16_t code = in.src[0];
  if (code < operand_vgpr) return scalar_u32(wave, in, code);
  return register_row(wave, code)[lane];
}

/// v_readfirstlane: the lowest active lane, lane 0 when none is.
inline void read_first_lane(Wave& wave, const Instruction& in) {
  const std::uint64_t exec = wave.exec();
  const auto lane = exec == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(exec));
  set_scalar_u32(wave, in.dst, lane_of_source(wave, in, lane));
}

/// v_readlane: EXEC does not matter; the lane number is taken modulo the wave size.
inline void read_lane(Wave& wave, const Instruction& in) {
  const std::uint32_t lane = scalar_u32(wave, in, in.src[1]) % wave_size;
  set_scalar_u32(wave, in.dst, lane_of_source(wave, in, lane));
}

/// v_writelane: writes one lane, active or not.
inline void write_lane(Wave& wave, const Instruction& in) {
  const std::uint32_t lane = scalar_u32(wave, in, in.src[1]) % wave_size;
  register_row(wave, in.dst)[lane] = scalar_u32(wave, in, in.src[0]);
}

/// v_swap_b32: exchanges the active lanes of two registers.
inline void swap_registers(Wave& wave, const Instruction& in) {
  VectorRegister& a = register_row(wave, in.dst);
  VectorRegister& b = register_row(wave, in.src[0]);
  const std::uint64_t exec = wave.exec();
  for (std::uint32_t i = 0; i < wave_size; ++i) {
    if ((exec >> i & 1) != 0) std::swap(a[i], b[i]);
  }
}

/// v_permlane16_swap, v_permlane32_swap: the lower `Lanes` of each group of the source change
/// places with the upper ones of the destination, active or not.
template <std::uint32_t Lanes>
void swap_lanes(Wave& wave, const Instruction& in) {
  VectorRegister& upper = register_row(wave, in.dst);
  VectorRegister& lower = register_row(wave, in.src[0]);
  for (std::uint32_t group = 0; group < wave_size; group += 2 * Lanes) {
    for (std::uint32_t i = group; i < group + Lanes; ++i) std::swap(lower[i], upper[i + Lanes]);
  }
}

}  // namespace hipgraph::emu
