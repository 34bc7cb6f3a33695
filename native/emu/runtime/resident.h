#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/wave.h"
#include "runtime/poll_history.h"
#include "runtime/residency.h"

namespace hipgraph::emu {

/// An earlier state of a wave, to notice that it came back.
struct SavedState {
  std::uint64_t quiet_time = 0;  ///< the effect-free stretch in which it was saved; 0: none
  std::uint64_t pc = 0;
  std::uint64_t scalars = 0;       ///< hash of MODE, SCC and scalar registers
  std::uint64_t vectors = 0;       ///< hash of the allocated rows
  std::uint64_t shared_reads = 0;  ///< count of the wave's when it was saved
  bool came_back = false;
};

/// A wave that has started and not ended.
struct ResidentWave {
  Wave wave;
  SavedState saved;
  PollHistory polls;
  std::unique_ptr<std::uint8_t[]> scratch;
};

/// A workgroup on a compute unit. Waves point at `group`: it does not move.
struct ResidentWorkgroup {
  Workgroup group;
  Place place;
  std::vector<ResidentWave> waves;
};

}  // namespace hipgraph::emu
