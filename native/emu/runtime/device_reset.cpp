#include "runtime/device_reset.h"

#include "runtime/address_space.h"
#include "runtime/api_lock.h"
#include "runtime/capture.h"
#include "runtime/device_settings.h"
#include "runtime/event.h"
#include "runtime/failures.h"
#include "runtime/graph_memory.h"
#include "runtime/memory_pools.h"
#include "runtime/stream.h"

namespace hipgraph::emu {
namespace {

/// Whether memory is a caller's own, and of no pool, graph, program or other process.
bool is_callers(AllocationKind kind) {
  return kind == AllocationKind::Device || kind == AllocationKind::Pinned ||
         kind == AllocationKind::Managed || kind == AllocationKind::Registered;
}

}  // namespace

void reset_device(int device) {
  const auto work = [device] {
    const ApiLock lock;
    return work_of_device(device);
  }();
  Failures::instance().wait(work);  // failures end with the reset: nobody is told
  {
    const ApiLock lock;
    for (const StreamPtr& stream : streams_of(device)) {
      leave_capture(*stream);
      if (stream->handle != stream_per_thread) destroy_stream(stream);
    }
    destroy_events(device);
    free_graph_memory(device);
    reset_pools(device);
  }
  for (const Allocation& allocation : AddressSpace::instance().live(device)) {
    if (is_callers(allocation.kind)) AddressSpace::instance().release(allocation.base);
  }
  device_settings(device).flags = hipDeviceScheduleSpin;
}

}  // namespace hipgraph::emu
