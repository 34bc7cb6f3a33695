#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocshmem_state.h"

namespace hgs {

namespace {

thread_local char last_error[512];

int copy_text(char* text, size_t capacity, const char* source) {
  if (text == nullptr || capacity == 0) return fail(HGS_INVALID, "no room for a text");
  snprintf(text, capacity, "%s", source);
  return HGS_OK;
}

}  // namespace

State& state() {
  static State the_state;
  return the_state;
}

int fail(hgs_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return status;
}

int hip_status(const char* call, hipError_t error) {
  if (error == 0) return HGS_OK;
  return fail(HGS_HIP, "%s: %s (%d)", call, hipGetErrorName(error), error);
}

int require_running(const char* call) {
  if (state().life == Life::RUNNING) return HGS_OK;
  const char* when = state().life == Life::FRESH ? "before hgs_init" : "after hgs_finalize";
  return fail(HGS_INVALID, "%s: called %s", call, when);
}

int require_pe(const char* call, int pe) {
  if (int status = require_running(call)) return status;
  if (pe >= 0 && pe < state().n_pes) return HGS_OK;
  return fail(HGS_INVALID, "%s: pe=%d: must be 0 to %d", call, pe, state().n_pes - 1);
}

int require_pointer(const char* call, const void* pointer, const char* what) {
  if (int status = require_running(call)) return status;
  if (pointer != nullptr) return HGS_OK;
  return fail(HGS_INVALID, "%s: %s must not be null", call, what);
}

}  // namespace hgs

int hgs_error(char* text, size_t capacity) {
  if (text != nullptr && capacity != 0) snprintf(text, capacity, "%s", hgs::last_error);
  return HGS_OK;
}

int hgs_attach(const char* hip_library, const char*) {
  if (hip_library == nullptr) return hgs::fail(HGS_INVALID, "hgs_attach: no HIP library");
  void* handle = dlopen(hip_library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return hgs::fail(HGS_INVALID, "hgs_attach: %s is not loaded", hip_library);
  }
  Dl_info theirs{}, ours{};
  void* function = dlsym(handle, "hipGetDevice");
  const bool known = dladdr(reinterpret_cast<void*>(&hipGetDevice), &ours) != 0 &&
                     function != nullptr && dladdr(function, &theirs) != 0;
  dlclose(handle);
  if (known && theirs.dli_fbase == ours.dli_fbase) return HGS_OK;
  return hgs::fail(HGS_INVALID, "hgs_attach: the process uses %s, this library is linked to %s",
                   hip_library, ours.dli_fname ? ours.dli_fname : "another HIP library");
}

int hgs_name(char* text, size_t capacity) {
#if HGS_HAVE_name == 1
  char name[256] = "";  // rocSHMEM writes at most 64 bytes
  rocshmem::rocshmem_info_get_name(name);
  return hgs::copy_text(text, capacity, name);
#else
  return hgs::copy_text(text, capacity, "rocSHMEM_v" HGS_ROCSHMEM_VERSION);
#endif
}

int hgs_version(int* major, int* minor, int* patch) {
#if HGS_HAVE_version == 1
  rocshmem::rocshmem_vendor_get_version_info(major, minor, patch);
#else
  *major = *minor = *patch = 0;
  sscanf(HGS_ROCSHMEM_VERSION, "%d.%d.%d", major, minor, patch);
#endif
  return HGS_OK;
}

#if HGS_HAVE_get_uniqueid
int hgs_get_uniqueid(unsigned char* id) {
  if (id == nullptr) return hgs::fail(HGS_INVALID, "hgs_get_uniqueid: id must not be null");
  auto* unique_id = reinterpret_cast<rocshmem::rocshmem_uniqueid_t*>(id);
  if (rocshmem::rocshmem_get_uniqueid(unique_id) == 0) return HGS_OK;
  return hgs::fail(HGS_FAILED, "rocshmem_get_uniqueid failed");
}
#endif

