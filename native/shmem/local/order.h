#pragma once
#include "world.h"

namespace hipgraph::shmem {

/// Waits until this PE's copies of the host have arrived.
void quiet(World& world);
/// Waits for all PEs of the team; what they wrote before is visible then.
void host_barrier(World& world, Team& team, const char* name);
/// Waits for all PEs of the team, and for no copy.
void host_sync(World& world, Team& team, const char* name);

}  // namespace hipgraph::shmem
