#include "runtime/touched_memory.h"

#include <algorithm>

#include "runtime/address_space.h"

namespace hipgraph::emu {
namespace {

bool writes(Touch how) { return how == Touch::Write || how == Touch::AtomicWrite; }
bool atomic(Touch how) { return how == Touch::AtomicRead || how == Touch::AtomicWrite; }

/// Whether every touch that conflicts with `earlier` conflicts with `later` too.
bool outdoes(Touch later, Touch earlier) {
  for (std::size_t i = 0; i < touch_kinds; ++i) {
    const auto other = static_cast<Touch>(i);
    if (conflict(earlier, other) && !conflict(later, other)) return false;
  }
  return true;
}

bool host_writes(AllocationKind kind) {
  return kind == AllocationKind::Pinned || kind == AllocationKind::Managed ||
         kind == AllocationKind::Registered;
}

/// A page that is touched for the first time. Memory of the host's own has no number: it comes and
/// goes behind the device's back, and several allocations may share a page.
TouchedPage look_at(std::uint64_t address) {
  TouchedPage page;
  const auto allocation = AddressSpace::instance().lookup(address);
  if (!allocation) return page;
  page.private_to_launch = allocation->kind == AllocationKind::Kernarg;
  page.host_writes = host_writes(allocation->kind);
  if (allocation->kind != AllocationKind::Registered) page.allocation = allocation->number;
  return page;
}

}  // namespace

TouchedPage& TouchedMemory::page_of(std::uint64_t address) {
  const std::uint64_t number = address / ByteMask::page;
  if (last_ != nullptr && last_number_ == number) return *last_;
  auto found = pages_.find(number);
  if (found == pages_.end()) found = pages_.emplace(number, look_at(address)).first;
  last_number_ = number;
  last_ = &found->second;
  return *last_;
}

void TouchedMemory::add(std::uint64_t address, std::uint64_t bytes, Touch how) {
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t base = address - address % ByteMask::page;
    const std::uint64_t stop = std::min(end, base + ByteMask::page);
    TouchedPage& page = page_of(address);
    page.touches[static_cast<std::size_t>(how)].add(address - base, stop - base);
    address = stop;
  }
}

const TouchedPage& TouchedMemory::at(std::uint64_t address) const {
  return pages_.at(address / ByteMask::page);
}

void TouchedMemory::clear() {
  pages_.clear();
  last_ = nullptr;
}

bool conflict(Touch one, Touch other) {
  return (writes(one) || writes(other)) && !(atomic(one) && atomic(other));
}

void supersede(Touches& earlier, const Touches& later) {
  for (std::size_t i = 0; i < touch_kinds; ++i) {
    for (std::size_t k = 0; k < touch_kinds; ++k) {
      if (outdoes(static_cast<Touch>(k), static_cast<Touch>(i))) earlier[i].remove(later[k]);
    }
  }
}

bool empty(const Touches& touches) { return std::ranges::all_of(touches, &ByteMask::empty); }

}  // namespace hipgraph::emu
