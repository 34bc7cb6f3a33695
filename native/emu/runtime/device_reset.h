#pragma once

namespace hipgraph::emu {

/// Waits for a device and takes from its users their streams, events, pools, memory and flags.
/// Code, graphs and execs stay. Not under the API lock.
void reset_device(int device);

}  // namespace hipgraph::emu
