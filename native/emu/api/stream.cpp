#include "runtime/stream.h"

#include <algorithm>

#include "api/api.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/divergence.h"
#include "runtime/failures.h"

using namespace hipgraph::emu;

namespace {

constexpr int lowest_priority = 1;
constexpr int highest_priority = -1;

void create(hipStream_t* stream, unsigned flags, int priority) {
  clear(required(stream));
  require(flags == hipStreamDefault || flags == hipStreamNonBlocking, hipErrorInvalidValue);
  const ApiLock lock;
  *stream = create_stream(flags, std::clamp(priority, highest_priority, lowest_priority))->handle;
}

/// Lets `stream` wait for what this process recorded last.
void wait_event(const char* call, Stream& stream, const Event& awaited) {
  const StreamPtr recorded_on = awaited.stream.lock();
  if (!recorded_on) return;
  if (awaited.captured()) {
    wait_captured_event(call, stream, awaited);
    return;
  }
  require(awaited.command == nullptr || !recorded_on->capturing(), hipErrorStreamCaptureIsolation);
  if (awaited.command == nullptr || recorded_on.get() == &stream) return;
  if (stream.capturing()) diverge(Divergence::UncapturedEvent);
  wait_for_command(stream, awaited.command);
}

}  // namespace

HIPGRAPH_API hipError_t hipStreamCreate(hipStream_t* stream) {
  return entry([&] { create(stream, hipStreamDefault, 0); });
}

HIPGRAPH_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return entry([&] { create(stream, flags, 0); });
}

HIPGRAPH_API hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags,
                                                    int priority) {
  return entry([&] { create(stream, flags, priority); });
}

HIPGRAPH_API hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return entry([&] {
    if (least != nullptr) *least = lowest_priority;
    if (greatest != nullptr) *greatest = highest_priority;
  });
}

HIPGRAPH_API hipError_t hipStreamDestroy(hipStream_t stream) {
  return entry([&] {
    const bool reserved = stream == stream_legacy || stream == stream_per_thread;
    require(stream != nullptr && !reserved, hipErrorInvalidHandle);
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    leave_capture(*found);
    destroy_stream(found);
  });
}

HIPGRAPH_API hipError_t hipStreamSynchronize(hipStream_t stream) {
  return entry([&, call = __func__] {
    const auto work = [&] {
      const ApiLock lock;
      const StreamPtr found = find_stream(stream);
      permit(call, *found);
      return work_of(stream, *found);
    }();
    return Failures::instance().wait(work);
  });
}

HIPGRAPH_API hipError_t hipStreamQuery(hipStream_t stream) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    permit(call, *found);
    return Failures::instance().query(work_of(stream, *found));
  });
}

HIPGRAPH_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return entry([&] {
    require(stream != nullptr, hipErrorInvalidValue);
    const ApiLock lock;
    *required(flags) = find_stream(stream)->flags;
  });
}

HIPGRAPH_API hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return entry([&] {
    const ApiLock lock;
    *required(priority) = find_stream(stream)->priority;
  });
}

HIPGRAPH_API hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return entry([&] {
    const ApiLock lock;
    *required(device) = find_stream(stream)->device;
  });
}

HIPGRAPH_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const EventPtr awaited = find_event(event);
    require(flags == hipEventWaitDefault || flags == hipEventWaitExternal, hipErrorInvalidValue);
    const StreamPtr found = find_stream(stream);
    const bool external = flags == hipEventWaitExternal;
    require(!external || found->capturing(), hipErrorInvalidHandle);
    permit(call, *found);
    if (external) {
      record(*found, EventWaitWork{awaited});
      return;
    }
    if (awaited->shared && awaited->shared->pending_elsewhere()) {
      if (found->capturing()) diverge(Divergence::UncapturedEvent);
      enqueue(*found, awaited->shared->wait());
    } else {
      wait_event(call, *found, *awaited);
    }
  });
}
