#include "runtime/context.h"

#include "api/api.h"
#include "runtime/device.h"
#include "runtime/device_settings.h"

using namespace hipgraph::emu;

// The calls about contexts. As in HIP, a new or popped context does not change the thread's device;
// one that is set or pushed does.

namespace {

int known_device(hipDevice_t device, hipError_t unknown) {
  require(device >= 0 && device < device_model().devices, unknown);
  return device;
}

/// Peers reach each other's memory anyway.
void check_peer(hipCtx_t peer) {
  const ApiLock lock;
  device_of(peer);
}

}  // namespace

HIPGRAPH_API hipError_t hipCtxCreate(hipCtx_t* context, unsigned flags, hipDevice_t device) {
  return entry([&] {
    clear(required(context));
    const int known = known_device(device, hipErrorInvalidValue);
    const ApiLock lock;
    device_settings(known).flags = flags;
    push_context(known);
    *context = context_of(known);
  });
}

HIPGRAPH_API hipError_t hipCtxDestroy(hipCtx_t context) {
  return entry([&] {
    require(context != nullptr, hipErrorInvalidValue);
    const ApiLock lock;
    if (device_of(context) == top_context()) pop_context();
  });
}

HIPGRAPH_API hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return entry([&] {
    const ApiLock lock;
    const int device = context == nullptr ? -1 : device_of(context);
    pop_context();
    if (context == nullptr) return;
    this_thread().device = device;
    push_context(device);
  });
}

HIPGRAPH_API hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return entry([&] {
    required(context);
    const ApiLock lock;
    *context = context_of(this_thread().device);
  });
}

HIPGRAPH_API hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return entry([&] {
    const ApiLock lock;
    const int device = device_of(context);
    this_thread().device = device;
    push_context(device);
  });
}

HIPGRAPH_API hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  return entry([&] {
    clear(context);
    const ApiLock lock;
    const int device = pop_context();
    require(device >= 0, hipErrorInvalidContext);
    if (context != nullptr) *context = context_of(device);
  });
}

HIPGRAPH_API hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return entry([&] { *required(device) = this_thread().device; });
}

HIPGRAPH_API hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) {
  return entry([&] { *required(config) = hipSharedMemBankSizeFourByte; });
}

HIPGRAPH_API hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned) {
  return entry([&] { check_peer(peer); });
}

HIPGRAPH_API hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  return entry([&] { check_peer(peer); });
}

HIPGRAPH_API hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return entry([&] {
    clear(context);
    const int known = known_device(device, hipErrorInvalidDevice);
    const ApiLock lock;
    *required(context) = context_of(known);
  });
}

HIPGRAPH_API hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return entry([&] { known_device(device, hipErrorInvalidDevice); });
}

HIPGRAPH_API hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned) {
  return entry([&] {
    known_device(device, hipErrorInvalidDevice);
    return hipErrorContextAlreadyInUse;
  });
}
