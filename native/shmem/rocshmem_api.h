// What the shim calls of rocSHMEM's host API, as our own declarations, so that it compiles without
// ROCm. They must mangle exactly as rocSHMEM's: linking to librocshmem.a proves it for a release.
//
// rocshmem_have.h is written by `hipgraph-shmem build-rocshmem`: HGS_HAVE_<function> is 0 where the
// user's archive lacks what hgs_<function> needs, else which alternative of it is there, from 1;
// HGS_SYMBOL_<name> is the host name of a device symbol, where there is one.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "hip_calls.h"
#include "rocshmem_have.h"

/// Emits a definition where its flag, the value of an HGS_HAVE_ macro, is not 0.
#define HGS_WHEN(flag, ...) HGS_WHEN_EXPANDED(flag, __VA_ARGS__)
#define HGS_WHEN_EXPANDED(flag, ...) HGS_WHEN_##flag(__VA_ARGS__)
#define HGS_WHEN_0(...)
#define HGS_WHEN_1(...) __VA_ARGS__

// The element types of atomics: (name, type).
#define HGS_BITWISE_TYPES(ROW) ROW(uint32, uint32_t) ROW(uint64, uint64_t)
#define HGS_INTEGER_TYPES(ROW) \
  HGS_BITWISE_TYPES(ROW)       \
  ROW(int, int) ROW(long, long) ROW(size, size_t) ROW(ptrdiff, ptrdiff_t)
#define HGS_COUNTING_TYPES(ROW) HGS_INTEGER_TYPES(ROW) ROW(longlong, long long)
#define HGS_FETCHED_TYPES(ROW) HGS_INTEGER_TYPES(ROW) ROW(float, float) ROW(double, double)
#define HGS_SET_TYPES(ROW) HGS_FETCHED_TYPES(ROW) ROW(longlong, long long)

// Only named: libstdc++'s definition is not needed, and libc++'s would mangle otherwise.
namespace std {
template <typename Element, size_t Size>
struct array;
}

namespace rocshmem {

constexpr unsigned ROCSHMEM_INIT_WITH_UNIQUEID = 1;
constexpr int ROCSHMEM_SIGNAL_SET = 0, ROCSHMEM_SIGNAL_ADD = 1;
constexpr int ROCSHMEM_CMP_EQ = 0, ROCSHMEM_CMP_LE = 5;

using rocshmem_team_t = uint64_t*;
using rocshmem_uniqueid_t = std::array<uint8_t, 128>;

struct rocshmem_ctx {
  void* ctx_opaque;
  void* team_opaque;
};
static_assert(sizeof(rocshmem_ctx) == 16);

struct rocshmem_init_attr_t {
  int32_t rank;
  int32_t nranks;
  uint8_t uid[128];
  void* mpi_comm;
};
static_assert(sizeof(rocshmem_init_attr_t) == 144 && offsetof(rocshmem_init_attr_t, uid) == 8 &&
              offsetof(rocshmem_init_attr_t, mpi_comm) == 136);

struct rocshmem_team_config_t {
  int num_contexts;
};

// ---- life

int rocshmem_get_uniqueid(rocshmem_uniqueid_t* id);
int rocshmem_set_attr_uniqueid_args(int rank, int ranks, rocshmem_uniqueid_t* id,
                                    rocshmem_init_attr_t* attributes);
int rocshmem_init_attr(unsigned flags, rocshmem_init_attr_t* attributes);
void rocshmem_finalize();
int rocshmem_my_pe();
int rocshmem_n_pes();
void rocshmem_query_thread(int* provided);
void rocshmem_info_get_name(char* name);
void rocshmem_vendor_get_version_info(int* major, int* minor, int* patch);

// ---- memory

void* rocshmem_malloc(size_t bytes);
void* rocshmem_align(size_t alignment, size_t bytes);
void* rocshmem_calloc(size_t count, size_t bytes);
void rocshmem_free(void* address);
void* rocshmem_ptr(const void* address, int pe);
void* rocshmem_ptr(void* address, int pe);
int rocshmem_buffer_register(void* address, size_t bytes);
int rocshmem_buffer_unregister(void* address);
void rocshmem_buffer_unregister_all();

// ---- teams

namespace host {
extern rocshmem_team_t ROCSHMEM_TEAM_WORLD;
extern rocshmem_team_t ROCSHMEM_TEAM_SHARED;
}  // namespace host
extern rocshmem_team_t ROCSHMEM_TEAM_WORLD;

int rocshmem_team_my_pe(rocshmem_team_t team);
int rocshmem_team_n_pes(rocshmem_team_t team);
int rocshmem_team_translate_pe(rocshmem_team_t source, int pe, rocshmem_team_t target);
int rocshmem_team_split_strided(rocshmem_team_t parent, int start, int stride, int pes,
                                const rocshmem_team_config_t* config, long mask,
                                rocshmem_team_t* team);
int rocshmem_team_split_2d(rocshmem_team_t parent, int x_range,
                           const rocshmem_team_config_t* x_config, long x_mask,
                           rocshmem_team_t* x_team, const rocshmem_team_config_t* y_config,
                           long y_mask, rocshmem_team_t* y_team);
void rocshmem_team_destroy(rocshmem_team_t team);

// ---- order and blocking copies

void rocshmem_fence();
void rocshmem_quiet();
void rocshmem_barrier_all();
void rocshmem_sync_all();
void rocshmem_barrier(rocshmem_team_t team);
void rocshmem_team_sync(rocshmem_team_t team);
void rocshmem_putmem(void* target, const void* source, size_t bytes, int pe);
void rocshmem_getmem(void* target, const void* source, size_t bytes, int pe);
void rocshmem_putmem_nbi(void* target, const void* source, size_t bytes, int pe);
void rocshmem_getmem_nbi(void* target, const void* source, size_t bytes, int pe);

// ---- on a stream

void rocshmem_quiet_on_stream(hipStream_t stream);
void rocshmem_barrier_all_on_stream(hipStream_t stream);
void rocshmem_sync_all_on_stream(hipStream_t stream);
void rocshmem_barrier_on_stream(rocshmem_team_t team, hipStream_t stream);
void rocshmem_team_sync_on_stream(rocshmem_team_t team, hipStream_t stream);
void rocshmem_putmem_on_stream(void* target, const void* source, size_t bytes, int pe,
                               hipStream_t stream);
void rocshmem_getmem_on_stream(void* target, const void* source, size_t bytes, int pe,
                               hipStream_t stream);
void rocshmem_putmem_signal_on_stream(void* target, const void* source, size_t bytes,
                                      uint64_t* signal, uint64_t value, int signal_op, int pe,
                                      hipStream_t stream);
void rocshmem_signal_wait_until_on_stream(uint64_t* signal, int comparison, uint64_t value,
                                          hipStream_t stream);
void rocshmem_signal_set_on_stream(uint64_t* signal, uint64_t value, int pe, hipStream_t stream);
void rocshmem_signal_add_on_stream(uint64_t* signal, uint64_t value, int pe, hipStream_t stream);
void rocshmem_alltoallmem_on_stream(rocshmem_team_t team, void* target, const void* source,
                                    size_t bytes, hipStream_t stream);
void rocshmem_broadcastmem_on_stream(rocshmem_team_t team, void* target, const void* source,
                                     size_t bytes, int root, hipStream_t stream);

/// The context of host calls that name none.
extern rocshmem_ctx ROCSHMEM_HOST_CTX_DEFAULT;

#define HGS_DECLARE_REDUCE(name, operation)                                                    \
  int rocshmem_ctx_##name##_##operation##_reduce_on_stream(                                    \
      rocshmem_ctx context, rocshmem_team_t team, name* target, const name* source, int count, \
      hipStream_t stream);
