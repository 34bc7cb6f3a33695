// The barrier of a team: every PE writes its epoch into a word of each member's pad.
#pragma once
#include "device_wait.h"

namespace hgs {

HGS_DEVICE HGS_GLOBAL char* heap_of_member(State* state, Team* team, int member) {
  return (HGS_GLOBAL char*)state->heaps[team->start + member * team->stride];
}

HGS_DEVICE Pad* pad_of_member(State* state, Team* team, int member) {
  return (Pad*)(heap_of_member(state, team, member) + team->pad_offset);
}

/// Looks once more at every word of this PE's pad, and reports who is missing. If the last ones
/// came meanwhile, nobody is, and there is nothing to report.
HGS_DEVICE void report_missing(State* state, Team* team, const Pad* pad, hgs_u64 epoch) {
  hgs_u64 missing = 0;
  hgs_u64 lowest = epoch;
  int slowest = 0;
  for (int i = 0; i < team->n_pes; ++i) {
    const hgs_u64 seen = load_acquire(&pad->arrived[i]);
    if (seen >= epoch) continue;
    missing |= 1ull << i;
    if (seen >= lowest) continue;
    lowest = seen;
    slowest = i;
  }
  if (missing == 0) return;
  Failure* failure = claim_failure(state);
  if (failure == nullptr) return;
  failure->expected = epoch;
  failure->seen = lowest;
  failure->address = (hgs_u64)&pad->arrived[slowest];
  failure->missing = missing;
  failure->team.my_pe = team->my_pe;
  failure->team.n_pes = team->n_pes;
  failure->team.start = team->start;
  failure->team.stride = team->stride;
  failure->team.pad_offset = team->pad_offset;
  failure->comparison = kGreaterEqual;
  publish_failure(failure, HGS_BARRIER);
}

/// Called by `lanes` lanes of one wave, which share the members; no other wave of this PE may be in
/// a barrier of the team. What came before it on this PE must be visible to the wave already.
HGS_DEVICE void barrier(State* state, Team* team, int lane, int lanes) {
  Pad* pad = pad_of_member(state, team, team->my_pe);
  // Atomic, so that it is never read through the scalar cache, which stores do not reach.
  const hgs_u64 epoch =
      1 + __hip_atomic_load(&pad->epoch, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  release_to_system();
  if (lane == 0) {
    __hip_atomic_store(&pad->epoch, epoch, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  for (int i = lane; i < team->n_pes; i += lanes) {
    store_release(&pad_of_member(state, team, i)->arrived[team->my_pe], epoch);
  }
  const Deadline deadline = deadline_from_now(state);
  bool late = false;
  for (int i = lane; i < team->n_pes && !late; i += lanes) {
    hgs_u64 seen;
    late = !poll(&pad->arrived[i], kGreaterEqual, epoch, deadline, seen);
  }
  if (late) report_missing(state, team, pad, epoch);
  acquire_from_system();
}

}  // namespace hgs
