#pragma once
#include "runtime/code_object.h"
#include "runtime/command.h"
#include "runtime/dispatch.h"
#include "runtime/kernel_run.h"

namespace hipgraph::emu {

/// Publishes a trap; returns the status that the launch ends with.
Status report_trap(KernelRun& run, const KernelTrap& trap);
/// Publishes that a launch could not start.
void report_refused_launch(const LaunchRequest& request, const LoadError& error);

}  // namespace hipgraph::emu
