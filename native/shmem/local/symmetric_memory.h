#pragma once
#include <cstddef>
#include <string>

#include "world.h"

namespace hipgraph::shmem {

enum class Contents : bool { Any, Zero };

/// Collective: symmetric memory, at the same offset on every PE; null for no bytes.
void* allocate(World& world, std::string label, std::size_t bytes, std::size_t alignment,
               Contents contents);
/// Collective: gives it back; a null address is nothing.
void release(World& world, void* address);
/// The same symmetric memory on another PE; null for memory that is not symmetric.
void* peer_address(const World& world, const void* address, int pe);

}  // namespace hipgraph::shmem
