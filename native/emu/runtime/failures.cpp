#include "runtime/failures.h"

#include <algorithm>

#include "runtime/api_lock.h"
#include "runtime/graph_memory.h"
#include "runtime/memory_pools.h"
#include "runtime/race_check.h"

namespace hipgraph::emu {

Failures& Failures::instance() {
  static Failures& failures = *new Failures;
  return failures;
}

hipError_t Failures::wait(std::span<const CommandPtr> commands) {
  for (const CommandPtr& command : commands) {
    if (command) Executor::instance().wait(command);
  }
  trim_pools();
  trim_graph_memory();
  const ApiLock lock;
  return report(commands);
}

hipError_t Failures::query(std::span<const CommandPtr> commands) {
  const bool done = std::ranges::all_of(commands, [](const CommandPtr& command) {
    return !command || Executor::instance().complete(command);
  });
  if (!done) return hipErrorNotReady;
  if (RaceCheck* check = RaceCheck::active()) {
    for (const CommandPtr& command : commands) {
      if (command) check->host_learns(*command);
    }
  }
  // Asking is not being told: whoever waits for the work still gets the code.
  for (const CommandPtr& command : commands) {
    if (command && command->failure() != 0 && !reported_.contains(command->failure())) {
      return static_cast<hipError_t>(command->status());
    }
  }
  return hipSuccess;
}

bool Failures::orders(const CommandPtr& command) const {
  if (!command) return false;
  return reported_.empty() || !Executor::instance().complete(command) ||
         !reported_.contains(command->failure());
}

hipError_t Failures::report(std::span<const CommandPtr> commands) {
  Status first = 0;
  for (const CommandPtr& command : commands) {
    if (!command || command->failure() == 0) continue;
    const bool fresh = reported_.insert(command->failure()).second;
    if (fresh && first == 0) first = command->status();
  }
  return static_cast<hipError_t>(first);
}

}  // namespace hipgraph::emu
