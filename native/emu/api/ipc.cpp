#include "api/api.h"
#include "runtime/event.h"
#include "runtime/ipc_memory.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  return entry([&] {
    require(pointer != nullptr, hipErrorInvalidValue);
    *required(handle) = export_memory(reinterpret_cast<std::uint64_t>(pointer));
  });
}

HIPGRAPH_API hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle,
                                            unsigned flags) {
  return entry([&] {
    clear(required(pointer));
    require(flags == hipIpcMemLazyEnablePeerAccess, hipErrorInvalidValue);
    *pointer = reinterpret_cast<void*>(import_memory(handle, this_thread().device));
  });
}

HIPGRAPH_API hipError_t hipIpcCloseMemHandle(void* pointer) {
  return entry([&] { close_import(reinterpret_cast<std::uint64_t>(pointer)); });
}

HIPGRAPH_API hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return entry([&] {
    require(handle != nullptr && event != nullptr, hipErrorInvalidValue);
    const SharedEventPtr shared = [event] {
      const ApiLock lock;
      return find_event(event)->shared;
    }();
    require(shared != nullptr, hipErrorInvalidConfiguration);
    *handle = shared->handle();
  });
}

HIPGRAPH_API hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  return entry([&] {
    clear(required(event));
    SharedEventPtr shared = SharedEvent::open(handle, this_thread().device);
    const ApiLock lock;
    constexpr unsigned flags = hipEventInterprocess | hipEventDisableTiming;
    *event = create_event(flags, std::move(shared))->handle;
  });
}
