#include "api/api.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/failures.h"
#include "runtime/memory_checks.h"
#include "runtime/node_commands.h"

using namespace hipgraph::emu;

namespace {

bool nothing_to_fill(const hipExtent& extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

}  // namespace

// As with the other fills, the host waits only where it can see the memory.
HIPGRAPH_API hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return entry([&, call = __func__] {
    CommandPtr command;
    {
      const ApiLock lock;
      permit(call);
      if (nothing_to_fill(extent)) return hipSuccess;
      const StreamPtr stream = find_stream(nullptr);
      command = make_command(check_fill_volume(to, value, extent), stream->device, {});
      enqueue(*stream, command);
      if (is_device_memory(to.ptr)) return hipSuccess;
    }
    return Failures::instance().wait({&command, 1});
  });
}

HIPGRAPH_API hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent,
                                         hipStream_t stream) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    if (nothing_to_fill(extent)) return;
    const MemsetWork work = check_fill_volume(to, value, extent);
    if (admission == Admission::Record) {
      record(*found, work);
    } else {
      enqueue(*found, make_command(work, found->device, {}));
    }
  });
}
