#include "runtime/race_check.h"

#include <algorithm>
#include <utility>

#include "runtime/device_model.h"
#include "runtime/race_report.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

using Lock = std::lock_guard<std::mutex>;

// Moments of one command: a new one begins when another command learns of what it did so far.
constexpr std::uint64_t moments_of_a_command = std::uint64_t{1} << 20;

constexpr std::uint64_t dword = 4;

// Enough to tell; a command may touch every other byte of a large memory.
constexpr std::size_t most_races = 4096;

/// Whether everything that happened by `done` happened by `clock`.
bool knows(const VectorClock& clock, const VectorClock& done) {
  return std::ranges::all_of(done.latest(),
                             [&clock](const Moment& moment) { return clock.covers(moment); });
}

}  // namespace

void LaunchTrack::touch(std::uint64_t address, std::uint64_t bytes, Touch how) {
  touched_.add(address, bytes, how);
  if (how == Touch::Read || how == Touch::Write) return;
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t stop = std::min(end, address - address % ByteMask::page + ByteMask::page);
    if (how == Touch::AtomicWrite) {
      RaceCheck::active()->signal(*this, {address, stop});
    } else {
      RaceCheck::active()->observe(*this, {address, stop});
    }
    address = stop;
  }
}

RaceCheck* RaceCheck::active() {
  static RaceCheck* const check =
      DeviceModel::instance().check == Check::Race ? new RaceCheck : nullptr;
  return check;
}

void RaceCheck::follow(Command& command, std::span<const CommandPtr> after,
                       const std::string& origin) {
  const std::string what = command.what();
  command.track_ = std::make_shared<LaunchTrack>(what.empty() ? origin : what + ", " + origin);
  command.track_->after_.assign(after.begin(), after.end());
  const Lock lock(mutex_);
  command.track_->known_ = host_;
}

void RaceCheck::begin(Command& command) {
  std::vector<CommandPtr> let_go;
  const Lock lock(mutex_);
  let_go.swap(let_go_);
  if (command.track_ == nullptr) return;
  LaunchTrack& track = *command.track_;
  order(track);
  track.last_ = take_moments(track.clock_);
  track.now_ = {track.last_.chain, track.last_.time - moments_of_a_command + 1};
  track.clock_.set(track.now_);
  track.begun_ = true;
}

/// Adds up what comes before a command.
void RaceCheck::order(LaunchTrack& track) {
  track.clock_ = *std::exchange(track.known_, nullptr);
  for (CommandPtr& before : track.after_) {
    if (before->track_ != nullptr) track.clock_.merge(before->track_->clock_);
    let_go_.push_back(std::move(before));
  }
  track.after_.clear();
}

/// The last moment of a command: in a chain that it continues, if there is one.
Moment RaceCheck::take_moments(const VectorClock& clock) {
  const auto continued = std::ranges::find_if(clock.latest(), [this](const Moment& moment) {
    return chains_[moment.chain] == moment.time;
  });
  auto chain = static_cast<std::uint32_t>(chains_.size());
  if (continued != clock.latest().end()) {
    chain = continued->chain;
  } else {
    chains_.push_back(0);
  }
  return {chain, chains_[chain] += moments_of_a_command};
}

bool RaceCheck::end(Command& command) {
  if (command.track_ == nullptr) return false;
  LaunchTrack& track = *command.track_;
  const Lock lock(mutex_);
  if (!track.begun_) {
    order(track);
    return false;
  }
  if (command.status() == status::success) commit(track);
  track.touched_.clear();
  track.ended_ = true;
  track.clock_.set(track.last_);
  const std::vector<Race> races = std::exchange(track.races_, {});
  const bool raced = command.status() == status::success && !races.empty();
  if (raced) report_races(track.name(), races);
  return raced;
}

void RaceCheck::host_learns(const Command& command) {
  if (command.track_ == nullptr) return;
  const VectorClock& done = command.track_->clock_;
  const Lock lock(mutex_);
  if (knows(*host_, done)) return;
  auto clock = std::make_shared<VectorClock>(*host_);
  clock->merge(done);
  host_ = std::move(clock);
}

