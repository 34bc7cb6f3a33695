#include "runtime/vector_clock.h"

#include <algorithm>

namespace hipgraph::emu {

std::vector<Moment>::iterator VectorClock::place_of(std::uint32_t chain) {
  return std::ranges::lower_bound(latest_, chain, {}, &Moment::chain);
}

bool VectorClock::covers(Moment moment) const {
  const auto found = std::ranges::lower_bound(latest_, moment.chain, {}, &Moment::chain);
  return found != latest_.end() && found->chain == moment.chain && found->time >= moment.time;
}

void VectorClock::raise(Moment moment) {
  if (!covers(moment)) set(moment);
}

void VectorClock::set(Moment moment) {
  const auto place = place_of(moment.chain);
  if (place == latest_.end() || place->chain != moment.chain) {
    latest_.insert(place, moment);
  } else {
    place->time = moment.time;
  }
}

void VectorClock::merge(const VectorClock& other) {
  if (latest_.empty()) {
    latest_ = other.latest_;
    return;
  }
  for (const Moment& moment : other.latest_) raise(moment);
}

}  // namespace hipgraph::emu
