#include <bit>

#include "api/api.h"
#include "runtime/capture_rules.h"
#include "runtime/device.h"
#include "runtime/device_settings.h"

using namespace hipgraph::emu;

namespace {

constexpr std::size_t most_stack_bytes = 128 * 1024 - 16, stack_unit = 16;

DeviceSettings& settings() {
  device_model();
  return device_settings(this_thread().device);
}

/// HIP keeps two of its limits, and has no others.
std::atomic<std::size_t>& limit_of(hipLimit_t limit) {
  require(limit < hipLimitRange, hipErrorInvalidValue);
  switch (limit) {
    case hipLimitStackSize: return settings().stack_bytes;
    case hipLimitMallocHeapSize: return settings().heap_bytes;
    default: throw hipgraph::abi::Failure{hipErrorUnsupportedLimit};
  }
}

}  // namespace

HIPGRAPH_API hipError_t hipDeviceGetLimit(std::size_t* value, hipLimit_t limit) {
  return entry([&] {
    required(value);
    *value = limit_of(limit);
  });
}

HIPGRAPH_API hipError_t hipDeviceSetLimit(hipLimit_t limit, std::size_t value) {
  return entry([&] {
    std::atomic<std::size_t>& kept = limit_of(limit);
    const bool stack = limit == hipLimitStackSize;
    const std::size_t most = stack ? most_stack_bytes : device_model().memory_bytes - 1;
    require(value <= most, hipErrorInvalidValue);
    kept = stack ? (value + stack_unit - 1) / stack_unit * stack_unit : value;
  });
}

HIPGRAPH_API hipError_t hipGetDeviceFlags(unsigned* flags) {
  return entry([&] { *required(flags) = settings().flags; });
}

HIPGRAPH_API hipError_t hipSetDeviceFlags(unsigned flags) {
  return entry([&] {
    constexpr unsigned known = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
    const unsigned schedule = flags & hipDeviceScheduleMask;
    require((flags & ~known) == 0 && std::popcount(schedule) <= 1, hipErrorInvalidValue);
    settings().flags = schedule;
  });
}

HIPGRAPH_API hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return entry([&] { *required(config) = hipFuncCachePreferNone; });
}

// There are no caches and no banks to configure: what is valid is accepted, as in HIP.
HIPGRAPH_API hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  return entry([&, call = __func__] {
    permit_now(call);
    const bool known = config >= hipFuncCachePreferNone && config <= hipFuncCachePreferEqual;
    require(known, hipErrorInvalidValue);
  });
}

HIPGRAPH_API hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return entry([&] { *required(config) = hipSharedMemBankSizeFourByte; });
}

HIPGRAPH_API hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  return entry([&, call = __func__] {
    permit_now(call);
    const bool known =
        config >= hipSharedMemBankSizeDefault && config <= hipSharedMemBankSizeEightByte;
    require(known, hipErrorInvalidValue);
  });
}
