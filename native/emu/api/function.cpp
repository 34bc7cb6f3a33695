#include "api/api.h"
#include "machine/target.h"
#include "runtime/device.h"
#include "runtime/registered_code.h"

using namespace hipgraph::emu;

namespace {

/// What HIP reports for code that is no PTX.
constexpr int binary_version = 30;
constexpr int attribute_max_dynamic_lds = 8;
constexpr int attribute_carveout = 9;

int free_lds(const Kernel& kernel) {
  return static_cast<int>(facts(device_model().target).lds_bytes - kernel.lds_bytes);
}

/// The kernel behind a host function or a handle of a module's kernel.
FunctionPtr any_function(const void* function) {
  FunctionPtr found = find_function(function);
  require(found != nullptr, hipErrorInvalidDeviceFunction);
  return found;
}

}  // namespace

HIPGRAPH_API hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* host) {
  return entry([&] {
    required(attributes);
    require(host != nullptr, hipErrorInvalidDeviceFunction);
    const ApiLock lock;
    const FunctionPtr function = find_host_function(host, this_thread().device);
    require(function != nullptr, hipErrorInvalidSymbol);
    const Kernel& kernel = *function->kernel;
    *attributes = {};
    attributes->binaryVersion = binary_version;
    attributes->localSizeBytes = kernel.scratch_bytes;
    attributes->maxDynamicSharedSizeBytes = free_lds(kernel);
    attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_block);
    attributes->numRegs = static_cast<int>(kernel.vgprs);
    attributes->ptxVersion = binary_version;
    attributes->sharedSizeBytes = kernel.lds_bytes;
  });
}

// Nothing here depends on either attribute: kernels may have all of the memory that there is.
HIPGRAPH_API hipError_t hipFuncSetAttribute(const void* function, int attribute, int value) {
  return entry([&] {
    require(function != nullptr, hipErrorInvalidDeviceFunction);
    const ApiLock lock;
    const FunctionPtr found = any_function(function);
    const bool known = attribute == attribute_max_dynamic_lds || attribute == attribute_carveout;
    require(known, hipErrorInvalidValue);
    const bool fits = attribute == attribute_carveout || value <= free_lds(*found->kernel);
    require(fits, hipErrorInvalidValue);
  });
}

// CDNA has no cache to prefer, and one width of shared memory banks.
HIPGRAPH_API hipError_t hipFuncSetCacheConfig(const void* function, int) {
  return entry([&] { require(function != nullptr, hipErrorInvalidDeviceFunction); });
}

HIPGRAPH_API hipError_t hipFuncSetSharedMemConfig(const void* function, int) {
  return entry([&] { require(function != nullptr, hipErrorInvalidDeviceFunction); });
}

HIPGRAPH_API hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* host) {
  return entry([&] {
    clear(required(function));
    const ApiLock lock;
    *function = function_by_symbol(host, this_thread().device)->handle;
  });
}

HIPGRAPH_API const char* hipKernelNameRef(hipFunction_t function) {
  const char* name = nullptr;
  entry([&] {
    const ApiLock lock;
    name = any_function(function)->kernel->name.c_str();
  });
  return name;
}

HIPGRAPH_API const char* hipKernelNameRefByPtr(const void* host, hipStream_t) {
  const char* name = nullptr;
  entry([&] {
    const ApiLock lock;
    name = any_function(host)->kernel->name.c_str();
  });
  return name;
}
