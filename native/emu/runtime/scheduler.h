#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace hipgraph::emu {

class Dispatch;

/// What a round of the scheduler found out.
enum class Outlook : std::uint8_t {
  Idle,     ///< no kernel runs
  Running,  ///< waves advance, or may
  Waiting,  ///< all waves look at memory, some at memory that other processes may write
  Stuck,    ///< nothing but a write from outside can ever change anything
};

/// The running kernels of the process. All their resident waves advance in turns, a slice each a
/// round; workgroups start in linear order as compute units have room, those of the oldest kernel
/// first. Used on the executor's thread only.
class Scheduler {
 public:
  static Scheduler& instance();
  /// Adds a kernel that starts now; its command completes when it ends.
  void add(std::shared_ptr<Dispatch> dispatch);
  /// Lets every resident wave run a slice.
  Outlook round();
  /// Something outside the kernels changed memory: what was found to repeat may go on.
  void note_effect();
  /// Changes with every effect that was noted or seen.
  std::uint64_t effects() const;
  /// After Stuck: whether a wave waits for memory that the host can write without a call.
  bool awaits_host_memory() const;
  /// JSON of the kernels that run and of their waves; empty when none does.
  std::string running_report() const;
  /// After Stuck: reports it and ends all running kernels with a failure.
  void abandon();

 private:
  Scheduler();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hipgraph::emu