#define HGS_DECLARE_REDUCES(name) \
  HGS_DECLARE_REDUCE(name, sum)   \
  HGS_DECLARE_REDUCE(name, min)   \
  HGS_DECLARE_REDUCE(name, max)   \
  HGS_DECLARE_REDUCE(name, prod)
HGS_DECLARE_REDUCES(float)
HGS_DECLARE_REDUCES(double)
HGS_DECLARE_REDUCES(int)
HGS_DECLARE_REDUCES(long)
#undef HGS_DECLARE_REDUCES
#undef HGS_DECLARE_REDUCE

// ---- modules

int rocshmem_hipmodule_init(hipModule_t module, hipStream_t stream);
void* rocshmem_get_device_ctx();

// ---- atomics

#define HGS_DECLARE_FETCHED(name, type)                      \
  type rocshmem_##name##_atomic_fetch(type* source, int pe); \
  type rocshmem_##name##_atomic_swap(type* target, type value, int pe);
HGS_FETCHED_TYPES(HGS_DECLARE_FETCHED)
#undef HGS_DECLARE_FETCHED

#define HGS_DECLARE_SET(name, type) \
  void rocshmem_##name##_atomic_set(type* target, type value, int pe);
HGS_SET_TYPES(HGS_DECLARE_SET)
#undef HGS_DECLARE_SET

#define HGS_DECLARE_INTEGER(name, type)                                                         \
  type rocshmem_##name##_atomic_compare_swap(type* target, type condition, type value, int pe); \
  type rocshmem_##name##_atomic_fetch_add(type* target, type value, int pe);                    \
  type rocshmem_##name##_atomic_fetch_inc(type* target, int pe);
HGS_INTEGER_TYPES(HGS_DECLARE_INTEGER)
#undef HGS_DECLARE_INTEGER

#define HGS_DECLARE_COUNTING(name, type)                               \
  void rocshmem_##name##_atomic_add(type* target, type value, int pe); \
  void rocshmem_##name##_atomic_inc(type* target, int pe);
HGS_COUNTING_TYPES(HGS_DECLARE_COUNTING)
#undef HGS_DECLARE_COUNTING

#define HGS_DECLARE_BITWISE(name, type)                                      \
  type rocshmem_##name##_atomic_fetch_and(type* target, type value, int pe); \
  type rocshmem_##name##_atomic_fetch_or(type* target, type value, int pe);  \
  type rocshmem_##name##_atomic_fetch_xor(type* target, type value, int pe); \
  void rocshmem_##name##_atomic_and(type* target, type value, int pe);       \
  void rocshmem_##name##_atomic_or(type* target, type value, int pe);        \
  void rocshmem_##name##_atomic_xor(type* target, type value, int pe);
HGS_BITWISE_TYPES(HGS_DECLARE_BITWISE)
#undef HGS_DECLARE_BITWISE

}  // namespace rocshmem
