#pragma once
#include <string>

namespace hipgraph::emu {

/// Publishes a report (hang, fault): text on stderr, both kept as the last report of the process.
void publish_report(const std::string& text, const std::string& json);
/// JSON of the last report; empty when there was none. The pointer stays valid until the next
/// report.
const char* last_report();
/// Text of the last report, as it went to stderr; empty when there was none.
std::string last_report_text();
/// JSON of instructions executed by class, launches and waves since the last call.
const char* take_counters();
/// JSON of how many objects of each kind live.
const char* live_objects();

}  // namespace hipgraph::emu
