#include "calls.h"

#include <algorithm>

#include "text.h"

namespace hipgraph::shmem {
namespace {

Message gathered(const CallKey& key, const std::map<int, Contribution>& arrived) {
  Message message;
  message.kind = MessageKind::Gathered;
  message.key = key;
  for (const auto& [pe, contribution] : arrived) message.contributions.push_back(contribution);
  return message;
}

}  // namespace

PeMask Calls::Call::mask() const {
  PeMask mask = 0;
  for (const auto& [pe, contribution] : arrived) mask |= bit(pe);
  return mask;
}

std::vector<Answer> Calls::arrive(int pe, const Message& gather) {
  const auto [place, fresh] = calls_.try_emplace(gather.key);
  Call& call = place->second;
  if (fresh) {
    call.milliseconds = gather.milliseconds;
    call.deadline = Clock::now() + std::chrono::milliseconds(gather.milliseconds);
  }
  call.arrived[pe] = gather.contributions.front();
  std::vector<Answer> answers;
  if (const PeMask lost = gather.key.members & lost_mask_; lost != 0 && !call.failure) {
    const auto& [first, why] = *std::ranges::find_if(
        lost_, [lost](const auto& entry) { return contains(lost, entry.first); });
    answers.push_back(fail_call(*place, HGS_PEER_LOST, why));
  } else if (call.failure) {
    answers.push_back({bit(pe), *call.failure});
  } else if (call.mask() == gather.key.members) {
    answers.push_back({gather.key.members, gathered(gather.key, call.arrived)});
  }
  if (settled(*place)) calls_.erase(place);
  return answers;
}

std::vector<Answer> Calls::lose(int pe, const std::string& why) {
  lost_[pe] = why;
  lost_mask_ |= bit(pe);
  std::vector<Answer> answers;
  for (Entry& entry : calls_) {
    const bool member = contains(entry.first.members, pe);
    if (member && !entry.second.failure) answers.push_back(fail_call(entry, HGS_PEER_LOST, why));
  }
  std::erase_if(calls_, [this](const Entry& entry) { return settled(entry); });
  return answers;
}

std::vector<Answer> Calls::expire(Clock::time_point now) {
  std::vector<Answer> answers;
  for (Entry& entry : calls_) {
    if (entry.second.failure || entry.second.deadline > now) continue;
    answers.push_back(fail_call(entry, HGS_TIMEOUT, timeout_text(entry)));
  }
  return answers;
}

std::optional<Clock::time_point> Calls::next_deadline() const {
  std::optional<Clock::time_point> next;
  for (const auto& [key, call] : calls_) {
    if (!call.failure && (!next || call.deadline < *next)) next = call.deadline;
  }
  return next;
}

/// Those who come later get the same answer, so that the PEs stay in step for their next call.
Answer Calls::fail_call(Entry& entry, hgs_status status, std::string why) {
  Message failure;
  failure.kind = MessageKind::Failed;
  failure.key = entry.first;
  failure.status = status;
  failure.text = text(entry.second.arrived.begin()->second.label, ": ", why);
  entry.second.failure = failure;
  return {entry.second.mask(), failure};
}

std::string Calls::timeout_text(const Entry& entry) const {
  const auto& [key, call] = entry;
  const PeMask missing = key.members & ~call.mask();
  std::string whole = text(pes(missing), " did not come within ",
                           static_cast<double>(call.milliseconds) / 1000, " s (");
  const char* separator = "";
  for (int pe = 0; pe < 64; ++pe) {
    if (!contains(missing, pe)) continue;
    whole += separator + whereabouts(pe);
    separator = "; ";
  }
  return whole + "); here: " + pes(call.mask());
}

std::string Calls::whereabouts(int pe) const {
  for (const auto& [key, call] : calls_) {
    const auto here = call.arrived.find(pe);
    if (here != call.arrived.end() && !call.failure) {
      return text("PE ", pe, " is in ", here->second.label);
    }
  }
  return text("PE ", pe, " is in no collective call");
}

bool Calls::settled(const Entry& entry) const {
  return ((entry.second.mask() | lost_mask_) & entry.first.members) == entry.first.members;
}

}  // namespace hipgraph::shmem
