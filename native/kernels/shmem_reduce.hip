// Reductions over a team: shmem_<sum|min|max|prod>_<float|double|int|long|bfloat16>.
//
//   state, team                    this PE's
//   target_offset, source_offset   from the base of every PE's heap, which is 16-byte aligned;
//   equal
//                                  (in place) or without overlap; aligned to an element
//   count                          elements
//
// Grid: any number of workgroups of 256 threads. Between two barriers of the team.
//
// Each PE owns a part of the elements: it reads them from every member and writes the results to
// every member. So in place is sound, and all PEs get the same bits. Members are combined in team
// order; bfloat16 in fp32, rounded once. Integers wrap. Minimum and maximum propagate NaN.
#include <hipgraph_shmem/device_barrier.h>

#include "device.h"

/// The type that elements are combined in. Unsigned integers wrap where signed ones may not.
template <typename Element>
struct Combined {
  using Type = Element;
};
template <>
struct Combined<__bf16> {
  using Type = f32;
};

template <typename Element>
struct Wrapping {
  using Type = Element;
};
template <>
struct Wrapping<int> {
  using Type = u32;
};
template <>
struct Wrapping<long> {
  using Type = unsigned long;
};

struct Sum {
  template <typename T>
  DEVICE_MEMBER T operator()(T x, T y) const {
    using Number = typename Wrapping<T>::Type;
    return (T)((Number)x + (Number)y);
  }
};
struct Product {
  template <typename T>
  DEVICE_MEMBER T operator()(T x, T y) const {
    using Number = typename Wrapping<T>::Type;
    return (T)((Number)x * (Number)y);
  }
};
struct Minimum {
  template <typename T>
  DEVICE_MEMBER T operator()(T x, T y) const {
    return x < y || x != x ? x : y;
  }
};
struct Maximum {
  template <typename T>
  DEVICE_MEMBER T operator()(T x, T y) const {
    return x > y || x != x ? x : y;
  }
};

struct Reduction {
  const GLOBAL hgs_device_state* state;
  const GLOBAL hgs_team* team;
  u64 target_offset;
  u64 source_offset;
};

// Parts are whole multiples of this many elements, so that each is as aligned as the first.
constexpr u64 kPartUnit = 16;

/// Reduces kWidth neighbouring elements, which are aligned to their size together.
template <typename Operation, typename Element, u32 kWidth>
DEVICE void reduce_elements(const Reduction& given, u64 first) {
  using Number = typename Combined<Element>::Type;
  using Elements = Element __attribute__((ext_vector_type(kWidth)));
  const u64 at = first * sizeof(Element);
  Number combined[kWidth];
  for (int i = 0; i < given.team->n_pes; ++i) {
    const GLOBAL char* heap = hgs::heap_of_member(given.state, given.team, i);
    const Elements loaded = *(const GLOBAL Elements*)(heap + given.source_offset + at);
#pragma unroll
    for (u32 j = 0; j < kWidth; ++j) {
      const auto number = (Number)loaded[j];
      combined[j] = i == 0 ? number : Operation()(combined[j], number);
    }
  }
  Elements result;
#pragma unroll
  for (u32 j = 0; j < kWidth; ++j) result[j] = (Element)combined[j];
  for (int i = 0; i < given.team->n_pes; ++i) {
    GLOBAL char* heap = hgs::heap_of_member(given.state, given.team, i);
    *(GLOBAL Elements*)(heap + given.target_offset + at) = result;
  }
}

template <typename Operation, typename Element>
DEVICE void reduce_part(const Reduction& given, u64 count) {
  constexpr u32 kWidth = 16 / sizeof(Element);
  const u64 n_pes = (u64)given.team->n_pes;
  const u64 part = ((count + n_pes - 1) / n_pes + kPartUnit - 1) / kPartUnit * kPartUnit;
  const u64 begin = (u64)given.team->my_pe * part;
  const u64 end = begin + part < count ? begin + part : count;
  if (begin >= end) return;

  // Each wave for itself: a barrier's acquire reaches the caches near its own wave only.
  hgs::acquire_from_system();
  const bool aligned = (given.target_offset | given.source_offset) % 16 == 0;
  const u64 middle = aligned ? begin + (end - begin) / kWidth * kWidth : begin;
  for (u64 at = begin + grid_thread_index() * kWidth; at < middle; at += grid_threads() * kWidth) {
    reduce_elements<Operation, Element, kWidth>(given, at);
  }
  for (u64 at = middle + grid_thread_index(); at < end; at += grid_threads()) {
    reduce_elements<Operation, Element, 1>(given, at);
  }
  hgs::release_to_system();
}

#define SHMEM_REDUCE(operation, Operation, name, Element)                                         \
  KERNEL shmem_##operation##_##name(const GLOBAL hgs_device_state* state,                         \
                                    const GLOBAL hgs_team* team, u64 target_offset,               \
                                    u64 source_offset, u64 count) {                               \
    reduce_part<Operation, Element>(Reduction{state, team, target_offset, source_offset}, count); \
  }

#define SHMEM_REDUCE_ALL(name, Element)     \
  SHMEM_REDUCE(sum, Sum, name, Element)     \
  SHMEM_REDUCE(min, Minimum, name, Element) \
  SHMEM_REDUCE(max, Maximum, name, Element) \
  SHMEM_REDUCE(prod, Product, name, Element)

SHMEM_REDUCE_ALL(float, f32)
SHMEM_REDUCE_ALL(double, double)
SHMEM_REDUCE_ALL(int, int)
SHMEM_REDUCE_ALL(long, long)
SHMEM_REDUCE_ALL(bfloat16, __bf16)
