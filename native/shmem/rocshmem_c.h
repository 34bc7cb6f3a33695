// The one list of what a SHMEM provider offers to Python: plain C over rocSHMEM's C++ host API.
// Two libraries define it: the rocSHMEM shim (rocshmem_c.cpp, built against a user's ROCm) and the
// local provider (local/).
//
// A line is one function; the comment in front of its group or line says since which rocSHMEM
// release its C++ counterpart exists. A function that the release lacks is not defined by the shim.
//
// Every function returns an hgs_status. Results go through the last pointers. Streams and modules
// are hipStream_t and hipModule_t, teams are opaque handles; sizes are in bytes, PEs are ordinals.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define HGS_API __attribute__((visibility("default")))
#define HGS_UNIQUE_ID_BYTES 128

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hgs_status {
  HGS_OK = 0,
  HGS_INVALID = 1,    ///< an argument, or a call in the wrong state; nothing happened
  HGS_HIP = 2,        ///< a HIP call failed
  HGS_TIMEOUT = 3,    ///< another PE, or its signal, did not come in time
  HGS_PEER_LOST = 4,  ///< another PE died or left
  HGS_MISMATCH = 5,   ///< the PEs' collective calls differ
  HGS_NO_MEMORY = 6,  ///< the symmetric heap of some PE is too small
  HGS_FAILED = 7,     ///< the provider says no more than that
} hgs_status;

// ---- life; rocSHMEM 2.0 unless noted

/// What went wrong in this thread's last call that did not return HGS_OK; never fails.
HGS_API int hgs_error(char* text, size_t capacity);
/// Which HIP library (a path, already loaded) and which kernels (an offload bundle's path) to use;
/// before all else. The rocSHMEM shim is linked to its HIP library and only checks the first.
HGS_API int hgs_attach(const char* hip_library, const char* kernels);
/// "rocSHMEM_v3.7.0_..." or "local"; at most `capacity` bytes with the final zero.
HGS_API int hgs_name(char* text, size_t capacity);
HGS_API int hgs_version(int* major, int* minor, int* patch);
/// 3.0: an id of 128 bytes that PE 0 makes and every PE passes to hgs_init.
HGS_API int hgs_get_uniqueid(unsigned char* id);
/// 3.0: collective. `heap_bytes` and `timeout` (seconds) as environment for rocSHMEM.
HGS_API int hgs_init(int pe, int n_pes, const unsigned char* id, size_t heap_bytes, double timeout);
/// Collective; hgs_init may follow again (local provider only).
HGS_API int hgs_finalize(void);
HGS_API int hgs_my_pe(int* pe);
HGS_API int hgs_n_pes(int* n_pes);
HGS_API int hgs_query_thread(int* provided);
/// The failure that a kernel of the provider or of the device header met, if any: HGS_OK, else its
/// status with hgs_error's text. It stays until hgs_finalize.
HGS_API int hgs_check(void);

// ---- memory: collective over the world except hgs_ptr; rocSHMEM 2.0 unless noted

HGS_API int hgs_malloc(size_t bytes, void** address);
/// 3.4
HGS_API int hgs_align(size_t alignment, size_t bytes, void** address);
/// 3.4
HGS_API int hgs_calloc(size_t count, size_t bytes, void** address);
HGS_API int hgs_free(void* address);
/// 3.1: the same symmetric memory on another PE as mapped here; null if it cannot be reached.
HGS_API int hgs_ptr(const void* address, int pe, void** peer);
/// 3.3
HGS_API int hgs_buffer_register(void* address, size_t bytes);
/// 3.3
HGS_API int hgs_buffer_unregister(void* address);
/// 3.4
HGS_API int hgs_buffer_unregister_all(void);

// ---- teams; rocSHMEM 2.0 unless noted

HGS_API int hgs_team_world(void** team);
/// 3.3
HGS_API int hgs_team_shared(void** team);
HGS_API int hgs_team_my_pe(void* team, int* pe);
HGS_API int hgs_team_n_pes(void* team, int* n_pes);
/// -1 where the PE is not in `target`.
HGS_API int hgs_team_translate_pe(void* source, int pe, void* target, int* target_pe);
/// Collective over `parent`; null for PEs outside the new team.
HGS_API int hgs_team_split_strided(void* parent, int start, int stride, int n_pes, void** team);
/// 3.4: collective over `parent`.
HGS_API int hgs_team_split_2d(void* parent, int x_range, void** x_team, void** y_team);
HGS_API int hgs_team_destroy(void* team);

