#include "symbols.h"

#include <cstring>

namespace hipgraph::shmem {

std::size_t symbol_bytes(const World& world, std::string_view symbol, void* bytes,
                         std::size_t capacity) {
  const void* const context[] = {&world.page()->state, world.team()->on_device};
  std::string_view value;
  if (symbol == "ROCSHMEM_CTX_DEFAULT") {
    value = {reinterpret_cast<const char*>(context), sizeof context};
  } else if (symbol == "ROCSHMEM_TEAM_WORLD" || symbol == "ROCSHMEM_TEAM_SHARED") {
    value = {reinterpret_cast<const char*>(&context[1]), sizeof context[1]};
  }
  if (bytes == nullptr || value.empty()) return value.size();
  if (capacity < value.size()) {
    fail(HGS_INVALID, "capacity is ", capacity, ": ", symbol, " has ", value.size(), " bytes");
  }
  std::memcpy(bytes, value.data(), value.size());
  return value.size();
}

}  // namespace hipgraph::shmem
