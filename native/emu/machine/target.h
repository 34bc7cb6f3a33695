#pragma once
#include <cstdint>
#include <string_view>

namespace hipgraph::emu {

/// The instruction sets this device interprets; the values are bits so that a row can name several.
enum class Target : std::uint8_t { gfx90a = 1, gfx942 = 2, gfx950 = 4 };

/// A set of targets, as a row of an instruction table names it.
using TargetMask = std::uint8_t;

constexpr TargetMask operator|(Target a, Target b) {
  return static_cast<TargetMask>(static_cast<TargetMask>(a) | static_cast<TargetMask>(b));
}
constexpr TargetMask operator|(TargetMask a, Target b) {
  return static_cast<TargetMask>(a | static_cast<TargetMask>(b));
}
constexpr TargetMask all_targets = Target::gfx90a | Target::gfx942 | Target::gfx950;
constexpr TargetMask since_gfx942 = Target::gfx942 | Target::gfx950;
constexpr auto gfx90a_only = static_cast<TargetMask>(Target::gfx90a);
constexpr auto gfx950_only = static_cast<TargetMask>(Target::gfx950);
constexpr bool contains(TargetMask mask, Target target) {
  return (mask & static_cast<TargetMask>(target)) != 0;
}

/// What the device model needs to know of a target.
struct TargetFacts {
  Target target;
  std::string_view processor;  ///< "gfx942"
  std::uint8_t elf_mach;       ///< low byte of e_flags
  std::uint32_t default_compute_units;
  std::uint32_t lds_bytes;    ///< per workgroup and per compute unit
  std::uint32_t lds_granule;  ///< bytes
  std::uint32_t xcc_count;
  bool architected_flat_scratch;
  bool supports_preload;
};

/// Facts of a target.
const TargetFacts& facts(Target target);

constexpr std::uint32_t wave_size = 64;
constexpr std::uint32_t waves_per_simd = 8;
constexpr std::uint32_t simds_per_compute_unit = 4;
constexpr std::uint32_t vgprs_per_simd_lane = 512;
constexpr std::uint32_t max_workgroups_per_compute_unit = 16;

}  // namespace hipgraph::emu
