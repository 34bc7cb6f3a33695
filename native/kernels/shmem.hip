// What the local SHMEM provider runs on a stream for one PE. All memory that PEs share is reached
// in system scope; nothing that changes from launch to launch is an argument, so that graphs
// replay.
//
//   shmem_barrier      all PEs of a team have come here, and see what each other wrote before
//   shmem_signal       sets (0) or adds to (1) a word of another PE, after all earlier work
//   shmem_wait_until   waits until a word compares with a value (rocSHMEM's numbers, unsigned)
//   shmem_fence        makes earlier work of the stream visible to every PE
//   shmem_atomic32, shmem_atomic64
//                      one hgs_atomic_operation; *result is the old value (null: nobody wants it)
//   shmem_copy         any sizes and alignments; `target` and `source` do not overlap
//
// Grid: one workgroup of 64 threads; shmem_copy any number of workgroups of 256.
//
// A wait that outlasts state->timeout_ticks writes the failure record and ends: the stream goes on.
#include <hipgraph_shmem/device_atomic.h>
#include <hipgraph_shmem/device_barrier.h>
#include <hipgraph_shmem/device_copy.h>

#include "device.h"

#define WAVE_KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void

constexpr u32 kSignalSet = 0;

template <typename Word>
DEVICE void atomic(GLOBAL Word* word, u32 operation, Word value, Word condition,
                   GLOBAL Word* result) {
  if (thread_index() != 0) return;
  const Word old = hgs::fetch_update(word, operation, value, condition);
  if (result != nullptr) *result = old;
}

WAVE_KERNEL shmem_barrier(const GLOBAL hgs_device_state* state, const GLOBAL hgs_team* team) {
  hgs::barrier(state, team, (int)thread_index(), (int)kWaveLanes);
}

WAVE_KERNEL shmem_signal(GLOBAL u64* word, u64 value, u32 operation) {
  if (thread_index() != 0) return;
  if (operation == kSignalSet) {
    hgs::store_release(word, value);
  } else {
    hgs::add_release(word, value);
  }
}

WAVE_KERNEL shmem_wait_until(const GLOBAL hgs_device_state* state, const GLOBAL u64* word,
                             u32 comparison, u64 value) {
  if (thread_index() == 0) hgs::wait_until(state, word, comparison, value);
}

WAVE_KERNEL shmem_fence() {
  hgs::release_to_system();
  hgs::acquire_from_system();
}

WAVE_KERNEL shmem_atomic32(GLOBAL u32* word, u32 operation, u32 value, u32 condition,
                           GLOBAL u32* result) {
  atomic(word, operation, value, condition, result);
}

WAVE_KERNEL shmem_atomic64(GLOBAL u64* word, u32 operation, u64 value, u64 condition,
                           GLOBAL u64* result) {
  atomic(word, operation, value, condition, result);
}

KERNEL shmem_copy(GLOBAL char* target, const GLOBAL char* source, u64 bytes) {
  // Each wave for itself: a barrier's acquire reaches the caches near its own wave only.
  hgs::acquire_from_system();
  hgs::copy(target, source, bytes, grid_thread_index(), grid_threads());
  hgs::release_to_system();
}
