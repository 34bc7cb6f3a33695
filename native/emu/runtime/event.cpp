#include "runtime/event.h"

#include <chrono>

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/capture.h"
#include "runtime/executor.h"
#include "runtime/handle_table.h"

namespace hipgraph::emu {
namespace {

HandleTable<hipEvent_t, Event>& events() {
  static auto& all = *new HandleTable<hipEvent_t, Event>("events");
  return all;
}

void stamp(void* state) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  static_cast<Timestamp*>(state)->nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

bool Event::captured() const { return capture != nullptr && capture->open; }

EventPtr live_event(hipEvent_t handle) { return events().find(handle); }

EventPtr find_event(hipEvent_t handle) {
  EventPtr event = live_event(handle);
  abi::require(event != nullptr, hipErrorInvalidHandle);
  return event;
}

EventPtr create_event(unsigned flags, SharedEventPtr shared) {
  auto event = std::make_shared<Event>();
  event->device = this_thread().device;
  event->flags = flags;
  event->shared = std::move(shared);
  events().insert(event);
  return event;
}

void destroy_event(hipEvent_t handle) {
  abi::require(handle != nullptr, hipErrorInvalidHandle);
  abi::require(events().find(handle) != nullptr, hipErrorContextIsDestroyed);
  events().erase(handle);
}

void destroy_events(int device) {
  std::vector<hipEvent_t> handles;
  for (const auto& [handle, event] : events().all()) {
    if (event->device == device) handles.push_back(handle);
  }
  for (const hipEvent_t handle : handles) events().erase(handle);
}

CommandPtr begin_record(Event& event, const StreamPtr& stream) {
  event.capture.reset();
  event.nodes.clear();
  event.stream = stream;
  if (event.shared) {
    event.command = event.shared->record();
  } else if (event.timed()) {
    event.timestamp = std::make_shared<Timestamp>();
    event.command = make_action(stamp, event.timestamp);
  } else {
    event.command = make_marker();
  }
  return event.command;
}

void record_eagerly(Event& event, const StreamPtr& stream) {
  enqueue(*stream, begin_record(event, stream));
}

float elapsed_milliseconds(const Event& start, const Event& stop) {
  const std::int64_t nanoseconds = stop.timestamp->nanoseconds - start.timestamp->nanoseconds;
  return static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
}

}  // namespace hipgraph::emu
