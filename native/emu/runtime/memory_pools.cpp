#include "runtime/memory_pools.h"

#include <algorithm>
#include <unordered_map>

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/device_model.h"
#include "runtime/executor.h"
#include "runtime/handle_table.h"

namespace hipgraph::emu {
namespace {

struct Pools {
  HandleTable<hipMemPool_t, MemoryPool> live{"memory pools"};
  std::vector<MemoryPoolPtr> defaults, current;               ///< one a device
  std::unordered_map<std::uint64_t, MemoryPoolPtr> owner_of;  ///< of what is not being freed
};

Pools& pools() {
  static Pools& all = *[] {
    auto* made = new Pools;
    for (int device = 0; device < DeviceModel::instance().devices; ++device) {
      made->defaults.push_back(std::make_shared<MemoryPool>(device, 0));
      made->live.insert(made->defaults.back());
    }
    made->current = made->defaults;
    return made;
  }();
  return all;
}

/// Memory on its way back to its pool.
struct Return {
  MemoryPoolPtr pool;
  std::uint64_t base;
  hipStream_t stream;
};

void give_back(void* state) {
  const auto& it = *static_cast<const Return*>(state);
  it.pool->take_back(it.base, it.stream);
}

/// The pool of what starts at `base`, which nobody may free again; null when there is none.
MemoryPoolPtr claim(std::uint64_t base) {
  const auto found = pools().owner_of.find(base);
  if (found == pools().owner_of.end()) return nullptr;
  MemoryPoolPtr pool = std::move(found->second);
  pools().owner_of.erase(found);
  return pool;
}

}  // namespace

const MemoryPoolPtr& default_pool(int device) {
  return pools().defaults[static_cast<std::size_t>(device)];
}

const MemoryPoolPtr& current_pool(int device) {
  return pools().current[static_cast<std::size_t>(device)];
}

void set_current_pool(const MemoryPoolPtr& pool) {
  pools().current[static_cast<std::size_t>(pool->device())] = pool;
}

MemoryPoolPtr find_pool(hipMemPool_t handle) {
  MemoryPoolPtr pool = pools().live.find(handle);
  abi::require(pool != nullptr, hipErrorInvalidValue);
  return pool;
}

hipMemPool_t create_pool(int device, std::size_t most_bytes) {
  return pools().live.insert(std::make_shared<MemoryPool>(device, most_bytes));
}

void destroy_pool(hipMemPool_t handle) {
  const MemoryPoolPtr pool = find_pool(handle);
  const MemoryPoolPtr& original = default_pool(pool->device());
  abi::require(pool != original, hipErrorInvalidValue);
  if (pool == current_pool(pool->device())) set_current_pool(original);
  pools().live.erase(handle);
  pool->trim(0);
}

void reset_pools(int device) {
  std::vector<MemoryPoolPtr> ended;
  for (const auto& [handle, pool] : pools().live.all()) {
    if (pool->device() == device) ended.push_back(pool);
  }
  for (const MemoryPoolPtr& pool : ended) {
    pools().live.erase(pool->handle);
    std::erase_if(pools().owner_of, [&](const auto& entry) { return entry.second == pool; });
    pool->take_back_all();
  }
  const auto at = static_cast<std::size_t>(device);
  pools().defaults[at] = std::make_shared<MemoryPool>(device, 0);
  pools().live.insert(pools().defaults[at]);
  pools().current[at] = pools().defaults[at];
}

std::optional<Allocation> allocate_from(const MemoryPoolPtr& pool, std::size_t bytes,
                                        const Stream& stream) {
  const auto allocation = pool->allocate(bytes, stream.handle);
  if (allocation) pools().owner_of.emplace(allocation->base, pool);
  return allocation;
}

bool free_to_pool(std::uint64_t base, Stream& stream) {
  MemoryPoolPtr pool = claim(base);
  if (!pool) return false;
  const Return it{std::move(pool), base, stream.handle};
  enqueue(stream, make_action(give_back, std::make_shared<Return>(it)));
  return true;
}

bool free_to_pool(std::uint64_t base) {
  MemoryPoolPtr pool = claim(base);
  if (!pool) return false;
  Return it{std::move(pool), base, nullptr};
  const std::vector<CommandPtr> work = work_of_device(it.pool->device());
  const bool idle = std::ranges::all_of(
      work, [](const CommandPtr& command) { return Executor::instance().complete(command); });
  if (idle) {
    give_back(&it);
  } else {
    Executor::instance().submit(make_action(give_back, std::make_shared<Return>(it)), work);
  }
  return true;
}

void trim_pools() {
  std::vector<MemoryPoolPtr> all;
  {
    const ApiLock lock;
    for (const auto& [handle, pool] : pools().live.all()) all.push_back(pool);
  }
  for (const MemoryPoolPtr& pool : all) pool->trim_to_threshold();
}

}  // namespace hipgraph::emu
