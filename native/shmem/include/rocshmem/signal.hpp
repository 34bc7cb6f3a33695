// Signals: 64-bit words that tell another PE that data has come.
#pragma once
#include "../hipgraph_shmem/device_atomic.h"
#include "rma.hpp"
#include "wait.hpp"

namespace hgs {

/// Everything that this wave wrote before is visible to who sees the signal.
HGS_DEVICE void update_signal(rocshmem::uint64_t* signal, hgs_u64 value, int operation, int pe) {
  auto* peer = (HGS_GLOBAL hgs_u64*)remote(signal, sizeof(hgs_u64), pe);
  if (peer == nullptr) return;
  if (operation == rocshmem::ROCSHMEM_SIGNAL_ADD) {
    add_release(peer, value);
  } else {
    store_release(peer, value);
  }
}

}  // namespace hgs

namespace rocshmem {

// Each wave releases its own part of the copy; `join` brings the waves together.
#define HGS_PUT_SIGNAL(suffix, worker, join)                                                      \
  HGS_DEVICE void rocshmem_putmem_signal##suffix(void* dest, const void* source, size_t nelems,   \
                                                 uint64_t* sig_addr, uint64_t signal, int sig_op, \
                                                 int pe) {                                        \
    const hgs::Worker worker_here = hgs::worker();                                                \
    hgs::put(dest, source, nelems, pe, worker_here);                                              \
    hgs::release_to_system();                                                                     \
    join;                                                                                         \
    if (worker_here.index == 0) hgs::update_signal(sig_addr, signal, sig_op, pe);                 \
  }
HGS_PUT_SIGNAL(, this_thread, )
HGS_PUT_SIGNAL(_nbi, this_thread, )
HGS_PUT_SIGNAL(_wave, lane_of_wave, )
HGS_PUT_SIGNAL(_nbi_wave, lane_of_wave, )
HGS_PUT_SIGNAL(_wg, thread_of_workgroup, hgs::workgroup_barrier())
HGS_PUT_SIGNAL(_nbi_wg, thread_of_workgroup, hgs::workgroup_barrier())
#undef HGS_PUT_SIGNAL

HGS_DEVICE void rocshmem_signal_set(uint64_t* sig_addr, uint64_t signal, int pe) {
  hgs::update_signal(sig_addr, signal, ROCSHMEM_SIGNAL_SET, pe);
}

HGS_DEVICE void rocshmem_signal_add(uint64_t* sig_addr, uint64_t signal, int pe) {
  hgs::update_signal(sig_addr, signal, ROCSHMEM_SIGNAL_ADD, pe);
}

/// This PE's own signal.
HGS_DEVICE uint64_t rocshmem_signal_fetch(const uint64_t* sig_addr) {
  return hgs::load_acquire((const HGS_GLOBAL uint64_t*)sig_addr);
}

/// Waits for this PE's own signal and returns it.
HGS_DEVICE uint64_t rocshmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_value) {
  return hgs::wait_for_own(sig_addr, cmp, cmp_value);
}

}  // namespace rocshmem
