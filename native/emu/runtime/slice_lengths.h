#pragma once
#include <cstdint>

namespace hipgraph::emu {

/// How many instructions a wave runs in its turn: the same number always, or, given a seed, numbers
/// that the seed determines, to explore other interleavings.
class SliceLengths {
 public:
  explicit SliceLengths(std::uint64_t seed) : seed_(seed), state_(seed) {}

  std::uint32_t next() {
    if (seed_ == 0) return fixed;
    state_ += 0x9e3779b97f4a7c15;  // splitmix64
    std::uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((mixed ^ mixed >> 31) % longest) + 1;
  }

 private:
  static constexpr std::uint32_t fixed = 256;
  static constexpr std::uint32_t longest = 512;
  std::uint64_t seed_;
  std::uint64_t state_;
};

}  // namespace hipgraph::emu
