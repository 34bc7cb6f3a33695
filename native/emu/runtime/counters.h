#pragma once
#include <cstdint>
#include <string>

#include "machine/wave.h"

namespace hipgraph::emu {

/// What ended launches executed, counted for the whole process. Thread safe.
struct Counters {
  /// Adds a launch that ended, well or not.
  static void add(const LaunchFacts& launch, std::uint64_t workgroups, std::uint64_t waves);
  /// The counts as JSON, and starts again from zero.
  static std::string take();
};

}  // namespace hipgraph::emu
