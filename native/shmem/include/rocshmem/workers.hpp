// Who takes part in a call: one thread, the active lanes of a wave, or a workgroup.
#pragma once
#include "../hipgraph_shmem/device_language.h"

namespace hgs {

struct Worker {
  hgs_u32 index;
  hgs_u32 count;
};

HGS_DEVICE Worker this_thread() { return {0, 1}; }

HGS_DEVICE Worker lane_of_wave() {
  const hgs_u64 active = __builtin_amdgcn_ballot_w64(true);
  const hgs_u32 low = __builtin_amdgcn_mbcnt_lo((hgs_u32)active, 0);
  return {__builtin_amdgcn_mbcnt_hi((hgs_u32)(active >> 32), low),
          (hgs_u32)__builtin_popcountll(active)};
}

HGS_DEVICE Worker thread_of_workgroup() {
  const hgs_u32 x = __builtin_amdgcn_workgroup_size_x();
  const hgs_u32 y = __builtin_amdgcn_workgroup_size_y();
  const hgs_u32 z = __builtin_amdgcn_workgroup_size_z();
  const hgs_u32 row = __builtin_amdgcn_workitem_id_z() * y + __builtin_amdgcn_workitem_id_y();
  return {row * x + __builtin_amdgcn_workitem_id_x(), x * y * z};
}

HGS_DEVICE void workgroup_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

}  // namespace hgs
