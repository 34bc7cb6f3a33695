#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "hip_abi.h"
#include "runtime/shared_event.h"
#include "runtime/stream.h"

namespace hipgraph::emu {

/// When a recorded point was reached, in nanoseconds of the host's steady clock; written by the
/// executor's thread.
struct Timestamp {
  std::atomic<std::int64_t> nanoseconds{0};
};

/// A point in a stream, eager or inside a capture.
struct Event {
  hipEvent_t handle = nullptr;
  int device = 0;
  unsigned flags = hipEventDefault;
  std::weak_ptr<Stream> stream;          ///< where it was last recorded
  CommandPtr command;                    ///< null: never recorded eagerly
  std::shared_ptr<Timestamp> timestamp;  ///< null with hipEventDisableTiming
  SharedEventPtr shared;                 ///< null without hipEventInterprocess
  std::shared_ptr<Capture> capture;      ///< the capture it was last recorded in
  std::vector<hipGraphNode_t> nodes;     ///< the frontier at that record

  /// Whether the last record was made in a capture that is still open.
  bool captured() const;
  bool timed() const { return (flags & hipEventDisableTiming) == 0; }
};
using EventPtr = std::shared_ptr<Event>;

/// The live event behind a handle; null and unknown ones are invalid handles.
EventPtr find_event(hipEvent_t handle);
/// The live event behind a handle, or null.
EventPtr live_event(hipEvent_t handle);
/// A new event of the current device; `shared` when other processes may know it.
EventPtr create_event(unsigned flags, SharedEventPtr shared);
/// Forgets an event; a pending record is still carried out.
void destroy_event(hipEvent_t handle);
/// Forgets every event of a device.
void destroy_events(int device);
/// Makes the event stand for a command that is still to be handed over, on `stream`.
CommandPtr begin_record(Event& event, const StreamPtr& stream);
/// Puts the event behind all work of `stream`.
void record_eagerly(Event& event, const StreamPtr& stream);
/// Milliseconds from one completed record to another.
float elapsed_milliseconds(const Event& start, const Event& stop);

}  // namespace hipgraph::emu
