#include "runtime/timeline.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "runtime/executor.h"
#include "runtime/json.h"

namespace hipgraph::emu {

struct Timeline::Span {
  hipGraphNodeType kind;
  std::string kernel;  ///< empty for other kinds of nodes
  int device;
  hipStream_t stream;
  std::atomic<std::int64_t> begin = 0;  ///< nanoseconds of the steady clock; 0: not reached
  std::atomic<std::int64_t> end = 0;    ///< 0: not ended, or not well
};

namespace {

std::int64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

Timeline& Timeline::instance() {
  static Timeline& timeline = *new Timeline;
  return timeline;
}

Timeline::SpanPtr Timeline::add(const NodeWork& work, int device, hipStream_t stream) {
  if (!on_) return nullptr;
  const auto* kernel = std::get_if<KernelWork>(&work);
  auto span = std::make_shared<Span>(type_of(work), kernel ? kernel->function->kernel->name : "",
                                     device, stream);
  spans_.push_back(span);
  return span;
}

CommandPtr Timeline::begin_of(const SpanPtr& span) {
  return make_action([](void* of) { static_cast<Span*>(of)->begin = now(); }, span);
}

CommandPtr Timeline::end_of(const SpanPtr& span) {
  return make_action([](void* of) { static_cast<Span*>(of)->end = now(); }, span);
}

std::string Timeline::take(bool on) {
  on_ = on;
  JsonArray taken;
  for (const SpanPtr& span : std::exchange(spans_, {})) {
    taken.add_raw(JsonObject()
                      .add("kind", static_cast<int>(span->kind))
                      .add("kernel", span->kernel)
                      .add("device", span->device)
                      .add("stream", reinterpret_cast<std::uintptr_t>(span->stream))
                      .add("begin", span->begin.load())
                      .add("end", span->end.load())
                      .text());
  }
  return taken.text();
}

}  // namespace hipgraph::emu
