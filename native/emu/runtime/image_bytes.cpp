#include "runtime/image_bytes.h"

#include <cstdio>
#include <memory>

namespace hipgraph::emu {

std::size_t readable_bytes(const void* start) {
  const auto first = reinterpret_cast<std::uint64_t>(start);
  std::uint64_t end = first;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "r"),
                                                             std::fclose);
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps.get()) != nullptr) {
    unsigned long long from = 0;
    unsigned long long to = 0;
    char access = '-';
    if (std::sscanf(line, "%llx-%llx %c", &from, &to, &access) != 3) continue;  // a line's tail
    if (access == 'r' && from <= end && end < to) end = to;
  }
  return end - first;
}

}  // namespace hipgraph::emu
