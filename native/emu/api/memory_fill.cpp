#include "api/api.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/failures.h"
#include "runtime/memory_checks.h"
#include "runtime/node_commands.h"

using namespace hipgraph::emu;

namespace {

hipMemsetParams linear(void* to, unsigned value, unsigned element_size, std::size_t count) {
  return {to, element_size, 1, 0, value, count};
}

void fill(Stream& stream, const hipMemsetParams& parms) {
  if (parms.width == 0 || parms.height == 0) return;
  enqueue(stream, make_command(check_fill_node(parms), stream.device, {}));
}

/// A fill on the null stream; as in HIP the host waits for it only when it can see the memory.
hipError_t fill_blocking(const char* call, const hipMemsetParams& parms) {
  CommandPtr command;
  {
    const ApiLock lock;
    permit(call);
    const StreamPtr stream = find_stream(nullptr);
    fill(*stream, parms);
    if (parms.width == 0 || parms.height == 0 || is_device_memory(parms.dst)) return hipSuccess;
    command = stream->tail;
  }
  return Failures::instance().wait({&command, 1});
}

void fill_rows_on_stream(const char* call, const hipMemsetParams& parms, hipStream_t stream) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  const Admission admission = permit(call, *found);
  const bool rows_fit =
      parms.width <= SIZE_MAX / parms.elementSize && parms.pitch >= parms.width * parms.elementSize;
  require(rows_fit, hipErrorInvalidValue);
  if (admission == Admission::Record) {
    record(*found, check_fill_node(parms));
  } else {
    fill(*found, parms);
  }
}

void fill_on_stream(const char* call, const hipMemsetParams& parms, hipStream_t stream) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  if (permit(call, *found) == Admission::Execute) {
    fill(*found, parms);
  } else if (parms.width != 0) {
    record(*found, check_fill_node(parms));
  }
}

}  // namespace

HIPGRAPH_API hipError_t hipMemset(void* to, int value, std::size_t bytes) {
  return entry([&, call = __func__] {
    return fill_blocking(call, linear(to, static_cast<unsigned>(value), 1, bytes));
  });
}

HIPGRAPH_API hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, std::size_t count) {
  return entry([&, call = __func__] { return fill_blocking(call, linear(to, value, 1, count)); });
}

HIPGRAPH_API hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, std::size_t count) {
  return entry([&, call = __func__] { return fill_blocking(call, linear(to, value, 2, count)); });
}

HIPGRAPH_API hipError_t hipMemsetD32(hipDeviceptr_t to, int value, std::size_t count) {
  return entry([&, call = __func__] {
    return fill_blocking(call, linear(to, static_cast<unsigned>(value), 4, count));
  });
}

HIPGRAPH_API hipError_t hipMemsetAsync(void* to, int value, std::size_t bytes, hipStream_t stream) {
  return entry([&, call = __func__] {
    fill_on_stream(call, linear(to, static_cast<unsigned>(value), 1, bytes), stream);
  });
}

HIPGRAPH_API hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, std::size_t count,
                                         hipStream_t stream) {
  return entry([&, call = __func__] { fill_on_stream(call, linear(to, value, 1, count), stream); });
}

HIPGRAPH_API hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value,
                                          std::size_t count, hipStream_t stream) {
  return entry([&, call = __func__] { fill_on_stream(call, linear(to, value, 2, count), stream); });
}

HIPGRAPH_API hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, std::size_t count,
                                          hipStream_t stream) {
  return entry([&, call = __func__] {
    fill_on_stream(call, linear(to, static_cast<unsigned>(value), 4, count), stream);
  });
}

HIPGRAPH_API hipError_t hipMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                    std::size_t height) {
  return entry([&, call = __func__] {
    return fill_blocking(call, {to, 1, height, pitch, static_cast<unsigned>(value), width});
  });
}

HIPGRAPH_API hipError_t hipMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                         std::size_t height, hipStream_t stream) {
  return entry([&, call = __func__] {
    fill_rows_on_stream(call, {to, 1, height, pitch, static_cast<unsigned>(value), width}, stream);
  });
}

HIPGRAPH_API hipError_t hipMemsetD2D8(hipDeviceptr_t to, std::size_t pitch, unsigned char value,
                                      std::size_t width, std::size_t height) {
  return entry(
      [&, call = __func__] { return fill_blocking(call, {to, 1, height, pitch, value, width}); });
}

HIPGRAPH_API hipError_t hipMemsetD2D8Async(hipDeviceptr_t to, std::size_t pitch,
                                           unsigned char value, std::size_t width,
                                           std::size_t height, hipStream_t stream) {
  return entry([&, call = __func__] {
    fill_rows_on_stream(call, {to, 1, height, pitch, value, width}, stream);
  });
}

HIPGRAPH_API hipError_t hipMemsetD2D16(hipDeviceptr_t to, std::size_t pitch, unsigned short value,
                                       std::size_t width, std::size_t height) {
  return entry(
      [&, call = __func__] { return fill_blocking(call, {to, 2, height, pitch, value, width}); });
}

HIPGRAPH_API hipError_t hipMemsetD2D16Async(hipDeviceptr_t to, std::size_t pitch,
                                            unsigned short value, std::size_t width,
                                            std::size_t height, hipStream_t stream) {
  return entry([&, call = __func__] {
    fill_rows_on_stream(call, {to, 2, height, pitch, value, width}, stream);
  });
}

HIPGRAPH_API hipError_t hipMemsetD2D32(hipDeviceptr_t to, std::size_t pitch, unsigned value,
                                       std::size_t width, std::size_t height) {
  return entry(
      [&, call = __func__] { return fill_blocking(call, {to, 4, height, pitch, value, width}); });
}

HIPGRAPH_API hipError_t hipMemsetD2D32Async(hipDeviceptr_t to, std::size_t pitch, unsigned value,
                                            std::size_t width, std::size_t height,
                                            hipStream_t stream) {
  return entry([&, call = __func__] {
    fill_rows_on_stream(call, {to, 4, height, pitch, value, width}, stream);
  });
}
