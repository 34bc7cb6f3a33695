#include "runtime/memory_pool.h"

#include <algorithm>

#include "entry.h"
#include "runtime/arena.h"

namespace hipgraph::emu {
namespace {

template <class T>
T read_as(const void* value) {
  return *static_cast<const T*>(value);
}

/// A high-water mark may only be forgotten.
void check_reset(const void* value) {
  abi::require(read_as<std::uint64_t>(value) == 0, hipErrorInvalidValue);
}

}  // namespace

MemoryPool::MemoryPool(int device, std::size_t most_bytes)
    : device_(device), most_bytes_(most_bytes) {}

MemoryPool::~MemoryPool() { release_until(0); }

std::optional<Allocation> MemoryPool::allocate(std::size_t bytes, hipStream_t stream) {
  const Lock lock(mutex_);
  std::optional<Chunk> chunk = reuse(bytes, stream);
  if (!chunk) chunk = make(bytes, stream);
  if (!chunk) return std::nullopt;
  handed_out_.emplace(chunk->base, chunk->bytes);
  used_ += chunk->bytes;
  used_high_ = std::max(used_high_, used_);
  reserved_high_ = std::max(reserved_high_, reserved());
  return AddressSpace::instance().commit(chunk->base, bytes);
}

std::optional<MemoryPool::Chunk> MemoryPool::reuse(std::size_t bytes, hipStream_t stream) {
  // The latest first, and only of the same number of pages: HIP too looks for nearly equal sizes.
  const auto fits = [&](const Chunk& chunk) {
    return chunk.bytes == whole_pages(bytes) && (opportunistic_ != 0 || chunk.stream == stream);
  };
  const auto found = std::find_if(free_.rbegin(), free_.rend(), fits);
  if (found == free_.rend()) return std::nullopt;
  const Chunk chunk = *found;
  free_.erase(std::next(found).base());
  unused_ -= chunk.bytes;
  return chunk;
}

std::optional<MemoryPool::Chunk> MemoryPool::make(std::size_t bytes, hipStream_t stream) {
  AddressSpace& space = AddressSpace::instance();
  if (bytes > space.total_bytes(device_)) return std::nullopt;
  const std::size_t pages = whole_pages(bytes);
  if (most_bytes_ != 0 && reserved() + pages > most_bytes_) return std::nullopt;
  bool charged = space.charge(device_, pages);
  if (!charged) {
    release_until(0);
    charged = space.charge(device_, pages);
  }
  if (!charged) return std::nullopt;
  const auto addresses = space.reserve(bytes, AllocationKind::Pool, device_);
  if (addresses) return Chunk{addresses->base, pages, stream};
  space.refund(device_, pages);
  return std::nullopt;
}

void MemoryPool::take_back(std::uint64_t base, hipStream_t stream) {
  const Lock lock(mutex_);
  const auto found = handed_out_.find(base);
  AddressSpace::instance().retire(base);
  free_.push_back({base, found->second, stream});
  used_ -= found->second;
  unused_ += found->second;
  handed_out_.erase(found);
}

void MemoryPool::take_back_all() {
  std::vector<std::uint64_t> bases;
  {
    const Lock lock(mutex_);
    for (const auto& [base, bytes] : handed_out_) bases.push_back(base);
  }
  for (const std::uint64_t base : bases) take_back(base, nullptr);
  trim(0);
}

void MemoryPool::release_until(std::size_t keep) {
  AddressSpace& space = AddressSpace::instance();
  auto end = free_.begin();
  for (; end != free_.end() && unused_ > keep; ++end) {
    space.release(end->base);
    space.refund(device_, end->bytes);
    unused_ -= end->bytes;
  }
  free_.erase(free_.begin(), end);
}

void MemoryPool::trim(std::size_t keep) {
  const Lock lock(mutex_);
  release_until(keep);
}

void MemoryPool::trim_to_threshold() {
  const Lock lock(mutex_);
  release_until(release_threshold_);
}

void MemoryPool::get(hipMemPoolAttr attribute, void* value) const {
  const Lock lock(mutex_);
  const auto flag = [&](int it) { *static_cast<int*>(value) = it; };
  const auto bytes = [&](std::uint64_t it) { *static_cast<std::uint64_t*>(value) = it; };
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies: return flag(follow_events_);
    case hipMemPoolReuseAllowOpportunistic: return flag(opportunistic_);
    case hipMemPoolReuseAllowInternalDependencies: return flag(internal_dependencies_);
    case hipMemPoolAttrReleaseThreshold: return bytes(release_threshold_);
    case hipMemPoolAttrReservedMemCurrent: return bytes(reserved());
    case hipMemPoolAttrReservedMemHigh: return bytes(reserved_high_);
    case hipMemPoolAttrUsedMemCurrent: return bytes(used_);
    case hipMemPoolAttrUsedMemHigh: return bytes(used_high_);
  }
  throw abi::Failure{hipErrorInvalidValue};
}

void MemoryPool::set(hipMemPoolAttr attribute, const void* value) {
  const Lock lock(mutex_);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies: follow_events_ = read_as<int>(value); return;
    case hipMemPoolReuseAllowOpportunistic: opportunistic_ = read_as<int>(value); return;
    case hipMemPoolReuseAllowInternalDependencies:
      internal_dependencies_ = read_as<int>(value);
      return;
    case hipMemPoolAttrReleaseThreshold: release_threshold_ = read_as<std::uint64_t>(value); return;
    case hipMemPoolAttrReservedMemHigh:
      check_reset(value);
      reserved_high_ = 0;
      return;
    case hipMemPoolAttrUsedMemHigh:
      check_reset(value);
      used_high_ = 0;
      return;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent: throw abi::Failure{hipErrorInvalidValue};
  }
  throw abi::Failure{hipErrorInvalidValue};
}

hipMemAccessFlags MemoryPool::access(int device) const {
  const Lock lock(mutex_);
  const auto found = access_.find(device);
  if (found != access_.end()) return found->second;
  return device == device_ ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
}

void MemoryPool::set_access(int device, hipMemAccessFlags flags) {
  const Lock lock(mutex_);
  access_[device] = flags;
}

}  // namespace hipgraph::emu
