#pragma once
#include "context_abi.h"

namespace hipgraph::emu {

/// HIP's contexts are the devices by another name: each device has one, which always exists. A
/// thread keeps a stack of those that it made current by these calls. All expects the API lock.

/// The context of a device.
hipCtx_t context_of(int device);
/// The device of a context; what is none fails with InvalidContext.
int device_of(hipCtx_t context);

void push_context(int device);
/// Takes the top of the calling thread's stack off: its device, or -1 when there is none.
int pop_context();
/// The device of the top, or -1.
int top_context();

}  // namespace hipgraph::emu
