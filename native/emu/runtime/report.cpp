#include "runtime/report.h"

#include <cstdio>
#include <mutex>

#include "runtime/counters.h"
#include "runtime/handle_table.h"

namespace hipgraph::emu {
namespace {

/// What the process last had to say.
struct Reports {
  std::mutex mutex;
  std::string text, json, counters, live;
};

Reports& reports() {
  static Reports& kept = *new Reports();
  return kept;
}

}  // namespace

void publish_report(const std::string& text, const std::string& json) {
  Reports& kept = reports();
  const std::lock_guard lock(kept.mutex);
  kept.text = text;
  kept.json = json;
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

const char* last_report() {
  Reports& kept = reports();
  const std::lock_guard lock(kept.mutex);
  return kept.json.c_str();
}

std::string last_report_text() {
  Reports& kept = reports();
  const std::lock_guard lock(kept.mutex);
  return kept.text;
}

const char* take_counters() {
  Reports& kept = reports();
  const std::lock_guard lock(kept.mutex);
  kept.counters = Counters::take();
  return kept.counters.c_str();
}

const char* live_objects() {
  Reports& kept = reports();
  const std::lock_guard lock(kept.mutex);
  kept.live = live_counts();
  return kept.live.c_str();
}

}  // namespace hipgraph::emu
