// How kernels report a failure: the first one fills the record in pinned host memory, and goes on.
#pragma once
#include "device_language.h"

namespace hgs {

using Failure = HGS_GLOBAL hgs_failure;

/// The record, for the first caller only; null for everyone else.
HGS_DEVICE Failure* claim_failure(State* state) {
  auto* failure = (Failure*)state->failure;
  hgs_u32 nobody = 0;
  const bool claimed =
      __hip_atomic_compare_exchange_strong(&failure->claimed, &nobody, 1u, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  return claimed ? failure : nullptr;
}

/// Says that the record is whole.
HGS_DEVICE void publish_failure(Failure* failure, hgs_operation operation) {
  release_to_system();
  __hip_atomic_store(&failure->operation, (hgs_u32)operation, __ATOMIC_RELAXED,
                     __HIP_MEMORY_SCOPE_SYSTEM);
}

/// Reports an argument that is wrong: a PE or an address.
HGS_DEVICE void report_argument(State* state, hgs_operation operation, hgs_u64 argument) {
  Failure* failure = claim_failure(state);
  if (failure == nullptr) return;
  failure->expected = argument;
  publish_failure(failure, operation);
}

}  // namespace hgs