#if HGS_HAVE_init
namespace {

/// A variable of rocSHMEM's environment, and its value when this library was loaded.
struct Variable {
  explicit Variable(const char* variable) : name(variable) {
    const char* value = getenv(name);
    snprintf(at_load, sizeof at_load, "%s", value ? value : "");
  }
  const char* name;
  char at_load[32];
};

Variable heap_size{"ROCSHMEM_HEAP_SIZE"};
Variable bootstrap_timeout{"ROCSHMEM_BOOTSTRAP_TIMEOUT"};

int set_variable(const Variable& variable, unsigned long long value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", value);
  if (HGS_ENVIRONMENT_READ_AT_LOAD && strcmp(variable.at_load, text) != 0) {
    return hgs::fail(HGS_INVALID,
                     "hgs_init: %s=%s was in the environment when this library was loaded, and "
                     "rocSHMEM reads it then: set it to %s before",
                     variable.name, variable.at_load, text);
  }
  setenv(variable.name, text, 1);
  return HGS_OK;
}

int check_init(int pe, int n_pes, const unsigned char* id) {
  if (hgs::state().life != hgs::Life::FRESH) {
    return hgs::fail(HGS_INVALID, "rocSHMEM cannot be initialised twice in a process");
  }
  if (n_pes < 1 || pe < 0 || pe >= n_pes) {
    return hgs::fail(HGS_INVALID, "hgs_init: pe=%d of n_pes=%d", pe, n_pes);
  }
  if (id == nullptr) return hgs::fail(HGS_INVALID, "hgs_init: id must not be null");
  return HGS_OK;
}

}  // namespace

int hgs_init(int pe, int n_pes, const unsigned char* id, size_t heap_bytes, double timeout) {
  if (int status = check_init(pe, n_pes, id)) return status;
  if (heap_bytes != 0) {
    if (int status = set_variable(heap_size, heap_bytes)) return status;
  }
  if (timeout > 0) {
    const auto seconds = static_cast<unsigned long long>(ceil(timeout));
    if (int status = set_variable(bootstrap_timeout, seconds)) return status;
  }
  unsigned char own_id[HGS_UNIQUE_ID_BYTES];
  memcpy(own_id, id, sizeof own_id);
  auto* unique_id = reinterpret_cast<rocshmem::rocshmem_uniqueid_t*>(own_id);
  rocshmem::rocshmem_init_attr_t attributes{};
  if (rocshmem::rocshmem_set_attr_uniqueid_args(pe, n_pes, unique_id, &attributes) != 0) {
    return hgs::fail(HGS_FAILED, "rocshmem_set_attr_uniqueid_args failed");
  }
  // Whatever init_attr answers, rocSHMEM's globals are not as they were.
  hgs::state() = {hgs::Life::ENDED, n_pes};
  if (rocshmem::rocshmem_init_attr(rocshmem::ROCSHMEM_INIT_WITH_UNIQUEID, &attributes) != 0) {
    return hgs::fail(HGS_FAILED, "rocshmem_init_attr failed");
  }
  hgs::state().life = hgs::Life::RUNNING;
  return hgs::cache_device_symbols();
}
#endif

#if HGS_HAVE_finalize
int hgs_finalize(void) {
  return hgs::when_running("hgs_finalize", [] {
    hgs::state().life = hgs::Life::ENDED;
    rocshmem::rocshmem_finalize();
  });
}
#endif

#if HGS_HAVE_my_pe
int hgs_my_pe(int* pe) {
  return hgs::when_running("hgs_my_pe", [=] { *pe = rocshmem::rocshmem_my_pe(); });
}
#endif

#if HGS_HAVE_n_pes
int hgs_n_pes(int* n_pes) {
  return hgs::when_running("hgs_n_pes", [=] { *n_pes = rocshmem::rocshmem_n_pes(); });
}
#endif

#if HGS_HAVE_query_thread
int hgs_query_thread(int* provided) {
  return hgs::when_running("hgs_query_thread", [=] { rocshmem::rocshmem_query_thread(provided); });
}
#endif

// rocSHMEM's kernels report nothing to the host.
int hgs_check(void) { return HGS_OK; }
