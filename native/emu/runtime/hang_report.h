#pragma once
#include <span>

#include "runtime/kernel_run.h"

namespace hipgraph::emu {

/// Publishes that the running kernels can never proceed: every stuck wave, what it waits for, who
/// wrote that last, and why nobody will again.
void report_hang(std::span<KernelRun* const> kernels);

}  // namespace hipgraph::emu
