#include "runtime/event.h"

#include <array>
#include <bit>

#include "api/api.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/executor.h"
#include "runtime/failures.h"

using namespace hipgraph::emu;

namespace {

constexpr unsigned release_flags =
    hipEventDisableSystemFence | hipEventReleaseToDevice | hipEventReleaseToSystem;
constexpr unsigned known_flags =
    hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | release_flags;

void create(hipEvent_t* event, unsigned flags) {
  clear(required(event));
  require((flags & ~known_flags) == 0, hipErrorInvalidValue);
  require(std::popcount(flags & release_flags) <= 1, hipErrorInvalidValue);
  const bool timed_between_processes =
      (flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0;
  require(!timed_between_processes, hipErrorInvalidValue);
  const bool shared = (flags & hipEventInterprocess) != 0;
  const ApiLock lock;
  *event = create_event(flags, shared ? SharedEvent::make(this_thread().device) : nullptr)->handle;
}

/// An external record that is captured becomes a node, and leaves the event itself alone.
void record_on(const char* call, hipEvent_t event, hipStream_t stream, unsigned flags) {
  const ApiLock lock;
  const EventPtr found = find_event(event);
  const StreamPtr on = find_stream(stream);
  const Admission admission = permit(call, *on);
  require(found->device == on->device, hipErrorInvalidHandle);
  if (admission == Admission::Record && flags == hipEventRecordExternal) {
    record(*on, EventRecordWork{found});
  } else if (admission == Admission::Record) {
    record_event(*found, on);
  } else {
    record_eagerly(*found, on);
  }
}

/// The event, after asking whether a capture forbids the call.
EventPtr permitted_event(const char* call, hipEvent_t event) {
  const EventPtr found = find_event(event);
  permit(call, *found);
  return found;
}

/// Waits for what another process recorded last, if that is not done.
void wait_elsewhere(const SharedEventPtr& shared) {
  if (!shared || !shared->pending_elsewhere()) return;
  const CommandPtr wait = shared->wait();
  Executor::instance().submit(wait, {});
  Executor::instance().wait(wait);
}

}  // namespace

HIPGRAPH_API hipError_t hipEventCreate(hipEvent_t* event) {
  return entry([&] { create(event, hipEventDefault); });
}

HIPGRAPH_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return entry([&] { create(event, flags); });
}

HIPGRAPH_API hipError_t hipEventDestroy(hipEvent_t event) {
  return entry([&] {
    const ApiLock lock;
    destroy_event(event);
  });
}

HIPGRAPH_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return entry([&, call = __func__] { record_on(call, event, stream, hipEventRecordDefault); });
}

HIPGRAPH_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream,
                                                unsigned flags) {
  return entry([&, call = __func__] {
    const bool known = flags == hipEventRecordDefault || flags == hipEventRecordExternal;
    require(known, hipErrorInvalidValue);
    record_on(call, event, stream, flags);
  });
}

HIPGRAPH_API hipError_t hipEventQuery(hipEvent_t event) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const EventPtr found = permitted_event(call, event);
    const hipError_t code = Failures::instance().query({&found->command, 1});
    const bool pending = found->shared && found->shared->pending_elsewhere();
    return code == hipSuccess && pending ? hipErrorNotReady : code;
  });
}

HIPGRAPH_API hipError_t hipEventSynchronize(hipEvent_t event) {
  return entry([&, call = __func__] {
    const auto [command, shared] = [&] {
      const ApiLock lock;
      const EventPtr found = permitted_event(call, event);
      return std::pair{found->command, found->shared};
    }();
    const hipError_t code = Failures::instance().wait({&command, 1});
    if (code == hipSuccess) wait_elsewhere(shared);
    return code;
  });
}

HIPGRAPH_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start,
                                            hipEvent_t stop) {
  return entry([&] {
    require(milliseconds != nullptr, hipErrorInvalidValue);
    const ApiLock lock;
    const EventPtr first = find_event(start);
    const EventPtr last = find_event(stop);
    require(first->device == last->device, hipErrorInvalidHandle);
    require(first->command && last->command, hipErrorInvalidHandle);
    require(first->timed() && last->timed(), hipErrorInvalidHandle);
    const std::array<CommandPtr, 2> both{first->command, last->command};
    const hipError_t code = Failures::instance().query(both);
    if (code == hipSuccess) *milliseconds = elapsed_milliseconds(*first, *last);
    return code;
  });
}
