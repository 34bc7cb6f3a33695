#include "runtime/residency.h"

#include "runtime/device_model.h"
#include "runtime/dispatch.h"

namespace hipgraph::emu {
namespace {

std::uint32_t round_up(std::uint32_t value, std::uint32_t granule) {
  return (value + granule - 1) / granule * granule;
}

}  // namespace

Footprint footprint(const Kernel& kernel, std::uint32_t block_items,
                    std::uint32_t dynamic_lds_bytes) {
  constexpr std::uint32_t vgpr_granule = 8;
  const TargetFacts& target = facts(DeviceModel::instance().target);
  return {(block_items + wave_size - 1) / wave_size,
          round_up(kernel.vgprs + kernel.accvgprs, vgpr_granule),
          round_up(kernel.lds_bytes + dynamic_lds_bytes, target.lds_granule)};
}

/// The SIMD with the fewest waves among those that have room for one more; none: their number.
std::size_t ComputeUnits::roomiest(const Unit& unit, std::uint32_t vgprs) {
  std::size_t best = simds_per_compute_unit;
  for (std::size_t i = 0; i < simds_per_compute_unit; ++i) {
    const bool room =
        unit.waves[i] < waves_per_simd && unit.vgprs[i] + vgprs <= vgprs_per_simd_lane;
    if (room && (best == simds_per_compute_unit || unit.waves[i] < unit.waves[best])) best = i;
  }
  return best;
}

/// Takes room on one unit; changes nothing when the workgroup does not fit.
std::optional<Place> ComputeUnits::take_on(Unit& unit, const Footprint& workgroup) {
  Unit after = unit;
  Place place;
  after.workgroups += workgroup.waves > 1 ? 1 : 0;
  after.lds_bytes += workgroup.lds_bytes;
  if (after.workgroups > max_workgroups_per_compute_unit ||
      after.lds_bytes > facts(DeviceModel::instance().target).lds_bytes) {
    return std::nullopt;
  }
  for (std::uint32_t wave = 0; wave < workgroup.waves; ++wave) {
    const std::size_t simd = roomiest(after, workgroup.vgprs);
    if (simd == simds_per_compute_unit) return std::nullopt;
    after.vgprs[simd] += workgroup.vgprs;
    ++after.waves[simd];
    ++place.waves[simd];
  }
  unit = after;
  return place;
}

std::optional<Place> ComputeUnits::take(const Footprint& workgroup) {
  const auto count = static_cast<std::uint32_t>(units_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t unit = (next_ + i) % count;
    std::optional<Place> place = take_on(units_[unit], workgroup);
    if (!place.has_value()) continue;
    place->unit = unit;
    next_ = (unit + 1) % count;
    return place;
  }
  return std::nullopt;
}

void ComputeUnits::give_back(const Place& place, const Footprint& workgroup) {
  Unit& unit = units_[place.unit];
  unit.workgroups -= workgroup.waves > 1 ? 1 : 0;
  unit.lds_bytes -= workgroup.lds_bytes;
  for (std::size_t i = 0; i < simds_per_compute_unit; ++i) {
    unit.waves[i] -= place.waves[i];
    unit.vgprs[i] -= place.waves[i] * workgroup.vgprs;
  }
}

std::uint32_t workgroups_per_compute_unit(const Kernel& kernel, std::uint32_t block_items,
                                          std::uint32_t dynamic_lds_bytes) {
  const Footprint workgroup = footprint(kernel, block_items, dynamic_lds_bytes);
  ComputeUnits unit(1);
  std::uint32_t count = 0;
  while (unit.take(workgroup).has_value()) ++count;
  return count;
}

}  // namespace hipgraph::emu
