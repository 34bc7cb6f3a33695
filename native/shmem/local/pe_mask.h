#pragma once
#include <cstdint>
#include <string>

namespace hipgraph::shmem {

/// A set of PEs of the world, a bit each.
using PeMask = std::uint64_t;

constexpr PeMask bit(int pe) { return PeMask{1} << pe; }
constexpr PeMask first_pes(int count) { return count == 64 ? ~PeMask{0} : bit(count) - 1; }
constexpr bool contains(PeMask mask, int pe) { return (mask >> pe & 1) != 0; }

/// "PE 3", or "PEs 1, 3".
inline std::string pes(PeMask mask) {
  std::string whole = (mask & (mask - 1)) == 0 ? "PE " : "PEs ";
  const char* separator = "";
  for (int pe = 0; pe < 64; ++pe) {
    if (!contains(mask, pe)) continue;
    whole += separator + std::to_string(pe);
    separator = ", ";
  }
  return whole;
}

}  // namespace hipgraph::shmem
