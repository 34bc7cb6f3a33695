#pragma once
#include <span>
#include <string>

#include "runtime/race_check.h"

namespace hipgraph::emu {

/// Reports that the work called `name` raced.
void report_races(const std::string& name, std::span<const Race> races);

}  // namespace hipgraph::emu
