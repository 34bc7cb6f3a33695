#include "runtime/handle_table.h"

#include <map>
#include <mutex>

#include "runtime/json.h"

namespace hipgraph::emu {
namespace {

/// One count a kind; none is ever removed.
struct LiveCounts {
  std::mutex mutex;
  std::map<std::string, std::atomic<std::uint64_t>> by_kind;
};

LiveCounts& counts() {
  static LiveCounts& all = *new LiveCounts;
  return all;
}

}  // namespace

std::uintptr_t new_handle_value() {
  static std::atomic<std::uintptr_t> next{0x10000};
  return next.fetch_add(16);
}

std::atomic<std::uint64_t>& live_count(const char* kind) {
  const std::lock_guard lock(counts().mutex);
  return counts().by_kind[kind];
}

std::string live_counts() {
  const std::lock_guard lock(counts().mutex);
  JsonObject json;
  for (const auto& [kind, live] : counts().by_kind) json.add(kind.c_str(), live.load());
  return json.text();
}

}  // namespace hipgraph::emu
