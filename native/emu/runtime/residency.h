#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/target.h"
#include "runtime/code_object.h"

namespace hipgraph::emu {

/// What one workgroup of a launch takes on a compute unit.
struct Footprint {
  std::uint32_t waves = 1;
  std::uint32_t vgprs = 8;      ///< rows a wave, both banks, rounded as the hardware does
  std::uint32_t lds_bytes = 0;  ///< rounded as the hardware does
};

/// Footprint of workgroups of this size.
Footprint footprint(const Kernel& kernel, std::uint32_t block_items,
                    std::uint32_t dynamic_lds_bytes);

/// Where a workgroup runs, and on which SIMDs its waves are.
struct Place {
  std::uint32_t unit = 0;
  std::array<std::uint8_t, simds_per_compute_unit> waves{};
};

/// The compute units of one device and what is taken of each.
class ComputeUnits {
 public:
  explicit ComputeUnits(std::uint32_t count) : units_(count) {}
  /// Takes room for a workgroup on the next unit, in turn, that has it.
  std::optional<Place> take(const Footprint& workgroup);
  void give_back(const Place& place, const Footprint& workgroup);

 private:
  struct Unit {
    std::array<std::uint32_t, simds_per_compute_unit> waves{}, vgprs{};
    std::uint32_t lds_bytes = 0;
    std::uint32_t workgroups = 0;  ///< those that need a barrier
  };
  static std::size_t roomiest(const Unit& unit, std::uint32_t vgprs);
  static std::optional<Place> take_on(Unit& unit, const Footprint& workgroup);

  std::vector<Unit> units_;
  std::uint32_t next_ = 0;
};

}  // namespace hipgraph::emu
