// Copies between this PE and another: blocks of bytes or elements, and single elements.
#pragma once
#include "../hipgraph_shmem/device_copy.h"
#include "pe.hpp"
#include "types.hpp"
#include "workers.hpp"

namespace hgs {

HGS_DEVICE void put(void* target, const void* source, hgs_u64 bytes, int pe, Worker worker) {
  if (auto* peer = remote(target, bytes, pe)) {
    copy(peer, (const char*)source, bytes, worker.index, worker.count);
  }
}

HGS_DEVICE void get(void* target, const void* source, hgs_u64 bytes, int pe, Worker worker) {
  if (const auto* peer = remote(source, bytes, pe)) {
    copy((char*)target, peer, bytes, worker.index, worker.count);
  }
}

template <typename Element>
HGS_DEVICE void put_element(Element* target, Element value, int pe) {
  if (auto* peer = remote_word(target, pe)) {
    __hip_atomic_store(peer, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  }
}

/// Zero where there is no such element.
template <typename Element>
HGS_DEVICE Element get_element(const Element* source, int pe) {
  const auto* peer = remote_word(source, pe);
  if (peer == nullptr) return Element();
  return __hip_atomic_load(peer, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

}  // namespace hgs

namespace rocshmem {

// `finish` is what makes the whole copy done for every caller. Copies that need not block do.
#define HGS_COPY(name, direction, Element, size, suffix, worker, finish)                      \
  HGS_DEVICE void rocshmem_##name##suffix(Element* dest, const Element* source, size_t count, \
                                          int pe) {                                           \
    hgs::direction(dest, source, count * (size), pe, hgs::worker());                          \
    finish;                                                                                   \
  }
#define HGS_COPIES(name, direction, Element, size)                                             \
  HGS_COPY(name, direction, Element, size, , this_thread, )                                    \
  HGS_COPY(name, direction, Element, size, _nbi, this_thread, )                                \
  HGS_COPY(name, direction, Element, size, _wave, lane_of_wave, )                              \
  HGS_COPY(name, direction, Element, size, _nbi_wave, lane_of_wave, )                          \
  HGS_COPY(name, direction, Element, size, _wg, thread_of_workgroup, hgs::workgroup_barrier()) \
  HGS_COPY(name, direction, Element, size, _nbi_wg, thread_of_workgroup, hgs::workgroup_barrier())

HGS_COPIES(putmem, put, void, 1)
HGS_COPIES(getmem, get, void, 1)

#define HGS_TYPED(name, Element)                                              \
  HGS_COPIES(name##_put, put, Element, sizeof(Element))                       \
  HGS_COPIES(name##_get, get, Element, sizeof(Element))                       \
  HGS_DEVICE void rocshmem_##name##_p(Element* dest, Element value, int pe) { \
    hgs::put_element(dest, value, pe);                                        \
  }                                                                           \
  HGS_DEVICE Element rocshmem_##name##_g(const Element* source, int pe) {     \
    return hgs::get_element(source, pe);                                      \
  }
HGS_RMA_TYPES(HGS_TYPED)

#undef HGS_TYPED
#undef HGS_COPIES
#undef HGS_COPY

}  // namespace rocshmem
