#pragma once
#include <string>

#include "runtime/command.h"
#include "runtime/memory_checks.h"
#include "runtime/node_work.h"

namespace hipgraph::emu {

/// The command that does a node's work now. Child graphs are more than one command, and what event
/// nodes do depends on the launch: these have none.
/// `origin` is what reports call the place it was launched from.
CommandPtr make_command(const NodeWork& work, int device, const std::string& origin);
/// The command of an eager copy. Pageable host memory is read before this returns, as HIP may do
/// and callers rely on; everything else is read when the command runs.
CommandPtr make_eager_copy(const CheckedCopy& copy);
/// "stream 0x7f..", for reports.
std::string origin_of_stream(const void* handle);

}  // namespace hipgraph::emu
