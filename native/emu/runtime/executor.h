#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/command.h"

namespace hipgraph::emu {

/// Runs commands: one thread a process that starts ready commands and gives every resident wave of
/// every running kernel a slice in turn. A separate thread runs host functions.
/// Process-wide, created at first use, never destroyed before the process's threads end.
class Executor {
 public:
  static Executor& instance();

  /// Hands over a command that runs after all of `after`. A command whose predecessor failed,
  /// before or after this call, is not started: it completes with the same status.
  void submit(const CommandPtr& command, std::span<const CommandPtr> after);
  /// Submits a whole graph at once, so that none of it starts before all edges are known:
  /// `after[i]` are the predecessors of `commands[i]`.
  void submit_all(std::span<const CommandPtr> commands,
                  std::span<const std::vector<CommandPtr>> after);
  /// Blocks the calling host thread until `command` is complete; returns its status. The executor
  /// knows that this host thread waits (a hang is reported at once when no thread could still
  /// help).
  Status wait(const CommandPtr& command);
  /// Whether `command` is complete.
  bool complete(const CommandPtr& command);
  /// Whether one of `later` is `earlier`, or runs only after it; `earlier` may complete meanwhile.
  bool precedes(const CommandPtr& earlier, std::span<const CommandPtr> later);
  /// JSON of the kernels that run, as of some moment during the call; empty when none does.
  std::string running_report();
  /// Marks an externally running command (host function) complete. Called from any thread.
  void finish(const CommandPtr& command, Status status);

 private:
  Executor();
  struct State;
  std::unique_ptr<State> state_;
};

/// A command that does nothing: joins several predecessors.
CommandPtr make_marker();
/// Copies bytes that both addresses were checked for; host or device.
CommandPtr make_copy(void* to, const void* from, std::size_t bytes);
/// Copies rows: 2-D and 3-D copies are lists of these.
struct CopyRegion {
  std::byte* to;
  const std::byte* from;
  std::size_t width, height, depth;
  std::size_t to_pitch, from_pitch, to_slice, from_slice;
};
CommandPtr make_copy_region(const CopyRegion& region);
/// Fills depth slices of height rows of width elements of element_size bytes (1, 2, 4); pitch and
/// slice in bytes.
struct FillRegion {
  std::byte* to;
  std::uint32_t value;
  std::uint32_t element_size;
  std::size_t width, height, pitch;
  std::size_t depth, slice;
};
CommandPtr make_fill(const FillRegion& region);
/// Runs a host function on the runtime's callback thread; later commands wait for its return.
CommandPtr make_host_function(void (*function)(void*), void* user_data);
/// Runs `action` on the executor's thread (timestamps, stream-ordered frees).
CommandPtr make_action(void (*action)(void*), std::shared_ptr<void> state);

}  // namespace hipgraph::emu
