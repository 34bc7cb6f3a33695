#pragma once
#include "isa/memory_access.h"

/// Loads from device memory straight into LDS, which BUFFER (`lds` bit) and GLOBAL share.
namespace hipgraph::emu {

/// LDS offset of lane 0: M0 + instruction offset. M0 counts with as many bits as LDS addresses
/// have.
inline std::uint32_t lds_load_start(const Wave& wave, const Instruction& instruction) {
  const std::uint32_t bits = wave.launch->target == Target::gfx950 ? 0xffffffffu : 0xffffu;
  return (wave.sgpr[sreg::m0] & bits) + static_cast<std::uint32_t>(instruction.imm);
}

/// Lane n's bytes go to start + n * bytes; active lanes outside of a buffer write zeros.
template <std::uint32_t bytes>
void load_into_lds(Wave& wave, const LaneAddresses& lanes, std::uint64_t outside,
                   std::uint32_t start) {
  const std::uint64_t active = lanes.mask | outside;
  if (active == 0) return;
  GlobalSpace from(wave, Access::Load);
  LdsSpace to(wave, Access::Load);
  constexpr std::uint32_t total = bytes * wave_size;
  alignas(64) LaneBytes<Transfer{bytes}> data{};
  if (from.covers(lanes, bytes)) {
    for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
      std::memcpy(data[lane].data(), from.trusted(lanes.of[lane]), bytes);
    }
  } else {
    for_each_lane(lanes.mask,
                  [&](std::uint32_t lane) { from.read(lane, lanes.of[lane], data[lane]); });
  }
  if (active == all_lanes) {
    const auto all = std::bit_cast<std::array<std::uint8_t, total>>(data);
    to.wrote(start, total, replace_bytes(to.at(start, total), all));
  } else {
    for_each_lane(active, [&](std::uint32_t lane) {
      to.write(lane, std::uint64_t{start} + bytes * lane, data[lane]);
    });
  }
  if (lanes.mask == 0) return;
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes.mask));
  std::uint32_t value;
  std::memcpy(&value, data[first].data(), sizeof(value));
  from.finish_reads(lanes.of[first], bytes, value);
}

}  // namespace hipgraph::emu
