#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace hipgraph::shmem {

template <class Part>
void append(std::string& whole, const Part& part) {
  if constexpr (std::is_integral_v<Part>) {
    whole += std::to_string(part);
  } else if constexpr (std::is_floating_point_v<Part>) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", static_cast<double>(part));
    whole += digits;
  } else {
    whole += std::string_view(part);
  }
}

/// The parts one after the other, numbers in decimal.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string whole;
  (append(whole, parts), ...);
  return whole;
}

/// An address as programmers write it.
inline std::string hex(std::uint64_t value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return digits;
}
inline std::string hex(const void* address) {
  return hex(reinterpret_cast<std::uint64_t>(address));
}

}  // namespace hipgraph::shmem