// ---- order, on the host; rocSHMEM 2.0 unless noted

HGS_API int hgs_fence(void);
HGS_API int hgs_quiet(void);
HGS_API int hgs_barrier_all(void);
HGS_API int hgs_sync_all(void);
/// 3.4
HGS_API int hgs_barrier(void* team);
/// 3.4
HGS_API int hgs_team_sync(void* team);

// ---- blocking copies; rocSHMEM 2.0 (3.4 without MPI)

HGS_API int hgs_putmem(void* target, const void* source, size_t bytes, int pe);
HGS_API int hgs_getmem(void* target, const void* source, size_t bytes, int pe);
HGS_API int hgs_putmem_nbi(void* target, const void* source, size_t bytes, int pe);
HGS_API int hgs_getmem_nbi(void* target, const void* source, size_t bytes, int pe);

// ---- on a stream; capturable; rocSHMEM 3.3 unless noted

HGS_API int hgs_quiet_on_stream(void* stream);
HGS_API int hgs_barrier_all_on_stream(void* stream);
HGS_API int hgs_sync_all_on_stream(void* stream);
/// 3.4
HGS_API int hgs_barrier_on_stream(void* team, void* stream);
/// 3.4
HGS_API int hgs_team_sync_on_stream(void* team, void* stream);
HGS_API int hgs_putmem_on_stream(void* target, const void* source, size_t bytes, int pe,
                                 void* stream);
HGS_API int hgs_getmem_on_stream(void* target, const void* source, size_t bytes, int pe,
                                 void* stream);
HGS_API int hgs_putmem_signal_on_stream(void* target, const void* source, size_t bytes,
                                        uint64_t* signal, uint64_t value, int signal_op, int pe,
                                        void* stream);
HGS_API int hgs_signal_wait_until_on_stream(uint64_t* signal, int comparison, uint64_t value,
                                            void* stream);
/// 3.8
HGS_API int hgs_signal_set_on_stream(uint64_t* signal, uint64_t value, int pe, void* stream);
/// 3.8
HGS_API int hgs_signal_add_on_stream(uint64_t* signal, uint64_t value, int pe, void* stream);
/// `bytes` go from each PE to each other one.
HGS_API int hgs_alltoallmem_on_stream(void* team, void* target, const void* source, size_t bytes,
                                      void* stream);
/// `root` is a PE of the team.
HGS_API int hgs_broadcastmem_on_stream(void* team, void* target, const void* source, size_t bytes,
                                       int root, void* stream);

// ---- reductions on a stream, `count` elements; capturable; rocSHMEM 3.4 (bfloat16: local only)

HGS_API int hgs_float_sum_reduce_on_stream(void* team, float* target, const float* source,
                                           int count, void* stream);
HGS_API int hgs_float_min_reduce_on_stream(void* team, float* target, const float* source,
                                           int count, void* stream);
HGS_API int hgs_float_max_reduce_on_stream(void* team, float* target, const float* source,
                                           int count, void* stream);
HGS_API int hgs_float_prod_reduce_on_stream(void* team, float* target, const float* source,
                                            int count, void* stream);
HGS_API int hgs_double_sum_reduce_on_stream(void* team, double* target, const double* source,
                                            int count, void* stream);
HGS_API int hgs_double_min_reduce_on_stream(void* team, double* target, const double* source,
                                            int count, void* stream);
HGS_API int hgs_double_max_reduce_on_stream(void* team, double* target, const double* source,
                                            int count, void* stream);
HGS_API int hgs_double_prod_reduce_on_stream(void* team, double* target, const double* source,
                                             int count, void* stream);
HGS_API int hgs_int_sum_reduce_on_stream(void* team, int* target, const int* source, int count,
                                         void* stream);
HGS_API int hgs_int_min_reduce_on_stream(void* team, int* target, const int* source, int count,
                                         void* stream);
HGS_API int hgs_int_max_reduce_on_stream(void* team, int* target, const int* source, int count,
                                         void* stream);
HGS_API int hgs_int_prod_reduce_on_stream(void* team, int* target, const int* source, int count,
                                          void* stream);
HGS_API int hgs_long_sum_reduce_on_stream(void* team, long* target, const long* source, int count,
                                          void* stream);
