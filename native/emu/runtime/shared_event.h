#pragma once
#include <cstdint>
#include <memory>

#include "hip_abi.h"
#include "runtime/command.h"

namespace hipgraph::emu {

/// What the processes that share an event know of it: how many records were asked for, and the last
/// of them whose work is done. It lies in memory that all of them map.
class SharedEvent : public std::enable_shared_from_this<SharedEvent> {
 public:
  /// For a new event of this process; fails with OutOfMemory.
  static std::shared_ptr<SharedEvent> make(int device);
  /// Of another process's event; fails as opening handles does. Not under the API lock.
  static std::shared_ptr<SharedEvent> open(const hipIpcEventHandle_t& handle, int device);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  /// A handle for others. Not under the API lock.
  hipIpcEventHandle_t handle() const;
  /// Asks for a record: the command that makes it, still to be handed over.
  CommandPtr record();
  /// Whether the last record is another process's, and not done.
  bool pending_elsewhere() const;
  /// A command that completes when what is recorded now is done.
  CommandPtr wait();

 private:
  struct State;
  struct Record;
  SharedEvent(std::uint64_t base, bool imported);
  static void finish(void* record);

  const std::uint64_t base_;
  const bool imported_;
  std::uint64_t last_own_ = 0;  ///< number of this process's last record
};
using SharedEventPtr = std::shared_ptr<SharedEvent>;

}  // namespace hipgraph::emu
