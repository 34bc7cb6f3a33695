// Order of what this PE does to others, and barriers. Copies are done when they return, so that
// fence and quiet only have to make them visible.
#pragma once
#include "../hipgraph_shmem/device_barrier.h"
#include "pe.hpp"
#include "workers.hpp"

namespace hgs {

HGS_DEVICE void order() {
  release_to_system();
  acquire_from_system();
}

HGS_DEVICE void barrier_of(rocshmem::rocshmem_team_t team, Worker worker) {
  barrier(default_state(), (Team*)team, (int)worker.index, (int)worker.count);
}

/// Every thread of one workgroup calls it; its first wave does the work.
HGS_DEVICE void barrier_of_workgroup(rocshmem::rocshmem_team_t team) {
  release_to_system();
  workgroup_barrier();
  const hgs_u32 thread = thread_of_workgroup().index;
  if (thread < __builtin_amdgcn_wavefrontsize()) barrier_of(team, lane_of_wave());
  workgroup_barrier();
  acquire_from_system();
}

}  // namespace hgs

namespace rocshmem {

HGS_DEVICE void rocshmem_fence() { hgs::order(); }
HGS_DEVICE void rocshmem_fence(int) { hgs::order(); }
HGS_DEVICE void rocshmem_quiet() { hgs::order(); }
HGS_DEVICE void rocshmem_threadfence_system() { hgs::order(); }

// One thread, one wave or one workgroup of the PE calls these, at a time.
HGS_DEVICE void rocshmem_barrier(rocshmem_team_t team) {
  hgs::barrier_of(team, hgs::this_thread());
}
HGS_DEVICE void rocshmem_barrier_wave(rocshmem_team_t team) {
  hgs::barrier_of(team, hgs::lane_of_wave());
}
HGS_DEVICE void rocshmem_barrier_wg(rocshmem_team_t team) { hgs::barrier_of_workgroup(team); }

HGS_DEVICE void rocshmem_barrier_all() { rocshmem_barrier(ROCSHMEM_TEAM_WORLD); }
HGS_DEVICE void rocshmem_barrier_all_wave() { rocshmem_barrier_wave(ROCSHMEM_TEAM_WORLD); }
HGS_DEVICE void rocshmem_barrier_all_wg() { rocshmem_barrier_wg(ROCSHMEM_TEAM_WORLD); }

HGS_DEVICE void rocshmem_sync_all() { rocshmem_barrier_all(); }
HGS_DEVICE void rocshmem_sync_all_wave() { rocshmem_barrier_all_wave(); }
HGS_DEVICE void rocshmem_sync_all_wg() { rocshmem_barrier_all_wg(); }

}  // namespace rocshmem
