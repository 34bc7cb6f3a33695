// The few words of the device language that the SHMEM kernels and the device header share. They
// need neither ROCm's headers nor its device library.
#pragma once
#include "device_state.h"

#define HGS_DEVICE static inline __attribute__((device))
// Everything that PEs share lies in global memory; generic pointers would reach it through flat
// instructions.
#define HGS_GLOBAL __attribute__((address_space(1)))

namespace hgs {

using State = const HGS_GLOBAL hgs_device_state;
using Team = const HGS_GLOBAL hgs_team;
using Pad = HGS_GLOBAL hgs_pad;

/// Makes what this wave wrote visible to every PE, and waits until it is. LLVM before 23 drops the
/// wait after writing back the L2 where it knows of no store in flight (llvm-project 178316), so it
/// is spelled out; for the same reason no other atomic operation here has release order.
HGS_DEVICE void release_to_system() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
}

/// Makes what other PEs released visible to this wave.
HGS_DEVICE void acquire_from_system() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, ""); }

/// Acquires at every look: a line of another PE's memory may sit in this device's cache.
template <typename Word>
HGS_DEVICE Word load_acquire(const HGS_GLOBAL Word* word) {
  return __hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

template <typename Word>
HGS_DEVICE void store_release(HGS_GLOBAL Word* word, Word value) {
  release_to_system();
  __hip_atomic_store(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

}  // namespace hgs
