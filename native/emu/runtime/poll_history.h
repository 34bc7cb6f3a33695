#pragma once
#include <array>
#include <cstdint>

#include "machine/wave.h"

namespace hipgraph::emu {

/// What the slices of one wave read last, to notice that the wave only looks again and again at
/// values that do not change. Kept where other processes share memory: there a wave that also reads
/// the clock never comes back to an earlier state, and still does nothing but wait.
class PollHistory {
 public:
  /// Watches the slice that `wave` runs until `end_slice`.
  void begin_slice(Wave& wave);
  void end_slice(Wave& wave);

  /// Whether the latest slice read last what an earlier one had read, at the same place.
  bool repeats() const { return repeats_; }
  /// Whether the latest slice read memory that other processes may write.
  bool shared() const { return shared_; }

 private:
  struct Seen {
    std::uint64_t address = 0;
    std::uint32_t value = 0;
  };
  std::array<Seen, 16> seen_{};  ///< by address: a loop may look at several places in turn
  Poll before_;
  std::uint64_t reads_before_ = 0;
  bool repeats_ = false;
  bool shared_ = false;
};

}  // namespace hipgraph::emu
