#include "runtime/report.h"

#include <algorithm>
#include <string>

#include "api/api.h"
#include "runtime/capture_refusal.h"
#include "runtime/executor.h"
#include "runtime/host_function.h"
#include "runtime/stream.h"
#include "runtime/timeline.h"

using namespace hipgraph::emu;

// These are ours, not HIP's.

/// JSON of the last report of a hang, fault or refused code object; null when there was none.
HIPGRAPH_API const char* hipgraphEmuLastReport() {
  const char* json = last_report();
  return *json != '\0' ? json : nullptr;
}

/// Copies the text of the last report, cut to the capacity and ended by a NUL; returns its length.
HIPGRAPH_API std::size_t hipgraphEmuReport(char* text, std::size_t capacity) {
  const std::string report = last_report_text();
  if (text != nullptr && capacity != 0) {
    const std::size_t copied = std::min(report.size(), capacity - 1);
    std::copy_n(report.data(), copied, text);
    text[copied] = '\0';
  }
  return report.size();
}

/// JSON of the first call by which the capture became invalid that this thread ended last: {"call",
/// "code", "other_thread"}; null when it was valid to the end. The text is never freed.
HIPGRAPH_API const char* hipgraphEmuCaptureRefusal() {
  const ApiLock lock(ApiLock::Caller::Library);
  return json_of(this_thread().ended_capture);
}

/// JSON of the nodes of graph launches since the last call, in the order of their submission:
/// [{"kind", "kernel", "device", "stream", "begin", "end"}], in nanoseconds of the monotonic clock;
/// 0 where a node was not reached or did not end. They are kept from a call with 1 to one with 0.
/// The text lasts until the next call.
HIPGRAPH_API const char* hipgraphEmuTimeline(int keep) {
  static std::string& text = *new std::string;
  const ApiLock lock(ApiLock::Caller::Library);
  text = Timeline::instance().take(keep != 0);
  return text.c_str();
}

/// Keeps what a stream does out of the race check from now on: it looks at work that is stuck.
HIPGRAPH_API hipError_t hipgraphEmuLookOn(hipStream_t stream) {
  return entry([&] {
    const ApiLock lock;
    find_stream(stream)->looks_on = true;
  });
}

/// JSON of the kernels that run and of every wave of theirs, as of some moment during the call;
/// null when none runs. It lives until the thread's next call.
HIPGRAPH_API const char* hipgraphEmuRunning() {
  static thread_local std::string json;
  json = Executor::instance().running_report();
  return json.empty() ? nullptr : json.c_str();
}

/// JSON of what the device executed since the last call.
HIPGRAPH_API const char* hipgraphEmuCounters() { return take_counters(); }

/// JSON of how many streams, events, graphs and other objects with a handle live in the process.
HIPGRAPH_API const char* hipgraphEmuLive() { return live_objects(); }

/// No host function is called from now on; for an interpreter that ends while some are queued.
HIPGRAPH_API void hipgraphEmuStopHostFunctions() { stop_host_functions(); }
