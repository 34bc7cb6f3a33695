#include "symmetric_memory.h"

#include "arguments.h"
#include "failure.h"

namespace hipgraph::shmem {
namespace {

void check_alignment(std::size_t alignment) {
  const bool power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (power && alignment <= Heap::kMaxAlignment) return;
  fail(HGS_INVALID, "alignment is ", alignment, ": pass a power of two, at most ",
       Heap::kMaxAlignment);
}

std::size_t take(World& world, const std::string& label, std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(world.mutex);
  const std::optional<std::size_t> offset = world.heap.allocate(bytes, alignment);
  if (offset) return *offset;
  fail(HGS_NO_MEMORY, label, ": the symmetric heap of every PE has ", world.heap.free_bytes(),
       " bytes free, ", world.heap.largest_free(), " of them in one piece, of ",
       world.memory().bytes() - kReservedHead, ": free some, or pass a larger heap_bytes");
}

}  // namespace

void* allocate(World& world, std::string label, std::size_t bytes, std::size_t alignment,
               Contents contents) {
  Collective call = world.collective(label);
  call.exchange([&] {
    check_failure(world);
    check_alignment(alignment);
    return std::string();
  });
  if (bytes == 0) return nullptr;
  const std::size_t offset = take(world, label, bytes, alignment);
  char* address = world.memory().own() + offset;
  if (contents == Contents::Any) return address;
  try {
    call.exchange([&] {
      world.stream().fill(address, 0, bytes);
      world.stream().wait();
      return std::string();
    });
  } catch (...) {
    const std::lock_guard lock(world.mutex);
    world.heap.release(offset);
    throw;
  }
  return address;
}

void release(World& world, void* address) {
  const auto base = reinterpret_cast<std::uintptr_t>(world.memory().own());
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - base;
  Collective call = world.collective(address == nullptr ? "hgs_free(null)"
                                                        : text("hgs_free(offset=", offset, ")"));
  call.exchange([&] {
    check_failure(world);
    const std::lock_guard lock(world.mutex);
    if (address != nullptr && !world.heap.allocated(offset)) {
      fail(HGS_INVALID, "address is ", hex(address),
           ", not the begin of live symmetric memory: pass what hgs_malloc gave, once");
    }
    return std::string();
  });
  const std::lock_guard lock(world.mutex);
  if (address != nullptr) world.heap.release(offset);
}

void* peer_address(const World& world, const void* address, int pe) {
  check_pe(world, pe);
  const auto base = reinterpret_cast<std::uintptr_t>(world.memory().own());
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at < base + kReservedHead || at >= base + world.memory().bytes()) return nullptr;
  return world.memory().base(pe) + (at - base);
}

}  // namespace hipgraph::shmem
