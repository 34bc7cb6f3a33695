#include "atomics.h"

using namespace hipgraph::shmem;

namespace {

template <class Number>
int update(hgs_atomic_operation operation, Number* target, Number value, int pe) {
  return entry([&] { atomic<Number>(operation, target, value, Number{}, pe); });
}

template <class Number>
int fetch_update(hgs_atomic_operation operation, const Number* target, Number value,
                 Number condition, int pe, Number* result) {
  return entry([&] {
    Number& old = result_of(result, "result");
    old = atomic<Number>(operation, target, value, condition, pe);
  });
}

}  // namespace

#define HGS_SET(name, Number)                                         \
  int hgs_##name##_atomic_set(Number* target, Number value, int pe) { \
    return update<Number>(HGS_ATOMIC_SET, target, value, pe);         \
  }
#define HGS_FETCH_SWAP(name, Number)                                                   \
  int hgs_##name##_atomic_fetch(const Number* source, int pe, Number* result) {        \
    return fetch_update<Number>(HGS_ATOMIC_FETCH, source, {}, {}, pe, result);         \
  }                                                                                    \
  int hgs_##name##_atomic_swap(Number* target, Number value, int pe, Number* result) { \
    return fetch_update<Number>(HGS_ATOMIC_SWAP, target, value, {}, pe, result);       \
  }
#define HGS_ADD(name, Number)                                         \
  int hgs_##name##_atomic_add(Number* target, Number value, int pe) { \
    return update<Number>(HGS_ATOMIC_ADD, target, value, pe);         \
  }                                                                   \
  int hgs_##name##_atomic_inc(Number* target, int pe) {               \
    return update<Number>(HGS_ATOMIC_ADD, target, 1, pe);             \
  }
#define HGS_FETCH_ADD(name, Number)                                                         \
  int hgs_##name##_atomic_fetch_add(Number* target, Number value, int pe, Number* result) { \
    return fetch_update<Number>(HGS_ATOMIC_ADD, target, value, {}, pe, result);             \
  }                                                                                         \
  int hgs_##name##_atomic_fetch_inc(Number* target, int pe, Number* result) {               \
    return fetch_update<Number>(HGS_ATOMIC_ADD, target, 1, {}, pe, result);                 \
  }
#define HGS_COMPARE_SWAP(name, Number)                                                          \
  int hgs_##name##_atomic_compare_swap(Number* target, Number condition, Number value, int pe,  \
                                       Number* result) {                                        \
    return fetch_update<Number>(HGS_ATOMIC_COMPARE_SWAP, target, value, condition, pe, result); \
  }
#define HGS_BITS(name, Number, bits, OPERATION)                                                \
  int hgs_##name##_atomic_fetch_##bits(Number* target, Number value, int pe, Number* result) { \
    return fetch_update<Number>(OPERATION, target, value, {}, pe, result);                     \
  }                                                                                            \
  int hgs_##name##_atomic_##bits(Number* target, Number value, int pe) {                       \
    return update<Number>(OPERATION, target, value, pe);                                       \
  }

#define HGS_FLOATING(name, Number) \
  HGS_SET(name, Number)            \
  HGS_FETCH_SWAP(name, Number)
#define HGS_INTEGER(name, Number) \
  HGS_FLOATING(name, Number)      \
  HGS_ADD(name, Number)           \
  HGS_FETCH_ADD(name, Number)     \
  HGS_COMPARE_SWAP(name, Number)
#define HGS_UNSIGNED(name, Number)            \
  HGS_INTEGER(name, Number)                   \
  HGS_BITS(name, Number, and, HGS_ATOMIC_AND) \
  HGS_BITS(name, Number, or, HGS_ATOMIC_OR)   \
  HGS_BITS(name, Number, xor, HGS_ATOMIC_XOR)

HGS_INTEGER(int, int)
HGS_INTEGER(long, long)
HGS_INTEGER(size, size_t)
HGS_INTEGER(ptrdiff, ptrdiff_t)
HGS_UNSIGNED(uint32, uint32_t)
HGS_UNSIGNED(uint64, uint64_t)
HGS_FLOATING(float, float)
HGS_FLOATING(double, double)
HGS_SET(longlong, long long)
HGS_ADD(longlong, long long)
