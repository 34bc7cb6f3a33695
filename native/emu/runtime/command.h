#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/memory.h"

namespace hipgraph::emu {

class LaunchTrack;

/// Error a command ended with, as a hipError_t number; 0 is success.
using Status = int;

/// How a command stands after `start`.
enum class Progress : std::uint8_t {
  Complete,  ///< done within start()
  Running,   ///< the executor goes on calling step(), or waits for finish() from another thread
};

/// One unit of device work. The executor starts it when everything it waits for has completed;
/// commands form a directed acyclic graph across all streams of the process.
class Command {
 public:
  virtual ~Command() = default;
  /// Begins the work, on the executor's thread. May throw nothing; a failure is a Status.
  virtual Progress start() = 0;
  /// What reports call the work ("copy"); empty where it touches no memory.
  virtual std::string what() const { return {}; }
  /// Status once complete.
  Status status() const { return status_; }
  /// Whether the command completed (reads are ordered by the executor's lock).
  bool complete() const { return complete_; }
  /// Which failure this command's status comes from: numbered from 1 by the executor when a command
  /// fails by itself, inherited by every command that was not started because of it; 0 is success.
  std::uint64_t failure() const { return failure_; }

 protected:
  /// Tells the race check, if there is one, that the command touches these bytes now.
  void touch(const void* begin, std::size_t bytes, Touch how);
  /// What the race check knows of the command; null when there is none.
  LaunchTrack* track() const { return track_.get(); }
  /// Set by the command before it completes.
  Status status_ = 0;

 private:
  friend class Executor;
  friend class RaceCheck;
  std::vector<std::shared_ptr<Command>> dependents_;
  std::uint32_t waits_for_ = 0;
  std::uint64_t failure_ = 0;
  bool complete_ = false;
  std::shared_ptr<LaunchTrack> track_;
};

using CommandPtr = std::shared_ptr<Command>;

}  // namespace hipgraph::emu
