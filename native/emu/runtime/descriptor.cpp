#include "runtime/descriptor.h"

#include <cstring>

namespace hipgraph::emu {
namespace {

template <typename T>
T field(std::uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

}  // namespace

Descriptor Descriptor::at(std::uint64_t address) {
  return {.lds_bytes = field<std::uint32_t>(address),
          .scratch_bytes = field<std::uint32_t>(address + 4),
          .entry_offset = field<std::int64_t>(address + 16),
          .rsrc1 = field<std::uint32_t>(address + 48),
          .rsrc2 = field<std::uint32_t>(address + 52),
          .rsrc3 = field<std::uint32_t>(address + 44),
          .properties = field<std::uint16_t>(address + 56),
          .preload = field<std::uint16_t>(address + 58)};
}

}  // namespace hipgraph::emu
