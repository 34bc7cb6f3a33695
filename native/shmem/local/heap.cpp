#include "heap.h"

#include <algorithm>
#include <iterator>

namespace hipgraph::shmem {
namespace {

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

Heap::Heap(std::size_t begin, std::size_t end) {
  if (begin < end) free_[begin] = end - begin;
}

std::optional<std::size_t> Heap::allocate(std::size_t bytes, std::size_t alignment) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [begin, size] = *range;
    const std::size_t offset = round_up(begin, std::max(alignment, kAlignment));
    const std::size_t skipped = offset - begin;
    if (skipped > size || bytes > size - skipped) continue;
    // What is left begins aligned again; the last piece of the heap may be shorter.
    const std::size_t taken = std::min(round_up(bytes, kAlignment), size - skipped);
    free_.erase(range);
    if (skipped != 0) free_[begin] = skipped;
    if (skipped + taken != size) free_[offset + taken] = size - skipped - taken;
    used_[offset] = taken;
    return offset;
  }
  return std::nullopt;
}

bool Heap::release(std::size_t offset) {
  auto used = used_.extract(offset);
  if (used.empty()) return false;
  auto range = free_.emplace(offset, used.mapped()).first;
  if (const auto after = std::next(range);
      after != free_.end() && range->first + range->second == after->first) {
    range->second += after->second;
    free_.erase(after);
  }
  if (range != free_.begin()) {
    const auto before = std::prev(range);
    if (before->first + before->second == range->first) {
      before->second += range->second;
      free_.erase(range);
    }
  }
  return true;
}

std::size_t Heap::free_bytes() const {
  std::size_t sum = 0;
  for (const auto& [offset, bytes] : free_) sum += bytes;
  return sum;
}

std::size_t Heap::largest_free() const {
  std::size_t largest = 0;
  for (const auto& [offset, bytes] : free_) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace hipgraph::shmem
