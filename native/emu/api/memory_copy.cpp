#include "api/memory_region.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/device_model.h"
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

/// A 2-D copy's parameters; those of a copy of nothing are not looked at.
hipMemcpy3DParms checked_2d(void* to, std::size_t to_pitch, const void* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            hipMemcpyKind kind) {
  const bool empty = width == 0 || height == 0;
  require(empty || (width <= to_pitch && width <= from_pitch), hipErrorInvalidPitchValue);
  return region_of_2d(to, to_pitch, from, from_pitch, width, height, kind);
}

/// A copy on a stream that the host waits for; never recorded.
hipError_t copy_and_wait(const char* call, void* to, const void* from, std::size_t bytes,
                         hipMemcpyKind kind, hipStream_t stream) {
  CommandPtr command;
  {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    permit(call, *found);
    const CheckedCopy copy = check_copy(to, from, bytes, kind);
    if (copy.bytes == 0) return hipSuccess;
    command = make_eager_copy(copy);
    enqueue(*found, command);
  }
  return Failures::instance().wait({&command, 1});
}

void check_devices(int to_device, int from_device) {
  const int devices = DeviceModel::instance().devices;
  const bool known =
      to_device >= 0 && to_device < devices && from_device >= 0 && from_device < devices;
  require(known, hipErrorInvalidDevice);
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

HIPGRAPH_API hipError_t hipMemcpyWithStream(void* to, const void* from, std::size_t bytes,
                                            hipMemcpyKind kind, hipStream_t stream) {
  return entry([&, call = __func__] { return copy_and_wait(call, to, from, bytes, kind, stream); });
}

HIPGRAPH_API hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                      std::size_t bytes) {
  return entry([&, call = __func__] {
    check_devices(to_device, from_device);
    return copy_blocking(call, to, from, bytes, hipMemcpyDeviceToDevice);
  });
}

HIPGRAPH_API hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from,
                                           int from_device, std::size_t bytes, hipStream_t stream) {
  return entry([&, call = __func__] {
    check_devices(to_device, from_device);
    copy_on_stream(call, to, from, bytes, hipMemcpyDeviceToDevice, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                    std::size_t from_pitch, std::size_t width, std::size_t height,
                                    hipMemcpyKind kind) {
  return entry([&, call = __func__] {
    return copy_region_blocking(
        call, [=] { return checked_2d(to, to_pitch, from, from_pitch, width, height, kind); });
  });
}

HIPGRAPH_API hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                         std::size_t from_pitch, std::size_t width,
                                         std::size_t height, hipMemcpyKind kind,
                                         hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(
        call, [=] { return checked_2d(to, to_pitch, from, from_pitch, width, height, kind); },
        stream);
  });
}
