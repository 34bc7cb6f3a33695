#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap.h"
#include "error.h"
#include "team.h"

namespace hipgraph::shmem {

/// A collective call of the host: this thread's turn in the team, as long as it lives. All PEs
/// make the same calls with the same arguments, which `label` spells, or all of them are told.
class Collective {
 public:
  Collective(Bootstrap& bootstrap, Team& team, std::string label)
      : bootstrap_(bootstrap), team_(team), label_(std::move(label)), turn_(team.turn) {}

  /// Runs `body`, which gives bytes for the other PEs, then waits for all of them; their bytes, by
  /// team index. If it fails on one PE, the call fails on all.
  template <class Body>
  std::vector<std::string> exchange(Body&& body) {
    std::optional<Error> error;
    std::string data;
    try {
      data = std::forward<Body>(body)();
    } catch (Error& caught) {
      error = std::move(caught);
    }
    return gather(error, std::move(data));
  }

  /// Waits for all PEs.
  void meet() {
    exchange([] { return std::string(); });
  }

 private:
  std::vector<std::string> gather(const std::optional<Error>& error, std::string data);

  Bootstrap& bootstrap_;
  Team& team_;
  std::string label_;
  std::lock_guard<std::mutex> turn_;
};

}  // namespace hipgraph::shmem
