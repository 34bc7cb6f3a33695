#include "runtime/memory_advice.h"

#include <algorithm>
#include <iterator>

namespace hipgraph::emu {

AdviceTable& AdviceTable::instance() {
  static AdviceTable& table = *new AdviceTable;
  return table;
}

AdviceTable::Pieces& AdviceTable::pieces_of(const Allocation& allocation) {
  Record& record = records_[allocation.base];
  if (record.number != allocation.number) {
    record = {allocation.number, {{allocation.base, Advice{}}}};
  }
  return record.pieces;
}

void AdviceTable::split(Pieces& pieces, std::uint64_t at) {
  const auto after = pieces.upper_bound(at);
  pieces.emplace(at, std::prev(after)->second);
}

Advice AdviceTable::common(const Allocation& allocation, std::uint64_t begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const Pieces& pieces = pieces_of(allocation);
  auto piece = std::prev(pieces.upper_bound(begin));
  Advice all = piece->second;
  for (++piece; piece != pieces.end() && piece->first < begin + bytes; ++piece) {
    const Advice& one = piece->second;
    all.read_mostly &= one.read_mostly;
    all.coarse_grained &= one.coarse_grained;
    if (one.preferred != all.preferred) all.preferred = hipInvalidDeviceId;
    if (one.last_prefetch != all.last_prefetch) all.last_prefetch = hipInvalidDeviceId;
    std::erase_if(all.accessed_by, [&](int device) { return !one.accessed_by.contains(device); });
  }
  return all;
}

}  // namespace hipgraph::emu
