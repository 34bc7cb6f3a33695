#pragma once
#include <span>
#include <string>

#include "runtime/stuck_wave.h"

namespace hipgraph::emu {

/// The stuck waves of one kernel as lines of text: under the instruction at which they stand and
/// the cause a line for each thing that is waited for, with all workgroups and waves that do.
std::string stuck_text(std::span<const StuckWave> waves);

}  // namespace hipgraph::emu
