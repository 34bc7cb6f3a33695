#include "api/api.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/divergence.h"
#include "runtime/failures.h"
#include "runtime/memory_checks.h"
#include "runtime/node_commands.h"

using namespace hipgraph::emu;

namespace {

/// A copy on the null stream that the host waits for, unless both sides are device memory.
hipError_t copy_blocking(const char* call, void* to, const void* from, std::size_t bytes,
                         hipMemcpyKind kind) {
  CommandPtr command;
  {
    const ApiLock lock;
    permit(call);
    const CheckedCopy copy = check_copy(to, from, bytes, kind);
    if (copy.bytes == 0) return hipSuccess;
    command = make_eager_copy(copy);
    enqueue(*find_stream(nullptr), command);
    if (copy.on_device) return hipSuccess;
  }
  return Failures::instance().wait({&command, 1});
}

void check_kind(hipMemcpyKind kind) {
  const bool known = (kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) ||
                     kind == hipMemcpyDeviceToDeviceNoCU;
  require(known, hipErrorInvalidMemcpyDirection);
}

void copy_on_stream(const char* call, void* to, const void* from, std::size_t bytes,
                    hipMemcpyKind kind, hipStream_t stream) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  const Admission admission = permit(call, *found);
  check_kind(kind);
  if (admission == Admission::Record) {
    if (bytes == 0) diverge(Divergence::EmptyCopy);
    record(*found, check_copy_node(to, from, bytes, kind));
    return;
  }
  const CheckedCopy copy = check_copy(to, from, bytes, kind);
  if (copy.bytes != 0) enqueue(*found, make_eager_copy(copy));
}

/// A 2-D copy's parameters, checked as far as both the eager and the recorded form do.
hipMemcpy3DParms checked_2d(void* to, std::size_t to_pitch, const void* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            hipMemcpyKind kind) {
  require(width <= to_pitch && width <= from_pitch, hipErrorInvalidPitchValue);
  return region_of_2d(to, to_pitch, from, from_pitch, width, height, kind);
}

}  // namespace

HIPGRAPH_API hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes,
                                  hipMemcpyKind kind) {
  return entry([&, call = __func__] { return copy_blocking(call, to, from, bytes, kind); });
}

HIPGRAPH_API hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, std::size_t bytes) {
  return entry(
      [&, call = __func__] { return copy_blocking(call, to, from, bytes, hipMemcpyHostToDevice); });
}

HIPGRAPH_API hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return entry(
      [&, call = __func__] { return copy_blocking(call, to, from, bytes, hipMemcpyDeviceToHost); });
}

HIPGRAPH_API hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes) {
  return entry([&, call = __func__] {
    return copy_blocking(call, to, from, bytes, hipMemcpyDeviceToDevice);
  });
}

HIPGRAPH_API hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                       hipMemcpyKind kind, hipStream_t stream) {
  return entry([&, call = __func__] { copy_on_stream(call, to, from, bytes, kind, stream); });
}

HIPGRAPH_API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, std::size_t bytes,
                                           hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_on_stream(call, to, from, bytes, hipMemcpyHostToDevice, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, std::size_t bytes,
                                           hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_on_stream(call, to, from, bytes, hipMemcpyDeviceToHost, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from,
                                           std::size_t bytes, hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_on_stream(call, to, from, bytes, hipMemcpyDeviceToDevice, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                         std::size_t from_pitch, std::size_t width,
                                         std::size_t height, hipMemcpyKind kind,
                                         hipStream_t stream) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    if (width == 0 || height == 0) return;
    const MemcpyWork work =
        check_copy_region(checked_2d(to, to_pitch, from, from_pitch, width, height, kind));
    if (admission == Admission::Record) {
      record(*found, work);
    } else {
      enqueue(*found, make_command(work, found->device, {}));
    }
  });
}

HIPGRAPH_API hipError_t hipMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                    std::size_t from_pitch, std::size_t width, std::size_t height,
                                    hipMemcpyKind kind) {
  return entry([&, call = __func__] {
    CommandPtr command;
    {
      const ApiLock lock;
      permit(call);
      if (width == 0 || height == 0) return hipSuccess;
      const MemcpyWork work =
          check_copy_region(checked_2d(to, to_pitch, from, from_pitch, width, height, kind));
      const StreamPtr stream = find_stream(nullptr);
      command = make_command(work, stream->device, {});
      enqueue(*stream, command);
    }
    return Failures::instance().wait({&command, 1});
  });
}
