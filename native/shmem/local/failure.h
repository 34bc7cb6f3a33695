#pragma once
#include "world.h"

namespace hipgraph::shmem {

/// Throws what a kernel met, if one met anything.
void check_failure(World& world);

}  // namespace hipgraph::shmem
