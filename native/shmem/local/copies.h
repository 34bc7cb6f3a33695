#pragma once
#include <cstddef>

#include "world.h"

namespace hipgraph::shmem {

/// Begins a copy to another PE's `target`; order.h's quiet waits for it.
void put(World& world, void* target, const void* source, std::size_t bytes, int pe);
/// Begins a copy from another PE's `source`.
void get(World& world, void* target, const void* source, std::size_t bytes, int pe);

}  // namespace hipgraph::shmem
