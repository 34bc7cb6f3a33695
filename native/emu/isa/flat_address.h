#pragma once
#include "isa/memory_access.h"

/// Addresses of the three families that share the FLAT encoding.
namespace hipgraph::emu {

/// Sign-extended instruction offset, as an address difference.
inline std::uint64_t signed_offset(const Instruction& instruction) {
  return static_cast<std::uint64_t>(std::int64_t{instruction.imm});
}

/// base + the 64-bit addresses in a VGPR pair.
inline LaneAddresses pair_addresses(Wave& wave, std::uint16_t code, std::uint64_t base) {
  LaneAddresses lanes;
  lanes.mask = wave.exec();
  const VectorRegister* rows = rows_of(wave, code);
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    lanes.of[lane] = base + (rows[0][lane] | std::uint64_t{rows[1][lane]} << 32);
  }
  return lanes;
}

/// base + the unsigned 32-bit offsets in a VGPR.
inline LaneAddresses offset_addresses(Wave& wave, std::uint16_t code, std::uint64_t base) {
  LaneAddresses lanes;
  lanes.mask = wave.exec();
  const VectorRegister& row = *rows_of(wave, code);
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) lanes.of[lane] = base + row[lane];
  return lanes;
}

/// GLOBAL: a scalar base and a 32-bit offset, or a 64-bit address; plus the signed offset.
inline LaneAddresses global_addresses(Wave& wave, const Instruction& instruction) {
  const std::uint64_t offset = signed_offset(instruction);
  if (instruction.saddr == operand_absent) return pair_addresses(wave, instruction.addr, offset);
  return offset_addresses(wave, instruction.addr, wave.pair(instruction.saddr) + offset);
}

}  // namespace hipgraph::emu