HGS_API int hgs_long_min_reduce_on_stream(void* team, long* target, const long* source, int count,
                                          void* stream);
HGS_API int hgs_long_max_reduce_on_stream(void* team, long* target, const long* source, int count,
                                          void* stream);
HGS_API int hgs_long_prod_reduce_on_stream(void* team, long* target, const long* source, int count,
                                           void* stream);
HGS_API int hgs_bfloat16_sum_reduce_on_stream(void* team, uint16_t* target, const uint16_t* source,
                                              int count, void* stream);
HGS_API int hgs_bfloat16_min_reduce_on_stream(void* team, uint16_t* target, const uint16_t* source,
                                              int count, void* stream);
HGS_API int hgs_bfloat16_max_reduce_on_stream(void* team, uint16_t* target, const uint16_t* source,
                                              int count, void* stream);
HGS_API int hgs_bfloat16_prod_reduce_on_stream(void* team, uint16_t* target, const uint16_t* source,
                                               int count, void* stream);

// ---- modules

/// 3.3: the vendor's own module init, for comparison only; asynchronous on the stream.
HGS_API int hgs_hipmodule_init(void* module, void* stream);
/// 3.1: null before hgs_init. Cached by hgs_init: no HIP call, so legal while capturing.
HGS_API int hgs_get_device_ctx(void** context);
/// Bytes that a module's own copy of a device symbol must hold, cached by hgs_init. `symbol` is a
/// name without decoration: ROCSHMEM_CTX_DEFAULT, ROCSHMEM_TEAM_WORLD, ROCSHMEM_TEAM_SHARED,
/// constmem. `size` is 0 where this provider has no such symbol.
HGS_API int hgs_symbol_bytes(const char* symbol, void* bytes, size_t capacity, size_t* size);

// ---- atomics on the host, blocking; rocSHMEM 2.0 (3.4 without MPI)

