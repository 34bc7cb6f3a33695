#include "runtime/poll_history.h"

#include <utility>

namespace hipgraph::emu {

void PollHistory::begin_slice(Wave& wave) {
  before_ = std::exchange(wave.poll, {});
  reads_before_ = wave.shared_reads;
}

void PollHistory::end_slice(Wave& wave) {
  shared_ = wave.shared_reads != reads_before_;
  repeats_ = false;
  if (wave.poll.bytes == 0) {
    wave.poll = before_;
    return;
  }
  Seen& seen = seen_[wave.poll.address / 4 % seen_.size()];
  repeats_ = seen.address == wave.poll.address && seen.value == wave.poll.value;
  seen = {wave.poll.address, wave.poll.value};
}

}  // namespace hipgraph::emu
