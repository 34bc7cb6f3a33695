// Waiting for, and looking at, words of this PE that others write.
#pragma once
#include "../hipgraph_shmem/device_wait.h"
#include "pe.hpp"
#include "types.hpp"

namespace hgs {

template <typename Word>
HGS_DEVICE Word wait_for_own(const Word* word, int comparison, Word value) {
  State* state = default_state();
  const auto* own = remote_word(word, state->my_pe);
  if (own == nullptr) return value;
  return wait_until(state, own, (hgs_u32)comparison, value);
}

}  // namespace hgs

namespace rocshmem {

#define HGS_WAIT(name, Word)                                                        \
  HGS_DEVICE void rocshmem_##name##_wait_until(Word* ivars, int cmp, Word val) {    \
    hgs::wait_for_own(ivars, cmp, val);                                             \
  }                                                                                 \
  HGS_DEVICE int rocshmem_##name##_test(Word* ivars, int cmp, Word val) {           \
    const auto* own = hgs::remote_word(ivars, rocshmem_my_pe());                    \
    return own != nullptr && hgs::holds((hgs_u32)cmp, hgs::load_acquire(own), val); \
  }
HGS_INTEGER_TYPES(HGS_WAIT)
#undef HGS_WAIT

}  // namespace rocshmem