HGS_API int hgs_int_atomic_fetch(const int* source, int pe, int* result);
HGS_API int hgs_long_atomic_fetch(const long* source, int pe, long* result);
HGS_API int hgs_uint32_atomic_fetch(const uint32_t* source, int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_fetch(const uint64_t* source, int pe, uint64_t* result);
HGS_API int hgs_size_atomic_fetch(const size_t* source, int pe, size_t* result);
HGS_API int hgs_ptrdiff_atomic_fetch(const ptrdiff_t* source, int pe, ptrdiff_t* result);
HGS_API int hgs_float_atomic_fetch(const float* source, int pe, float* result);
HGS_API int hgs_double_atomic_fetch(const double* source, int pe, double* result);
HGS_API int hgs_int_atomic_set(int* target, int value, int pe);
HGS_API int hgs_long_atomic_set(long* target, long value, int pe);
HGS_API int hgs_uint32_atomic_set(uint32_t* target, uint32_t value, int pe);
HGS_API int hgs_uint64_atomic_set(uint64_t* target, uint64_t value, int pe);
HGS_API int hgs_size_atomic_set(size_t* target, size_t value, int pe);
HGS_API int hgs_ptrdiff_atomic_set(ptrdiff_t* target, ptrdiff_t value, int pe);
HGS_API int hgs_longlong_atomic_set(long long* target, long long value, int pe);
HGS_API int hgs_float_atomic_set(float* target, float value, int pe);
HGS_API int hgs_double_atomic_set(double* target, double value, int pe);
HGS_API int hgs_int_atomic_swap(int* target, int value, int pe, int* result);
HGS_API int hgs_long_atomic_swap(long* target, long value, int pe, long* result);
HGS_API int hgs_uint32_atomic_swap(uint32_t* target, uint32_t value, int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_swap(uint64_t* target, uint64_t value, int pe, uint64_t* result);
HGS_API int hgs_size_atomic_swap(size_t* target, size_t value, int pe, size_t* result);
HGS_API int hgs_ptrdiff_atomic_swap(ptrdiff_t* target, ptrdiff_t value, int pe, ptrdiff_t* result);
HGS_API int hgs_float_atomic_swap(float* target, float value, int pe, float* result);
HGS_API int hgs_double_atomic_swap(double* target, double value, int pe, double* result);
HGS_API int hgs_int_atomic_compare_swap(int* target, int condition, int value, int pe, int* result);
HGS_API int hgs_long_atomic_compare_swap(long* target, long condition, long value, int pe,
                                         long* result);
HGS_API int hgs_uint32_atomic_compare_swap(uint32_t* target, uint32_t condition, uint32_t value,
                                           int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_compare_swap(uint64_t* target, uint64_t condition, uint64_t value,
                                           int pe, uint64_t* result);
HGS_API int hgs_size_atomic_compare_swap(size_t* target, size_t condition, size_t value, int pe,
                                         size_t* result);
HGS_API int hgs_ptrdiff_atomic_compare_swap(ptrdiff_t* target, ptrdiff_t condition, ptrdiff_t value,
                                            int pe, ptrdiff_t* result);
HGS_API int hgs_int_atomic_fetch_add(int* target, int value, int pe, int* result);
HGS_API int hgs_long_atomic_fetch_add(long* target, long value, int pe, long* result);
HGS_API int hgs_uint32_atomic_fetch_add(uint32_t* target, uint32_t value, int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_fetch_add(uint64_t* target, uint64_t value, int pe, uint64_t* result);
HGS_API int hgs_size_atomic_fetch_add(size_t* target, size_t value, int pe, size_t* result);
HGS_API int hgs_ptrdiff_atomic_fetch_add(ptrdiff_t* target, ptrdiff_t value, int pe,
                                         ptrdiff_t* result);
HGS_API int hgs_int_atomic_fetch_inc(int* target, int pe, int* result);
HGS_API int hgs_long_atomic_fetch_inc(long* target, int pe, long* result);
HGS_API int hgs_uint32_atomic_fetch_inc(uint32_t* target, int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_fetch_inc(uint64_t* target, int pe, uint64_t* result);
HGS_API int hgs_size_atomic_fetch_inc(size_t* target, int pe, size_t* result);
HGS_API int hgs_ptrdiff_atomic_fetch_inc(ptrdiff_t* target, int pe, ptrdiff_t* result);
HGS_API int hgs_int_atomic_add(int* target, int value, int pe);
HGS_API int hgs_long_atomic_add(long* target, long value, int pe);
HGS_API int hgs_uint32_atomic_add(uint32_t* target, uint32_t value, int pe);
HGS_API int hgs_uint64_atomic_add(uint64_t* target, uint64_t value, int pe);
HGS_API int hgs_size_atomic_add(size_t* target, size_t value, int pe);
HGS_API int hgs_ptrdiff_atomic_add(ptrdiff_t* target, ptrdiff_t value, int pe);
HGS_API int hgs_longlong_atomic_add(long long* target, long long value, int pe);
HGS_API int hgs_int_atomic_inc(int* target, int pe);
HGS_API int hgs_long_atomic_inc(long* target, int pe);
HGS_API int hgs_uint32_atomic_inc(uint32_t* target, int pe);
HGS_API int hgs_uint64_atomic_inc(uint64_t* target, int pe);
HGS_API int hgs_size_atomic_inc(size_t* target, int pe);
HGS_API int hgs_ptrdiff_atomic_inc(ptrdiff_t* target, int pe);
HGS_API int hgs_longlong_atomic_inc(long long* target, int pe);
HGS_API int hgs_uint32_atomic_fetch_and(uint32_t* target, uint32_t value, int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_fetch_and(uint64_t* target, uint64_t value, int pe, uint64_t* result);
HGS_API int hgs_uint32_atomic_fetch_or(uint32_t* target, uint32_t value, int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_fetch_or(uint64_t* target, uint64_t value, int pe, uint64_t* result);
HGS_API int hgs_uint32_atomic_fetch_xor(uint32_t* target, uint32_t value, int pe, uint32_t* result);
HGS_API int hgs_uint64_atomic_fetch_xor(uint64_t* target, uint64_t value, int pe, uint64_t* result);
HGS_API int hgs_uint32_atomic_and(uint32_t* target, uint32_t value, int pe);
HGS_API int hgs_uint64_atomic_and(uint64_t* target, uint64_t value, int pe);
HGS_API int hgs_uint32_atomic_or(uint32_t* target, uint32_t value, int pe);
HGS_API int hgs_uint64_atomic_or(uint64_t* target, uint64_t value, int pe);
HGS_API int hgs_uint32_atomic_xor(uint32_t* target, uint32_t value, int pe);
HGS_API int hgs_uint64_atomic_xor(uint64_t* target, uint64_t value, int pe);

#ifdef __cplusplus
}
#endif
