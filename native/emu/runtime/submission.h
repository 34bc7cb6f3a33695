#pragma once
#include "runtime/capture_rules.h"
#include "runtime/node_work.h"
#include "runtime/stream.h"

namespace hipgraph::emu {

/// Makes checked work a node of the stream's capture, or hands it over to run behind what the
/// stream has. `handle` is how the caller named the stream, for reports.
void submit(Stream& stream, Admission admission, const NodeWork& work, hipStream_t handle);

}  // namespace hipgraph::emu
