#include "machine/wave.h"

#include <cstring>

#include "machine/trap.h"

namespace hipgraph::emu {

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
  return reinterpret_cast<std::uint8_t*>(address);
}

void Wave::store(std::uint64_t address, const void* bytes, std::uint32_t count, Access access) {
  std::uint8_t* to = at(address, count, access);
  if (std::memcmp(to, bytes, count) == 0) return;
  std::memcpy(to, bytes, count);
  ++launch->effects;
}

void Wave::note_write(std::uint64_t address, std::uint32_t bytes) const {
  launch->memory->note_write(address, bytes,
                             {launch->launch, group->linear_id, index, instruction_pc});
}

}  // namespace hipgraph::emu
