#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace hipgraph::emu {

/// A moment in a chain of work: what happens in one chain is in order, by time.
struct Moment {
  std::uint32_t chain = 0;
  std::uint64_t time = 0;
  bool operator==(const Moment&) const = default;
};

/// Up to which moment of every chain work has happened before something.
class VectorClock {
 public:
  /// Whether `moment` is among what happened.
  bool covers(Moment moment) const;
  /// Adds what happened up to `moment` of its chain.
  void raise(Moment moment);
  /// Says anew how much of a chain has happened.
  void set(Moment moment);
  /// Adds what happened before another's work.
  void merge(const VectorClock& other);
  /// The latest moment of each chain that is not new to it, by chain.
  std::span<const Moment> latest() const { return latest_; }

 private:
  std::vector<Moment>::iterator place_of(std::uint32_t chain);
  std::vector<Moment> latest_;  // by chain
};

}  // namespace hipgraph::emu
