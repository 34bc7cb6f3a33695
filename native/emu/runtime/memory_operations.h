#pragma once
#include "runtime/command.h"
#include "runtime/node_work.h"

namespace hipgraph::emu {

/// A wait for a value as callers describe it; `flags` are the kind of comparison.
MemoryOperation wait_operation(void* address, std::uint64_t value, unsigned flags,
                               std::uint64_t mask, unsigned bytes);
/// A write of a value.
MemoryOperation write_operation(void* address, std::uint64_t value, unsigned bytes);
/// A batch of operations as callers describe them, which must not be empty, too long or flagged.
std::vector<MemoryOperation> operations_of(const hipStreamBatchMemOpParams* params, unsigned count,
                                           unsigned flags);
/// An operation as callers describe it.
hipStreamBatchMemOpParams params_of(const MemoryOperation& operation);
/// Checks one operation of a stream: a write, or a wait for a value, of memory of this library.
void check_memory_operation(const MemoryOperation& operation);
/// The command that does operations one after another.
CommandPtr make_memory_operations(const MemoryWork& work);

/// Streams that wait for a value in memory. Used on the executor's thread only.
class ValueWaits {
 public:
  static ValueWaits& instance();
  /// Lets go on what now sees its value; whether any is left that does not.
  bool poll();
  /// Whether one waits for memory that the host can write without a call.
  bool awaits_host_memory() const;
  /// Reports those that are left and ends them with a failure.
  void abandon();
};

}  // namespace hipgraph::emu
