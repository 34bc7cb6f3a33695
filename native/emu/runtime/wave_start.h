#pragma once
#include <cstdint>

#include "machine/wave.h"
#include "runtime/descriptor.h"
#include "runtime/dispatch.h"
#include "runtime/kernarg.h"

namespace hipgraph::emu {

/// What all waves of a launch start from.
struct LaunchStart {
  const LaunchRequest* request = nullptr;
  Descriptor descriptor;
  const LaunchMemory* memory = nullptr;
};

/// Sets a wave's registers as the hardware does at launch. `wave` has its rows, scratch, group,
/// launch and index; whatever the launch does not define holds poison.
void start_wave(Wave& wave, const LaunchStart& start);

}  // namespace hipgraph::emu
