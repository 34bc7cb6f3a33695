// A rocSHMEM of one PE with a part of the functions. Like the real one it ends the process on bad
// input, so a test that survives shows that the shim did not pass it on.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocshmem_api.h"

extern "C" {
hipError_t hipFree(void* address);
hipError_t hipMalloc(void** address, size_t bytes);
hipError_t hipMemcpy(void* target, const void* source, size_t bytes, int kind);

[[gnu::used]] const char target_of_device_code[] = "hip-amdgcn-amd-amdhsa--gfx942";
rocshmem::rocshmem_ctx ROCSHMEM_CTX_DEFAULT;

/// The emulated HIP library cannot know variables of compiled device code.
hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  static void* memory = nullptr;
  if (symbol != &ROCSHMEM_CTX_DEFAULT) return 1;
  const unsigned long long words[2] = {0x1122334455667788, 0x99};
  if (memory == nullptr) hipMalloc(&memory, sizeof words);
  hipMemcpy(memory, words, sizeof words, 1);
  *address = memory;
  return 0;
}

hipError_t hipGetSymbolSize(size_t* size, const void*) {
  *size = 16;
  return 0;
}
}

namespace rocshmem {

#ifdef READS_ENVIRONMENT_AT_LOAD
namespace envvar {
inline namespace _base {
extern const size_t heap_size;
const size_t heap_size = 1;
}  // namespace _base
}  // namespace envvar
#endif

namespace host {
uint64_t world;
rocshmem_team_t ROCSHMEM_TEAM_WORLD = nullptr;
}  // namespace host

namespace {

bool initialised = false;

void require(bool condition) {
  if (!condition) abort();
}

}  // namespace

int rocshmem_get_uniqueid(rocshmem_uniqueid_t* id) {
  memset(static_cast<void*>(id), 7, 128);
  return 0;
}

int rocshmem_set_attr_uniqueid_args(int rank, int ranks, rocshmem_uniqueid_t* id,
                                    rocshmem_init_attr_t* attributes) {
  attributes->rank = rank;
  attributes->nranks = ranks;
  memcpy(attributes->uid, static_cast<void*>(id), 128);
  return 0;
}

int rocshmem_init_attr(unsigned flags, rocshmem_init_attr_t* attributes) {
  require(!initialised && flags == ROCSHMEM_INIT_WITH_UNIQUEID && attributes->uid[127] == 7);
  initialised = true;
  host::ROCSHMEM_TEAM_WORLD = &host::world;
  return 0;
}

void rocshmem_finalize() { require(initialised); }
int rocshmem_my_pe() { return 0; }
int rocshmem_n_pes() { return 1; }

void rocshmem_info_get_name(char* name) {
  const char* heap = getenv("ROCSHMEM_HEAP_SIZE");
  const char* timeout = getenv("ROCSHMEM_BOOTSTRAP_TIMEOUT");
  snprintf(name, 64, "fake heap=%s timeout=%s", heap ? heap : "", timeout ? timeout : "");
}

void* rocshmem_malloc(size_t bytes) {
  require(initialised);
  void* address = nullptr;
  if (bytes <= 1 << 20) hipMalloc(&address, bytes);
  return address;
}

void* rocshmem_ptr(void* address, int pe) { return pe == 0 ? address : nullptr; }

int rocshmem_team_n_pes(rocshmem_team_t team) {
  require(team == &host::world);
  return 1;
}

void rocshmem_free(void* address) { hipFree(address); }

void rocshmem_barrier_all() { require(initialised); }

void rocshmem_barrier_all_on_stream(hipStream_t stream) {
  // As a launch that fails: the error is HIP's last one.
  hipMemcpyAsync(nullptr, nullptr, 16, 3, stream);
}

void rocshmem_putmem_on_stream(void* target, const void* source, size_t bytes, int pe,
                               hipStream_t stream) {
  require(bytes != 0 && pe == 0);
  hipMemcpyAsync(target, source, bytes, 3, stream);
}

void rocshmem_putmem_signal_on_stream(void* target, const void* source, size_t bytes, uint64_t*,
                                      uint64_t, int, int pe, hipStream_t stream) {
  rocshmem_putmem_on_stream(target, source, bytes, pe, stream);
}

int rocshmem_int_atomic_fetch_add(int*, int value, int pe) {
  require(pe == 0);
  return value + 1;
}

}  // namespace rocshmem
