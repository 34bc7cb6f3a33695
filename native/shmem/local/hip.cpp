#include "hip.h"

#include <dlfcn.h>

#include <mutex>

namespace hipgraph::shmem {
namespace {

Hip table;
bool attached = false;

template <class... Arguments>
void resolve(void* library, HipFunction<Arguments...>& function) {
  void* address = dlsym(library, function.name);
  if (address == nullptr) fail(HGS_INVALID, "the HIP library has no ", function.name);
  function.code = reinterpret_cast<hipError_t (*)(Arguments...)>(address);
}

template <class... Functions>
void resolve_all(void* library, Functions&... functions) {
  (resolve(library, functions), ...);
}

const char* row_text(hipError_t code) {
  switch (code) {
#define HGS_ROW(number, name, sentence) \
  case name: return #name ": " sentence;
    HIPGRAPH_ERROR_ROWS(HGS_ROW)
#undef HGS_ROW
  }
  return "not a code of HIP that is known here";
}

}  // namespace

std::string hip_text(const char* call, hipError_t code) {
  return text(call, " returned ", static_cast<int>(code), " (", row_text(code), ")");
}

void attach_hip(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    fail(HGS_INVALID, "hip_library: ", path, " is not loaded: load HIP first, then pass its path");
  }
  Hip found;
  resolve_all(library, found.take_last_error, found.get_device, found.set_device,
              found.device_attribute, found.malloc, found.ext_malloc, found.free, found.host_malloc,
              found.host_free, found.ipc_get, found.ipc_open, found.ipc_close, found.copy,
              found.fill, found.stream_create, found.stream_destroy, found.stream_synchronize,
              found.exchange_capture_mode, found.module_load, found.module_unload, found.function,
              found.launch);
  table = found;
  attached = true;
}

const Hip& hip() {
  if (!attached) fail(HGS_INVALID, "no HIP library: call hgs_attach before all else");
  return table;
}

}  // namespace hipgraph::shmem
