#pragma once
#include <cstddef>
#include <cstdint>

#include "world.h"

namespace hipgraph::shmem {

/// Checks of what the user passed. Each names the argument, its value and the cure.

void check_pe(const World& world, int pe, const char* name = "pe");
/// A stream that the user created, whose work the null stream does not wait for.
hipStream_t check_stream(void* stream);
/// Memory of the caller, which may be anything but null.
void check_local(const void* address, std::size_t bytes, const char* name);
/// The offset of symmetric memory in every PE's heap.
std::size_t check_symmetric(const World& world, const void* address, std::size_t bytes,
                            const char* name);
/// The offset of an aligned word there.
std::size_t check_word(const World& world, const void* address, std::size_t bytes,
                       const char* name);
/// Two ranges of the heap that share no byte, or are the same where that is allowed.
void check_overlap(std::size_t target, std::size_t target_bytes, std::size_t source,
                   std::size_t source_bytes, bool in_place);
/// The team of a handle.
TeamPtr check_team(World& world, void* handle);

}  // namespace hipgraph::shmem
