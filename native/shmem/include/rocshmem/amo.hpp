// Atomic operations on another PE's words of 32 or 64 bits.
#pragma once
#include "../hipgraph_shmem/device_atomic.h"
#include "pe.hpp"
#include "types.hpp"

namespace hgs {

template <unsigned bytes>
struct Bits;
template <>
struct Bits<4> {
  using Type = hgs_u32;
};
template <>
struct Bits<8> {
  using Type = hgs_u64;
};

/// Runs one operation on a word of any type; returns the old value, zero where there is no word.
template <typename Word>
HGS_DEVICE Word atomic(const Word* address, int pe, hgs_atomic_operation operation,
                       Word value = Word(), Word condition = Word()) {
  using Unsigned = typename Bits<sizeof(Word)>::Type;
  auto* word = (HGS_GLOBAL Unsigned*)remote_word(address, pe);
  if (word == nullptr) return Word();
  const Unsigned old = fetch_update(word, operation, __builtin_bit_cast(Unsigned, value),
                                    __builtin_bit_cast(Unsigned, condition));
  return __builtin_bit_cast(Word, old);
}

}  // namespace hgs

namespace rocshmem {

#define HGS_ANY(name, Word)                                                       \
  HGS_DEVICE Word rocshmem_##name##_atomic_fetch(const Word* source, int pe) {    \
    return hgs::atomic(source, pe, HGS_ATOMIC_FETCH);                             \
  }                                                                               \
  HGS_DEVICE void rocshmem_##name##_atomic_set(Word* dest, Word value, int pe) {  \
    hgs::atomic(dest, pe, HGS_ATOMIC_SET, value);                                 \
  }                                                                               \
  HGS_DEVICE Word rocshmem_##name##_atomic_swap(Word* dest, Word value, int pe) { \
    return hgs::atomic(dest, pe, HGS_ATOMIC_SWAP, value);                         \
  }
HGS_ATOMIC_TYPES(HGS_ANY)
#undef HGS_ANY

#define HGS_INTEGER(name, Word)                                                            \
  HGS_DEVICE Word rocshmem_##name##_atomic_compare_swap(Word* dest, Word cond, Word value, \
                                                        int pe) {                          \
    return hgs::atomic(dest, pe, HGS_ATOMIC_COMPARE_SWAP, value, cond);                    \
  }                                                                                        \
  HGS_DEVICE Word rocshmem_##name##_atomic_fetch_add(Word* dest, Word value, int pe) {     \
    return hgs::atomic(dest, pe, HGS_ATOMIC_ADD, value);                                   \
  }                                                                                        \
  HGS_DEVICE void rocshmem_##name##_atomic_add(Word* dest, Word value, int pe) {           \
    hgs::atomic(dest, pe, HGS_ATOMIC_ADD, value);                                          \
  }                                                                                        \
  HGS_DEVICE Word rocshmem_##name##_atomic_fetch_inc(Word* dest, int pe) {                 \
    return hgs::atomic(dest, pe, HGS_ATOMIC_ADD, (Word)1);                                 \
  }                                                                                        \
  HGS_DEVICE void rocshmem_##name##_atomic_inc(Word* dest, int pe) {                       \
    hgs::atomic(dest, pe, HGS_ATOMIC_ADD, (Word)1);                                        \
  }
HGS_INTEGER_TYPES(HGS_INTEGER)
#undef HGS_INTEGER

#define HGS_BITWISE(name, Word, operation, OPERATION)                                          \
  HGS_DEVICE Word rocshmem_##name##_atomic_fetch_##operation(Word* dest, Word value, int pe) { \
    return hgs::atomic(dest, pe, HGS_ATOMIC_##OPERATION, value);                               \
  }                                                                                            \
  HGS_DEVICE void rocshmem_##name##_atomic_##operation(Word* dest, Word value, int pe) {       \
    hgs::atomic(dest, pe, HGS_ATOMIC_##OPERATION, value);                                      \
  }
#define HGS_BITWISE_ALL(name, Word) \
  HGS_BITWISE(name, Word, and, AND) \
  HGS_BITWISE(name, Word, or, OR)   \
  HGS_BITWISE(name, Word, xor, XOR)
HGS_BITWISE_TYPES(HGS_BITWISE_ALL)
#undef HGS_BITWISE_ALL
#undef HGS_BITWISE

}  // namespace rocshmem
