// Copying bytes between PEs by `workers` lanes, in the widest unit that both ends are aligned to.
#pragma once
#include "device_language.h"

namespace hgs {

using FourWords = hgs_u32 __attribute__((ext_vector_type(4)));

/// Copies whole units from `begin` on; returns where the rest begins.
template <typename Unit>
HGS_DEVICE hgs_u64 copy_units(HGS_GLOBAL char* target, const HGS_GLOBAL char* source, hgs_u64 begin,
                              hgs_u64 bytes, hgs_u64 worker, hgs_u64 workers) {
  const hgs_u64 end = begin + (bytes - begin) / sizeof(Unit) * sizeof(Unit);
  for (hgs_u64 at = begin + worker * sizeof(Unit); at < end; at += workers * sizeof(Unit)) {
    *(HGS_GLOBAL Unit*)(target + at) = *(const HGS_GLOBAL Unit*)(source + at);
  }
  return end;
}

HGS_DEVICE void copy(HGS_GLOBAL char* target, const HGS_GLOBAL char* source, hgs_u64 bytes,
                     hgs_u64 worker, hgs_u64 workers) {
  const hgs_u64 misaligned = (hgs_u64)target | (hgs_u64)source;
  hgs_u64 copied = 0;
  if (misaligned % sizeof(FourWords) == 0) {
    copied = copy_units<FourWords>(target, source, 0, bytes, worker, workers);
  } else if (misaligned % sizeof(hgs_u32) == 0) {
    copied = copy_units<hgs_u32>(target, source, 0, bytes, worker, workers);
  }
  copy_units<char>(target, source, copied, bytes, worker, workers);
}

}  // namespace hgs
