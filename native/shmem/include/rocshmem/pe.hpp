// PEs, teams, and where another PE's copy of symmetric memory is.
#pragma once
#include "../hipgraph_shmem/device_failure.h"
#include "constants.hpp"

namespace hgs {

/// The offset in the heap of this PE's symmetric memory; heap_bytes or more: outside.
HGS_DEVICE hgs_u64 offset_in_heap(State* state, const void* address) {
  return (hgs_u64)address - (hgs_u64)state->heaps[state->my_pe];
}

HGS_DEVICE bool is_pe(State* state, int pe) { return pe >= 0 && pe < state->n_pes; }

/// `bytes` of symmetric memory on another PE; null, and a report, where there are none.
HGS_DEVICE HGS_GLOBAL char* remote(const void* address, hgs_u64 bytes, int pe) {
  State* state = default_state();
  if (!is_pe(state, pe)) {
    report_argument(state, HGS_BAD_PE, (hgs_u64)pe);
    return nullptr;
  }
  const hgs_u64 offset = offset_in_heap(state, address);
  if (offset > state->heap_bytes || bytes > state->heap_bytes - offset) {
    report_argument(state, HGS_OUTSIDE_HEAP, (hgs_u64)address);
    return nullptr;
  }
  return (HGS_GLOBAL char*)state->heaps[pe] + offset;
}

template <typename Word>
HGS_DEVICE HGS_GLOBAL Word* remote_word(const Word* address, int pe) {
  return (HGS_GLOBAL Word*)remote(address, sizeof(Word), pe);
}

/// The PE's index in a team; -1: it is not in it.
HGS_DEVICE int index_in_team(Team* team, int pe) {
  const int distance = pe - team->start;
  if (team->n_pes == 1) return distance == 0 ? 0 : -1;
  const int index = distance / team->stride;
  return index * team->stride == distance && index >= 0 && index < team->n_pes ? index : -1;
}

}  // namespace hgs

namespace rocshmem {

HGS_DEVICE int rocshmem_my_pe() { return hgs::default_state()->my_pe; }

HGS_DEVICE int rocshmem_n_pes() { return hgs::default_state()->n_pes; }

HGS_DEVICE int rocshmem_team_my_pe(rocshmem_team_t team) {
  return team == ROCSHMEM_TEAM_INVALID ? -1 : ((hgs::Team*)team)->my_pe;
}

HGS_DEVICE int rocshmem_team_n_pes(rocshmem_team_t team) {
  return team == ROCSHMEM_TEAM_INVALID ? -1 : ((hgs::Team*)team)->n_pes;
}

HGS_DEVICE int rocshmem_team_translate_pe(rocshmem_team_t src_team, int src_pe,
                                          rocshmem_team_t dest_team) {
  if (src_team == ROCSHMEM_TEAM_INVALID || dest_team == ROCSHMEM_TEAM_INVALID) return -1;
  auto* source = (hgs::Team*)src_team;
  if (src_pe < 0 || src_pe >= source->n_pes) return -1;
  return hgs::index_in_team((hgs::Team*)dest_team, source->start + src_pe * source->stride);
}

/// Null where the PE or the address is none that can be reached; that is no failure.
HGS_DEVICE void* rocshmem_ptr(const void* dest, int pe) {
  hgs::State* state = hgs::default_state();
  const hgs_u64 offset = hgs::offset_in_heap(state, dest);
  if (!hgs::is_pe(state, pe) || offset >= state->heap_bytes) return nullptr;
  return state->heaps[pe] + offset;
}

}  // namespace rocshmem
