#pragma once
#include <cstddef>
#include <string_view>

#include "world.h"

namespace hipgraph::shmem {

/// Writes what a module's own copy of a device symbol must hold; its size, 0 if there is no such
/// symbol. Nothing is written where `bytes` is null.
std::size_t symbol_bytes(const World& world, std::string_view symbol, void* bytes,
                         std::size_t capacity);

}  // namespace hipgraph::shmem
