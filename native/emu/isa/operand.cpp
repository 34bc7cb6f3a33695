#include "isa/operand.h"

#include <array>
#include <string>

#include "machine/trap.h"

namespace hipgraph::emu {
namespace {

bool is_aperture(std::uint32_t code) {
  return code >= operand_code::shared_base && code <= operand_code::private_limit;
}

std::string source_name(std::uint32_t code) {
  switch (code) {
    case operand_code::shared_base: return "src_shared_base";
    case operand_code::shared_limit: return "src_shared_limit";
    case operand_code::private_base: return "src_private_base";
    case operand_code::private_limit: return "src_private_limit";
    case operand_code::pops_exiting_wave_id: return "src_pops_exiting_wave_id";
    default: return "operand code " + std::to_string(code);
  }
}

}  // namespace

std::uint64_t special_source_u64(const Wave& wave, std::uint32_t code) {
  constexpr std::array windows{shared_aperture, shared_aperture + aperture_bytes - 1,
                               private_aperture, private_aperture + aperture_bytes - 1};
  if (is_aperture(code)) return windows[code - operand_code::shared_base];
  switch (code) {
    case operand_code::vccz: return wave.vcc() == 0 ? 1 : 0;
    case operand_code::execz: return wave.exec() == 0 ? 1 : 0;
    case operand_code::scc: return wave.scc ? 1 : 0;
    default:
      throw Trap(TrapKind::UnsupportedInstruction,
                 source_name(code) + " is not a source that this device has");
  }
}

std::uint32_t special_source_u32(const Wave& wave, std::uint32_t code) {
  if (is_aperture(code)) {
    throw Trap(TrapKind::UnsupportedInstruction,
               "32-bit read of " + source_name(code) + ": only the 64-bit read is defined");
  }
  return static_cast<std::uint32_t>(special_source_u64(wave, code));
}

}  // namespace hipgraph::emu
