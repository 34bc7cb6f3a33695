#include "runtime/image_bytes.h"

#include <bit>
#include <cstdio>
#include <memory>

namespace hipgraph::emu {
namespace {

/// Length of the UTF-8 character at the start of `bytes`; 0 when it is none.
std::size_t character_length(Bytes bytes) {
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto length = static_cast<std::size_t>(std::countl_one(bytes[0]));
  if (length == 0) return 1;
  if (length < 2 || length > 4 || length > bytes.size()) return 0;
  std::uint32_t character = bytes[0] & (0x7fU >> length);
  for (const std::uint8_t byte : bytes.subspan(1, length - 1)) {
    if ((byte & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte & 0x3f);
  }
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < least[length] || character > 0x10ffff || surrogate ? 0 : length;
}

}  // namespace

std::string text_of(Bytes bytes, const char* what) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_length(bytes.subspan(at));
    if (length == 0) refuse_image(std::string(what) + " holds text that is no UTF-8: damaged");
    at += length;
  }
  return {bytes.begin(), bytes.end()};
}

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
