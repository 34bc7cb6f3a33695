#include "arguments.h"

namespace hipgraph::shmem {
namespace {

// HIP's handles of the legacy stream and of the calling thread's own.
constexpr std::uintptr_t kLastSpecialStream = 2;

}  // namespace

void check_pe(const World& world, int pe, const char* name) {
  if (pe >= 0 && pe < world.n_pes()) return;
  fail(HGS_INVALID, name, " is ", pe, ": pass 0 to ", world.n_pes() - 1);
}

hipStream_t check_stream(void* stream) {
  if (reinterpret_cast<std::uintptr_t>(stream) <= kLastSpecialStream) {
    fail(HGS_INVALID, "stream is ", hex(stream),
         ", the legacy or the thread's default stream, which cannot be captured: ",
         "pass a created stream");
  }
  return static_cast<hipStream_t>(stream);
}

void check_local(const void* address, std::size_t bytes, const char* name) {
  if (address == nullptr && bytes != 0) {
    fail(HGS_INVALID, name, " is null: pass the address of ", bytes, " bytes");
  }
}

std::size_t check_symmetric(const World& world, const void* address, std::size_t bytes,
                            const char* name) {
  const PeerMemory& memory = world.memory();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.own()) + kReservedHead;
  const auto end = reinterpret_cast<std::uintptr_t>(memory.own()) + memory.bytes();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  // Nothing is read or written through an address without bytes: a null one is as good.
  if (bytes == 0 && address == nullptr) return 0;
  if (at < begin || at > end || bytes > end - at) {
    fail(HGS_INVALID, name, " is ", hex(address), " with ", bytes,
         " bytes, not inside this PE's symmetric heap (", hex(begin), " to ", hex(end),
         "): pass memory from hgs_malloc");
  }
  return at - reinterpret_cast<std::uintptr_t>(memory.own());
}

std::size_t check_word(const World& world, const void* address, std::size_t bytes,
                       const char* name) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    fail(HGS_INVALID, name, " is ", hex(address), ": align it to ", bytes, " bytes");
  }
  return check_symmetric(world, address, bytes, name);
}

void check_overlap(std::size_t target, std::size_t target_bytes, std::size_t source,
                   std::size_t source_bytes, bool in_place) {
  if (target + target_bytes <= source || source + source_bytes <= target) return;
  if (in_place && target == source) return;
  fail(HGS_INVALID, "target and source overlap: separate them by ",
       target > source ? source + source_bytes - target : target + target_bytes - source,
       " bytes more", in_place ? ", or pass the same address" : "");
}

TeamPtr check_team(World& world, void* handle) {
  const std::lock_guard lock(world.mutex);
  const auto found = world.teams.find(handle);
  if (found == world.teams.end()) {
    fail(HGS_INVALID, "team is ", hex(handle),
         handle == nullptr ? ": this PE is not in it" : ", not a team that lives: ",
         handle == nullptr ? "" : "pass what hgs_team_world or a split gave");
  }
  return found->second;
}

}  // namespace hipgraph::shmem
