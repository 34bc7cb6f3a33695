#include "machine/wave.h"

#include <cstring>
#include <optional>

#include "machine/trap.h"

namespace hipgraph::emu {
namespace {

/// How a scalar access touches memory; vector ones are told by their instructions, all lanes at
/// once.
std::optional<Touch> scalar_touch(Access access) {
  switch (access) {
    case Access::ScalarLoad: return Touch::Read;
    case Access::ScalarStore: return Touch::Write;
    case Access::ScalarAtomic: return Touch::AtomicWrite;
    default: return std::nullopt;
  }
}

}  // namespace

std::uint8_t* Wave::at(std::uint64_t address, std::uint32_t bytes, Access access) {
  Memory& memory = *launch->memory;
  if (range_generation != memory.generation() || !range.holds(address, bytes)) {
    range = memory.find(address);
    range_generation = memory.generation();
    if (range.begin == range.end || !range.holds(address, bytes)) {
      range = {};
      throw Trap(TrapKind::MemoryFault, memory.describe(address, bytes));
    }
  }
  const bool writes = access != Access::Load && access != Access::ScalarLoad;
  if (writes && !range.writable) {
    throw Trap(TrapKind::MemoryFault,
               "write to read-only memory: " + memory.describe(address, bytes));
  }
  if (launch->listener != nullptr) {
    if (const auto how = scalar_touch(access)) launch->listener->touch(address, bytes, *how);
  }
  if (range.shared && access != Access::Store && access != Access::ScalarStore) ++shared_reads;
  return reinterpret_cast<std::uint8_t*>(address);
}

void Wave::store(std::uint64_t address, const std::uint32_t* words, std::uint32_t count,
                 Access access) {
  auto* to = reinterpret_cast<std::uint32_t*>(at(address, 4 * count, access));
  if (std::memcmp(to, words, 4 * count) != 0) ++launch->effects;
  // Words that stay the same are stored too: another process may be storing others there.
  for (std::uint32_t i = 0; i < count; ++i) __atomic_store_n(to + i, words[i], __ATOMIC_RELAXED);
}

void Wave::note_write(std::uint64_t address, std::uint32_t bytes) const {
  launch->memory->note_write(address, bytes,
                             {launch->launch, group->linear_id, index, instruction_pc});
}

}  // namespace hipgraph::emu
