#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace hipgraph::emu {

/// State shared by the waves of one workgroup: LDS, barrier, position in the grid.
struct Workgroup {
  std::vector<std::uint8_t> lds;  ///< static + dynamic bytes as launched (not rounded up)
  std::uint32_t linear_id = 0;    ///< x fastest
  std::array<std::uint32_t, 3> id{};
  std::uint32_t waves_live = 0;  ///< waves that have not ended
  std::uint32_t waves_at_barrier = 0;
};

}  // namespace hipgraph::emu
