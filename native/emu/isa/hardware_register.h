#pragma once
#include <cstdint>

#include "machine/wave.h"

namespace hipgraph::emu {

/// A field of a hardware register as s_getreg and s_setreg name it in their 16-bit constant.
struct RegisterField {
  std::uint32_t id;
  std::uint32_t offset;
  std::uint32_t bits;
};
RegisterField register_field(std::uint32_t simm16);

/// Value of the field, right-aligned; throws Trap (UnsupportedInstruction) for a register that
/// this device does not model.
std::uint32_t read_hardware_register(const Wave& wave, const RegisterField& field);
/// Changes the field; throws Trap for any register but MODE.
void write_hardware_register(Wave& wave, const RegisterField& field, std::uint32_t value);

}  // namespace hipgraph::emu
