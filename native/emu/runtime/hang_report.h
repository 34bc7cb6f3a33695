#pragma once
#include <span>
#include <string>

#include "runtime/kernel_run.h"

namespace hipgraph::emu {

/// JSON of the kernels that run on, with every wave of theirs: what it does and read last; empty
/// when none runs.
std::string running_report(std::span<KernelRun* const> kernels);
/// Publishes that the running kernels can never proceed: every stuck wave, what it waits for, who
/// wrote that last, and why nobody will again.
void report_hang(std::span<KernelRun* const> kernels);

}  // namespace hipgraph::emu
