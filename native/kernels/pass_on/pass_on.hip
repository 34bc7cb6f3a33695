// A kernel as a user of SHMEM writes it: in a code object of its own, against the device header
// only, so that its context symbols must be set by module_init before it runs.
//
//   pass_on    one wave of 64 threads
//
//   mail       symmetric: where the neighbour's copy goes
//   source     what is sent: `bytes` bytes of this PE
//   signal     symmetric: counts the mail that came
//   turn       this PE's own count of launches; the kernel ends when as much mail has come
//   neighbour  the PE that gets the mail
#include <rocshmem/rocshmem.hpp>

using rocshmem::size_t;
using rocshmem::uint64_t;

extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void pass_on(
    void* mail, const void* source, size_t bytes, uint64_t* signal, uint64_t* turn, int neighbour) {
  rocshmem::rocshmem_putmem_signal_wave(mail, source, bytes, signal, 1,
                                        rocshmem::ROCSHMEM_SIGNAL_ADD, neighbour);
  if (__builtin_amdgcn_workitem_id_x() != 0) return;
  // The turn lives in memory: a replay takes the next one.
  *turn += 1;
  rocshmem::rocshmem_signal_wait_until(signal, rocshmem::ROCSHMEM_CMP_GE, *turn);
}
