#include "api/api.h"
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
