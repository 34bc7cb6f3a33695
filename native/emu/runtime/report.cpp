#include "runtime/report.h"

#include <cstdio>
#include <mutex>

#include "runtime/counters.h"

namespace hipgraph::emu {
namespace {

/// What the process last had to say.
struct Reports {
  std::mutex mutex;
  std::string text, json, counters;
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

}  // namespace hipgraph::emu
