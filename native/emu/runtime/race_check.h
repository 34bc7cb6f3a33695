#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/command.h"
#include "runtime/touched_memory.h"
#include "runtime/vector_clock.h"

namespace hipgraph::emu {

/// Bytes that two commands touched with nothing to order the two.
struct Race {
  std::string other;  ///< the one that ended first
  Touch how;          ///< the one that ended last touched them
  Touch other_how;
  ByteRun bytes;
};

/// What the race check knows of one command: what comes before it, and what it touches.
class LaunchTrack final : public TouchListener, public std::enable_shared_from_this<LaunchTrack> {
 public:
  explicit LaunchTrack(std::string name)
      : name_(std::make_shared<const std::string>(std::move(name))) {}

  void touch(std::uint64_t address, std::uint64_t bytes, Touch how) override;
  /// Calls the command by what was only known when it started.
  void rename(std::string name) { name_ = std::make_shared<const std::string>(std::move(name)); }
  const std::string& name() const { return *name_; }

 private:
  friend class RaceCheck;
  std::shared_ptr<const std::string> name_;
  std::vector<CommandPtr> after_;             ///< until it begins
  std::shared_ptr<const VectorClock> known_;  ///< what the host knew to be done
  VectorClock clock_;
  Moment now_, last_;  ///< the last one stands for all that it did
  bool begun_ = false, ended_ = false;
  TouchedMemory touched_;  ///< since it began, or since it last learned or told of another
  std::vector<Race> races_;
};

/// HIPGRAPH_EMU_CHECK=race: finds device work that touches the same bytes, with nothing but luck to
/// order it. What orders is known of every command; what the device happened to do first does not
/// count. Thread safe.
class RaceCheck {
 public:
  /// The check of the process, or null when nobody asked for it.
  static RaceCheck* active();

  /// Follows a command that is about to be submitted, and that only `after` orders.
  void follow(Command& command, std::span<const CommandPtr> after, const std::string& origin);
  /// The command starts now: whatever it comes after is complete.
  void begin(Command& command);
  /// The command ends, or will never start; whether it raced. A race is reported here.
  bool end(Command& command);
  /// The host knows that a command is complete: what it submits from now on comes after it.
  void host_learns(const Command& command);

 private:
  friend class LaunchTrack;
  /// Somebody's atomic write.
  struct Signal {
    std::shared_ptr<LaunchTrack> from;
    Moment at;
  };
  /// What a command touched of a page, as far as it still matters.
  struct Trace {
    std::shared_ptr<const std::string> name;
    Moment at;
    Touches touches;
  };
  /// Who touched a page of an allocation.
  struct Page {
    std::uint64_t allocation = 0;
    std::vector<Trace> traces;
    std::unordered_map<std::uint64_t, Signal> signals;  ///< by dword address
  };

  void order(LaunchTrack& track);
  Moment take_moments(const VectorClock& clock);
  Page* page_for(std::uint64_t number, const TouchedPage& touched);
  void commit(LaunchTrack& track);
  void compare(const Trace& trace, const Touches& touches, std::uint64_t base, LaunchTrack& track);
  void forget_signals(Page& page, const Touches& touches, std::uint64_t base);
  void signal(LaunchTrack& track, ByteRun bytes);
  void observe(LaunchTrack& track, ByteRun bytes);
  void learn_from_host(LaunchTrack& track);
  void learn(LaunchTrack& track, const Signal& signal);

  std::mutex mutex_;
  std::vector<std::uint64_t> chains_;  ///< the last moment of each
  std::shared_ptr<const VectorClock> host_ = std::make_shared<VectorClock>();
  std::unordered_map<std::uint64_t, Page> pages_;  ///< by page number
  std::vector<CommandPtr> let_go_;  ///< to be destroyed by the executor's thread, unlocked
};

}  // namespace hipgraph::emu