/// What is known of a page, of the allocation that was there when it was touched; null when another
/// one has taken its place since.
RaceCheck::Page* RaceCheck::page_for(std::uint64_t number, const TouchedPage& touched) {
  Page& page = pages_[number];
  if (touched.allocation == page.allocation) return &page;
  if (touched.allocation != 0 && touched.allocation < page.allocation) return nullptr;
  page = {};
  page.allocation = touched.allocation;
  return &page;
}

/// Compares what a command touched with all that others did, and lets it be compared with.
void RaceCheck::commit(LaunchTrack& track) {
  for (auto& [number, touched] : track.touched_.pages()) {
    if (touched.private_to_launch) continue;
    Page* page = page_for(number, touched);
    if (page == nullptr) continue;
    const std::uint64_t base = number * ByteMask::page;
    for (Trace& trace : page->traces) {
      if (track.clock_.covers(trace.at)) {
        supersede(trace.touches, touched.touches);
      } else {
        compare(trace, touched.touches, base, track);
      }
    }
    std::erase_if(page->traces, [](const Trace& trace) { return empty(trace.touches); });
    forget_signals(*page, touched.touches, base);
    page->traces.push_back({track.name_, track.now_, std::move(touched.touches)});
  }
  track.touched_.clear();
}

void RaceCheck::compare(const Trace& trace, const Touches& touches, std::uint64_t base,
                        LaunchTrack& track) {
  if (track.races_.size() > most_races) return;
  for (std::size_t i = 0; i < touch_kinds; ++i) {
    for (std::size_t k = 0; k < touch_kinds; ++k) {
      const auto how = static_cast<Touch>(i);
      const auto other_how = static_cast<Touch>(k);
      if (!conflict(how, other_how)) continue;
      std::vector<ByteRun> runs;
      touches[i].append_common(trace.touches[k], base, runs);
      for (const ByteRun& run : runs) track.races_.push_back({*trace.name, how, other_how, run});
    }
  }
}

/// A plain write takes the place of what was signalled there.
void RaceCheck::forget_signals(Page& page, const Touches& touches, std::uint64_t base) {
  const ByteMask& written = touches[static_cast<std::size_t>(Touch::Write)];
  std::erase_if(page.signals, [&](const auto& entry) {
    ByteMask place;
    place.add(entry.first - base, entry.first - base + dword);
    std::vector<ByteRun> runs;
    written.append_common(place, base, runs);
    return !runs.empty();
  });
}

void RaceCheck::signal(LaunchTrack& track, ByteRun bytes) {
  const Lock lock(mutex_);
  Page* page = page_for(bytes.begin / ByteMask::page, track.touched_.at(bytes.begin));
  if (page == nullptr) return;
  for (std::uint64_t at = bytes.begin & ~(dword - 1); at < bytes.end; at += dword) {
    page->signals[at] = {track.shared_from_this(), track.now_};
  }
}

/// An atomic load sees what was signalled there: everything before the signal came before what
/// follows the load.
void RaceCheck::observe(LaunchTrack& track, ByteRun bytes) {
  const Lock lock(mutex_);
  const TouchedPage& touched = track.touched_.at(bytes.begin);
  const bool host_writes = touched.host_writes;
  const Page* page = page_for(bytes.begin / ByteMask::page, touched);
  if (page == nullptr) return;
  for (std::uint64_t at = bytes.begin & ~(dword - 1); at < bytes.end; at += dword) {
    const auto found = page->signals.find(at);
    if (found != page->signals.end()) learn(track, Signal(found->second));
  }
  // The host may have written there after it waited for other work.
  if (host_writes) learn_from_host(track);
}

void RaceCheck::learn_from_host(LaunchTrack& track) {
  if (knows(track.clock_, *host_)) return;
  commit(track);
  track.clock_.merge(*host_);
}

void RaceCheck::learn(LaunchTrack& track, const Signal& signal) {
  LaunchTrack& from = *signal.from;
  if (&from == &track || track.clock_.covers(signal.at)) return;
  commit(track);
  if (!from.ended_ && from.now_ == signal.at) {
    commit(from);
    from.clock_.set({from.now_.chain, ++from.now_.time});
  }
  VectorClock known = from.clock_;
  known.set(signal.at);
  track.clock_.merge(known);
}

}  // namespace hipgraph::emu
