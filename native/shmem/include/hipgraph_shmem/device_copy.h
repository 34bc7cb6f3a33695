// Copying bytes between PEs by `workers` lanes, in the widest unit that both ends are aligned to.
#pragma once
#include "device_language.h"

namespace hgs {

using FourWords = hgs_u32 __attribute__((ext_vector_type(4)));

// Shared memory is global; the other end of a copy may also be a kernel's own LDS or stack.
template <typename Unit>
HGS_DEVICE Unit load_unit(const HGS_GLOBAL char* place) {
  return *(const HGS_GLOBAL Unit*)place;
}

template <typename Unit>
HGS_DEVICE Unit load_unit(const char* place) {
  return *(const Unit*)place;
}

template <typename Unit>
HGS_DEVICE void store_unit(HGS_GLOBAL char* place, Unit unit) {
  *(HGS_GLOBAL Unit*)place = unit;
}

template <typename Unit>
HGS_DEVICE void store_unit(char* place, Unit unit) {
  *(Unit*)place = unit;
}

/// Copies whole units from `begin` on; returns where the rest begins.
template <typename Unit, typename Target, typename Source>
HGS_DEVICE hgs_u64 copy_units(Target target, Source source, hgs_u64 begin, hgs_u64 bytes,
                              hgs_u64 worker, hgs_u64 workers) {
  const hgs_u64 end = begin + (bytes - begin) / sizeof(Unit) * sizeof(Unit);
  for (hgs_u64 at = begin + worker * sizeof(Unit); at < end; at += workers * sizeof(Unit)) {
    store_unit<Unit>(target + at, load_unit<Unit>(source + at));
  }
  return end;
}

template <typename Target, typename Source>
HGS_DEVICE void copy(Target target, Source source, hgs_u64 bytes, hgs_u64 worker, hgs_u64 workers) {
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
