#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "message.h"
#include "pe_mask.h"
#include "socket.h"

namespace hipgraph::shmem {

/// A message for some PEs.
struct Answer {
  PeMask pes;
  Message message;
};

/// The collective calls that some PE has begun and not every PE has come to yet. Knows no socket.
class Calls {
 public:
  /// PE `pe` comes to a call; the answers that this settles.
  std::vector<Answer> arrive(int pe, const Message& gather);
  /// PE `pe` died or left: fails what cannot complete without it.
  std::vector<Answer> lose(int pe, const std::string& why);
  /// Fails what waits longer than its first PE allows.
  std::vector<Answer> expire(Clock::time_point now);
  /// When `expire` has something to do; nothing if never.
  std::optional<Clock::time_point> next_deadline() const;

 private:
  struct Call {
    std::map<int, Contribution> arrived;
    Clock::time_point deadline;
    std::int64_t milliseconds = 0;
    std::optional<Message> failure;

    PeMask mask() const;
  };
  using Entry = std::map<CallKey, Call>::value_type;

  Answer fail_call(Entry& entry, hgs_status status, std::string why);
  std::string timeout_text(const Entry& entry) const;
  std::string whereabouts(int pe) const;
  bool settled(const Entry& entry) const;

  std::map<CallKey, Call> calls_;
  std::map<int, std::string> lost_;
  PeMask lost_mask_ = 0;
};

}  // namespace hipgraph::shmem
