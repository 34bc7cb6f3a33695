// Waiting for a word that another PE writes, for a bounded time.
#pragma once
#include "device_failure.h"

namespace hgs {

// rocSHMEM's numbers.
enum Comparison : hgs_u32 {
  kEqual = 0,
  kNotEqual = 1,
  kGreater = 2,
  kGreaterEqual = 3,
  kLess = 4,
  kLessEqual = 5,
};

// In units of 64 cycles: about a quarter of a microsecond between two looks.
constexpr int kNap = 8;

template <typename Word>
HGS_DEVICE bool holds(hgs_u32 comparison, Word seen, Word value) {
  switch (comparison) {
    case kEqual: return seen == value;
    case kNotEqual: return seen != value;
    case kGreater: return seen > value;
    case kGreaterEqual: return seen >= value;
    case kLess: return seen < value;
    default: return seen <= value;
  }
}

/// When to give up, in ticks of the clock that all of a device's waves share; 0 ticks: never.
struct Deadline {
  hgs_u64 begin;
  hgs_u64 ticks;
};

HGS_DEVICE Deadline deadline_from_now(State* state) {
  return {__builtin_amdgcn_s_memrealtime(), state->timeout_ticks};
}

HGS_DEVICE bool has_passed(const Deadline& deadline) {
  return deadline.ticks != 0 && __builtin_amdgcn_s_memrealtime() - deadline.begin > deadline.ticks;
}

/// Polls until the comparison holds; false: the deadline passed, and `seen` was the last value.
template <typename Word>
HGS_DEVICE bool poll(const HGS_GLOBAL Word* word, hgs_u32 comparison, Word value,
                     const Deadline& deadline, Word& seen) {
  for (;;) {
    seen = load_acquire(word);
    if (holds(comparison, seen, value)) return true;
    if (has_passed(deadline)) return false;
    __builtin_amdgcn_s_sleep(kNap);
  }
}

/// Waits for one word and returns it; all that its writer released is then visible to this wave.
template <typename Word>
HGS_DEVICE Word wait_until(State* state, const HGS_GLOBAL Word* word, hgs_u32 comparison,
                           Word value) {
  Word seen;
  if (!poll(word, comparison, value, deadline_from_now(state), seen)) {
    if (Failure* failure = claim_failure(state)) {
      failure->expected = (hgs_u64)value;
      failure->seen = (hgs_u64)seen;
      failure->address = (hgs_u64)word;
      failure->comparison = comparison;
      publish_failure(failure, HGS_WAIT_UNTIL);
    }
  }
  acquire_from_system();
  return seen;
}

}  // namespace hgs
