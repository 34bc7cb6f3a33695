#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "machine/target.h"

namespace hipgraph::emu {

/// What to do about calls that HIP takes silently and should not.
enum class DivergencePolicy : std::uint8_t { Off, Warn, Error };

/// What is looked for beyond what costs nothing.
enum class Check : std::uint8_t {
  Off,
  Race,  ///< work that touches the same bytes with nothing to order it
};

/// What the emulated devices are, from HIPGRAPH_EMU_TARGET (gfx942), _CUS, _DEVICES (1), _SEED,
/// _DIVERGENCE (warn) and _CHECK (off): read once. A value that is no such thing stops the
/// library's start with a message that names it.
struct DeviceModel {
  Target target = Target::gfx942;
  std::uint32_t compute_units = 304;
  int devices = 1;
  std::uint64_t seed = 0;        ///< 0: fixed slice lengths
  std::size_t memory_bytes = 0;  ///< per device, as reported
  DivergencePolicy divergence = DivergencePolicy::Warn;
  Check check = Check::Off;
  std::string target_id;  ///< "gfx942:sramecc+:xnack-"
  std::string name;       ///< "Emulated AMD Instinct MI300X"
  /// The model of this process; throws ModelError until the environment is right.
  static const DeviceModel& instance();
};

/// A HIPGRAPH_EMU_* variable whose value is no such thing; the text names variable, value and cure.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hipgraph::emu
