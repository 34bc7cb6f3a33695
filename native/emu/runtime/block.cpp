#include "runtime/block.h"

#include <algorithm>
#include <cstdio>

namespace hipgraph::emu {
namespace {

constexpr std::uint64_t near_bytes = std::uint64_t{16} << 20;

/// What made an allocation of this kind; numbered kinds are numbered in one sequence.
const char* origin(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::Device: return "hipMalloc ";
    case AllocationKind::Pool: return "hipMallocAsync ";
    case AllocationKind::Graph: return "graph allocation ";
    case AllocationKind::Imported: return "hipIpcOpenMemHandle ";
    case AllocationKind::Pinned: return "hipHostMalloc ";
    case AllocationKind::Managed: return "hipMallocManaged ";
    case AllocationKind::ManagedVariable: return "managed variable ";
    case AllocationKind::Registered: return "hipHostRegister ";
    case AllocationKind::Code: return "code object";
    case AllocationKind::Kernarg: return "kernarg segment";
  }
  __builtin_unreachable();  // the enumeration has no other member
}

std::string count(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void Block::open(const Allocation& as) {
  allocation = as;
  host_begin = host_end = 0;
  label = nullptr;
  file = -1;
  reserved = untouched = false;
  const std::uint64_t last = as.base + as.bytes;
  begin.store(as.base, std::memory_order_relaxed);
  end.store(last, std::memory_order_relaxed);
  const bool code = as.kind == AllocationKind::Code;
  writable_begin.store(as.base, std::memory_order_relaxed);
  writable_end.store(code ? as.base : last, std::memory_order_relaxed);
  noted.store(false, std::memory_order_relaxed);
  shared.store(as.kind == AllocationKind::Imported, std::memory_order_relaxed);
  live.store(true, std::memory_order_release);
}

Range Block::piece(std::uint64_t address) const {
  const std::uint64_t from = writable_begin.load(std::memory_order_relaxed);
  const std::uint64_t to = writable_end.load(std::memory_order_relaxed);
  const bool others = shared.load(std::memory_order_relaxed);
  if (address - from < to - from) return {from, to, true, others};
  const std::uint64_t first = begin.load(std::memory_order_relaxed);
  const std::uint64_t last = end.load(std::memory_order_relaxed);
  if (from == to) return {first, last, false};
  return address < from ? Range{first, from, false} : Range{to, last, false};
}

std::string name_of(const Block& block) {
  const Allocation& a = block.allocation;
  const std::string number = a.number == 0 ? "" : std::to_string(a.number);
  return origin(a.kind) + number + " (" + count(a.bytes) + " at " + hex(a.base) + ")";
}

std::string place_in(const Block& block, std::uint64_t address, std::uint64_t bytes) {
  if (block.label != nullptr) return hex(address) + " belongs to the " + block.label;
  const std::uint64_t begin = block.allocation.base;
  const std::uint64_t end = begin + block.allocation.bytes;
  const char* gone = block.untouched ? ", which no launch has allocated yet" : ", which was freed";
  const std::string name = name_of(block) + (block.live.load() ? "" : gone);
  if (address < begin) return hex(address) + " is " + count(begin - address) + " before " + name;
  if (address >= end) {
    return hex(address) + " is " + count(address - end) + " past the end of " + name;
  }
  const std::string inside = name + ", offset " + std::to_string(address - begin);
  if (bytes <= end - address) return inside;
  return inside + ": the " + count(bytes) + " there reach " + count(bytes - (end - address)) +
         " past its end";
}

std::string place_between(const Block* before, const Block* after, std::uint64_t address,
                          std::uint64_t bytes) {
  const std::uint64_t ahead = after == nullptr ? near_bytes : after->allocation.base - address;
  const std::uint64_t behind = before == nullptr || before->holds(address)
                                   ? (before == nullptr ? near_bytes : 0)
                                   : address - before->end.load();
  if (std::min(ahead, behind) >= near_bytes) {
    return hex(address) + " is in no allocation: memory that the device does not know";
  }
  return place_in(behind <= ahead ? *before : *after, address, bytes);
}

}  // namespace hipgraph::emu
