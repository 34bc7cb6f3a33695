#pragma once
#include "runtime/memory_pool.h"
#include "runtime/stream.h"

namespace hipgraph::emu {

/// The pools of the process. Everything here but `trim_pools` expects the API lock to be held.

/// The pool that a device has from the start.
const MemoryPoolPtr& default_pool(int device);
/// The pool that hipMallocAsync takes from.
const MemoryPoolPtr& current_pool(int device);
void set_current_pool(const MemoryPoolPtr& pool);
/// The live pool behind a handle; null and unknown ones are invalid values.
MemoryPoolPtr find_pool(hipMemPool_t handle);
hipMemPool_t create_pool(int device, std::size_t most_bytes);
/// Forgets a pool that is no default one; it goes when the last of its memory was freed.
void destroy_pool(hipMemPool_t handle);

/// Takes back all memory of a device's pools, whose work must be done, and leaves it with a new
/// default pool alone.
void reset_pools(int device);

/// Memory of `pool` for work of `stream` from now on; nullopt when there is none.
std::optional<Allocation> allocate_from(const MemoryPoolPtr& pool, std::size_t bytes,
                                        const Stream& stream);
/// Frees pool memory once the work of `stream` up to now is done. False when none starts at `base`,
/// or when it is being freed already.
bool free_to_pool(std::uint64_t base, Stream& stream);
/// The same for a call that names no stream: once all work of the device is done.
bool free_to_pool(std::uint64_t base);
/// Releases what pools keep beyond their thresholds; called whenever the host has waited.
void trim_pools();

}  // namespace hipgraph::emu
