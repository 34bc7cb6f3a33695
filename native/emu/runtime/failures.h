#pragma once
#include <set>
#include <span>

#include "hip_abi.h"
#include "runtime/executor.h"

namespace hipgraph::emu {

/// Failures of device work and which of them the host was told. A failure stops all later work that
/// depends on it until a synchronising call returns its code, once; from then on it counts as done.
class Failures {
 public:
  static Failures& instance();

  /// Waits for all commands (null ones are ignored) without the API lock, then reports: the code of
  /// the first failure not yet reported, all of theirs being reported by that. Takes the API lock.
  hipError_t wait(std::span<const CommandPtr> commands);
  /// NotReady, success, or the code of a failure not yet reported. Needs the API lock.
  hipError_t query(std::span<const CommandPtr> commands);
  /// Whether work may depend on `command`: null and reported failures are dropped. Needs the API
  /// lock.
  bool orders(const CommandPtr& command) const;

 private:
  hipError_t report(std::span<const CommandPtr> commands);
  std::set<std::uint64_t> reported_;
};

}  // namespace hipgraph::emu
