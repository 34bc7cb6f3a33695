#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "machine/target.h"

namespace hipgraph::emu {

/// A lane mask as one word a lane: all ones where the lane's bit is set, else zero.
struct alignas(64) LaneFlags {
  std::uint32_t lane[wave_size];
};

/// Spreads a mask over the lanes.
inline void expand(std::uint64_t mask, LaneFlags& flags) {
  const auto low = static_cast<std::uint32_t>(mask);
  const auto high = static_cast<std::uint32_t>(mask >> 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t bit = 1U << i;
    flags.lane[i] = (low & bit) == 0 ? 0 : ~0U;
    flags.lane[i + 32] = (high & bit) == 0 ? 0 : ~0U;
  }
}

/// Gathers a mask from flags that are zero or all ones.
inline std::uint64_t pack(const LaneFlags& flags) {
  std::uint64_t mask = 0;
#ifdef __clang__
  // One instruction for eight lanes; clang does not find it in the loop below.
  using Words = std::int32_t __attribute__((ext_vector_type(8)));
  using Bits = bool __attribute__((ext_vector_type(8)));
  for (std::size_t i = 0; i < wave_size; i += 8) {
    Words words;
    std::memcpy(&words, flags.lane + i, sizeof words);
    const Bits bits = __builtin_convertvector(words, Bits);
    std::uint8_t byte = 0;
    std::memcpy(&byte, &bits, sizeof byte);
    mask |= static_cast<std::uint64_t>(byte) << i;
  }
#else
  for (std::size_t i = 0; i < wave_size; ++i) {
    mask |= static_cast<std::uint64_t>(flags.lane[i] & 1) << i;
  }
#endif
  return mask;
}

}  // namespace hipgraph::emu
