#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "isa/program.h"
#include "runtime/resident.h"

namespace hipgraph::emu {

class KernelRun;

/// Finds out that the running kernels can never proceed by themselves, without a timer: a wave that
/// comes back to an earlier state, while nothing in memory changed in between, will do so for ever.
/// When all waves do, or wait for such waves at a barrier, the machine stands still.
class Standstill {
 public:
  /// Something changed: earlier states mean nothing any more.
  void note_effect();
  /// Runs a slice of a wave; when nothing has changed for a while, with an eye on its saved state.
  void run_slice(Program& program, ResidentWave& resident, std::uint32_t budget) const;
  /// Looks at all waves after a round in which nothing changed; whether the standstill is proven.
  bool observe(std::span<KernelRun* const> kernels);

 private:
  bool watches(const ResidentWave& resident) const;
  void save(ResidentWave& resident) const;

  std::uint64_t quiet_time_ = 1;  ///< number of this effect-free stretch
  std::uint64_t quiet_rounds_ = 0;
};

}  // namespace hipgraph::emu
