// Atomic operations on memory that PEs share, in system scope.
#pragma once
#include "atomic_operation.h"
#include "device_language.h"

namespace hgs {

/// Replaces the word's value by `value` if it is `condition`; returns the old one.
template <typename Word>
HGS_DEVICE Word compare_swap(HGS_GLOBAL Word* word, Word condition, Word value) {
  __hip_atomic_compare_exchange_strong(word, &condition, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_SYSTEM);
  return condition;
}

/// Replaces the word's value by change(value), and returns the old one. For the operations that
/// the bus lacks: it knows add, swap and compare-and-swap only.
template <typename Word, typename Change>
HGS_DEVICE Word fetch_change(HGS_GLOBAL Word* word, Change change) {
  Word expected = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  for (;;) {
    const Word old = compare_swap(word, expected, change(expected));
    if (old == expected) return old;
    expected = old;
  }
}

template <typename Word>
HGS_DEVICE Word fetch_update_unordered(HGS_GLOBAL Word* word, hgs_u32 operation, Word value,
                                       Word condition) {
  switch (operation) {
    case HGS_ATOMIC_FETCH:
      return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    case HGS_ATOMIC_ADD:
      return __hip_atomic_fetch_add(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    case HGS_ATOMIC_AND: return fetch_change(word, [value](Word old) { return old & value; });
    case HGS_ATOMIC_OR: return fetch_change(word, [value](Word old) { return old | value; });
    case HGS_ATOMIC_XOR: return fetch_change(word, [value](Word old) { return old ^ value; });
    case HGS_ATOMIC_COMPARE_SWAP: return compare_swap(word, condition, value);
    default: return __hip_atomic_exchange(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  }
}

/// Runs one operation on a word of an unsigned type, with acquire and release order; returns the
/// old value.
template <typename Word>
HGS_DEVICE Word fetch_update(HGS_GLOBAL Word* word, hgs_u32 operation, Word value, Word condition) {
  release_to_system();
  const Word old = fetch_update_unordered(word, operation, value, condition);
  acquire_from_system();
  return old;
}

/// Adds without returning the old value; what this wave wrote before is visible to who sees the
/// sum.
template <typename Word>
HGS_DEVICE void add_release(HGS_GLOBAL Word* word, Word value) {
  release_to_system();
  __hip_atomic_fetch_add(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

}  // namespace hgs
