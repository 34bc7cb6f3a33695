// The bytes of rocSHMEM's device symbols, copied to the host once, so that a module of Python's can
// be given them later without a HIP call on rocSHMEM's own image.
//
// HIP knows a device symbol by the address of its host variable, which librocshmem.a defines: the
// names are those of the archive, so this file holds no device code.
#include <string.h>

#include "rocshmem_state.h"

#ifdef HGS_SYMBOL_ROCSHMEM_CTX_DEFAULT
extern "C" const char hgs_device_ctx_default[] asm(HGS_SYMBOL_ROCSHMEM_CTX_DEFAULT);
#endif
#ifdef HGS_SYMBOL_ROCSHMEM_TEAM_WORLD
extern "C" const char hgs_device_team_world[] asm(HGS_SYMBOL_ROCSHMEM_TEAM_WORLD);
#endif
#ifdef HGS_SYMBOL_ROCSHMEM_TEAM_SHARED
extern "C" const char hgs_device_team_shared[] asm(HGS_SYMBOL_ROCSHMEM_TEAM_SHARED);
#endif
#ifdef HGS_SYMBOL_constmem
extern "C" const char hgs_device_constmem[] asm(HGS_SYMBOL_constmem);
#endif

namespace {

struct Symbol {
  const char* name;
  const void* variable;  ///< of the host; null where this release has no such symbol
  size_t size;           ///< 0 until cached
  alignas(16) unsigned char bytes[256];
};

Symbol symbols[] = {
#ifdef HGS_SYMBOL_ROCSHMEM_CTX_DEFAULT
    {"ROCSHMEM_CTX_DEFAULT", hgs_device_ctx_default, 0, {}},
#else
    {"ROCSHMEM_CTX_DEFAULT", nullptr, 0, {}},
#endif
#ifdef HGS_SYMBOL_ROCSHMEM_TEAM_WORLD
    {"ROCSHMEM_TEAM_WORLD", hgs_device_team_world, 0, {}},
#else
    {"ROCSHMEM_TEAM_WORLD", nullptr, 0, {}},
#endif
#ifdef HGS_SYMBOL_ROCSHMEM_TEAM_SHARED
    {"ROCSHMEM_TEAM_SHARED", hgs_device_team_shared, 0, {}},
#else
    {"ROCSHMEM_TEAM_SHARED", nullptr, 0, {}},
#endif
#ifdef HGS_SYMBOL_constmem
    {"constmem", hgs_device_constmem, 0, {}},
#else
    {"constmem", nullptr, 0, {}},
#endif
};
[[maybe_unused]] Symbol& default_context = symbols[0];

/// Start copying a symbol's bytes; they are there when the stream is done.
int start_copy(Symbol& symbol, hipStream_t stream) {
  void* address = nullptr;
  size_t size = 0;
  if (hipError_t error = hipGetSymbolAddress(&address, symbol.variable)) {
    return hgs::hip_status(symbol.name, error);
  }
  if (hipError_t error = hipGetSymbolSize(&size, symbol.variable)) {
    return hgs::hip_status(symbol.name, error);
  }
  if (size > sizeof symbol.bytes) {
    return hgs::fail(HGS_FAILED, "%s: %zu bytes are more than expected", symbol.name, size);
  }
  symbol.size = size;
  return hgs::hip_status(symbol.name,
                         hipMemcpyAsync(symbol.bytes, address, size, HIP_COPY_TO_HOST, stream));
}

int copy_on(hipStream_t stream) {
  int status = HGS_OK;
  for (Symbol& symbol : symbols) {
    if (symbol.variable != nullptr && status == HGS_OK) status = start_copy(symbol, stream);
  }
  const int waited = hgs::hip_status("hipStreamSynchronize", hipStreamSynchronize(stream));
  return status != HGS_OK ? status : waited;
}

/// A release whose context symbol has no host name tells its first word; the second, the team, is
/// null for the world.
void ask_for_context() {
#if HGS_HAVE_get_device_ctx == 2
  void* words[2] = {rocshmem::rocshmem_get_device_ctx(), nullptr};
  memcpy(default_context.bytes, words, sizeof words);
  default_context.size = sizeof words;
#endif
}

}  // namespace

int hgs::cache_device_symbols() {
  // Neither another thread's capture nor the legacy stream is touched: the caller may be anywhere.
  int mode = HIP_CAPTURE_MODE_RELAXED;
  if (hipError_t error = hipThreadExchangeStreamCaptureMode(&mode)) {
    return hip_status("hipThreadExchangeStreamCaptureMode", error);
  }
  hipStream_t stream = nullptr;
  int status = hip_status("hipStreamCreateWithFlags",
                          hipStreamCreateWithFlags(&stream, HIP_STREAM_NON_BLOCKING));
  if (status == HGS_OK) {
    status = copy_on(stream);
    hipStreamDestroy(stream);
  }
  hipThreadExchangeStreamCaptureMode(&mode);
  ask_for_context();
  return status;
}

#if HGS_HAVE_get_device_ctx
int hgs_get_device_ctx(void** context) {
  *context = nullptr;
  if (default_context.size >= sizeof *context) {
    memcpy(context, default_context.bytes, sizeof *context);
  }
  return HGS_OK;
}
#endif

int hgs_symbol_bytes(const char* symbol, void* bytes, size_t capacity, size_t* size) {
  if (int status = hgs::require_pointer("hgs_symbol_bytes", symbol, "symbol")) return status;
  for (const Symbol& known : symbols) {
    if (strcmp(known.name, symbol) != 0) continue;
    if (known.size > capacity) {
      return hgs::fail(HGS_INVALID, "hgs_symbol_bytes: %s has %zu bytes, room is for %zu", symbol,
                       known.size, capacity);
    }
    memcpy(bytes, known.bytes, known.size);
    *size = known.size;
    return HGS_OK;
  }
  return hgs::fail(HGS_INVALID, "hgs_symbol_bytes: %s is no symbol of rocSHMEM", symbol);
}

#if HGS_HAVE_hipmodule_init
int hgs_hipmodule_init(void* module, void* stream) {
  const char* call = "hgs_hipmodule_init";
  if (int status = hgs::require_pointer(call, module, "module")) return status;
  int result = 0;
  const int status = hgs::on_stream(call, stream, [&](hipStream_t queue) {
    result = rocshmem::rocshmem_hipmodule_init(static_cast<hipModule_t>(module), queue);
  });
  if (status != HGS_OK || result == 0) return status;
  return hgs::fail(HGS_FAILED, "%s: rocSHMEM answers %d", call, result);
}
#endif
