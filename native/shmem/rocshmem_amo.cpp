#include "rocshmem_state.h"

#define HGS_FETCHED(name, type)                                                              \
  HGS_WHEN(                                                                                  \
      HGS_HAVE_##name##_atomic_fetch,                                                        \
      int hgs_##name##_atomic_fetch(const type* source, int pe, type* result) {              \
        return hgs::with_pe(__func__, pe, [=] {                                              \
          *result = rocshmem::rocshmem_##name##_atomic_fetch(const_cast<type*>(source), pe); \
        });                                                                                  \
      })                                                                                     \
  HGS_WHEN(                                                                                  \
      HGS_HAVE_##name##_atomic_swap,                                                         \
      int hgs_##name##_atomic_swap(type* target, type value, int pe, type* result) {         \
        return hgs::with_pe(__func__, pe, [=] {                                              \
          *result = rocshmem::rocshmem_##name##_atomic_swap(target, value, pe);              \
        });                                                                                  \
      })
HGS_FETCHED_TYPES(HGS_FETCHED)

#define HGS_SET(name, type)                                                                      \
  HGS_WHEN(                                                                                      \
      HGS_HAVE_##name##_atomic_set,                                                              \
      int hgs_##name##_atomic_set(type* target, type value, int pe) {                            \
        return hgs::with_pe(__func__, pe,                                                        \
                            [=] { rocshmem::rocshmem_##name##_atomic_set(target, value, pe); }); \
      })
HGS_SET_TYPES(HGS_SET)

#define HGS_INTEGER(name, type)                                                                    \
  HGS_WHEN(                                                                                        \
      HGS_HAVE_##name##_atomic_compare_swap,                                                       \
      int hgs_##name##_atomic_compare_swap(type* target, type condition, type value, int pe,       \
                                           type* result) {                                         \
        return hgs::with_pe(__func__, pe, [=] {                                                    \
          *result = rocshmem::rocshmem_##name##_atomic_compare_swap(target, condition, value, pe); \
        });                                                                                        \
      })                                                                                           \
  HGS_WHEN(                                                                                        \
      HGS_HAVE_##name##_atomic_fetch_add,                                                          \
      int hgs_##name##_atomic_fetch_add(type* target, type value, int pe, type* result) {          \
        return hgs::with_pe(__func__, pe, [=] {                                                    \
          *result = rocshmem::rocshmem_##name##_atomic_fetch_add(target, value, pe);               \
        });                                                                                        \
      })                                                                                           \
  HGS_WHEN(                                                                                        \
      HGS_HAVE_##name##_atomic_fetch_inc,                                                          \
      int hgs_##name##_atomic_fetch_inc(type* target, int pe, type* result) {                      \
        return hgs::with_pe(__func__, pe, [=] {                                                    \
          *result = rocshmem::rocshmem_##name##_atomic_fetch_inc(target, pe);                      \
        });                                                                                        \
      })
HGS_INTEGER_TYPES(HGS_INTEGER)

#define HGS_COUNTING(name, type)                                                                 \
  HGS_WHEN(                                                                                      \
      HGS_HAVE_##name##_atomic_add,                                                              \
      int hgs_##name##_atomic_add(type* target, type value, int pe) {                            \
        return hgs::with_pe(__func__, pe,                                                        \
                            [=] { rocshmem::rocshmem_##name##_atomic_add(target, value, pe); }); \
      })                                                                                         \
  HGS_WHEN(                                                                                      \
      HGS_HAVE_##name##_atomic_inc, int hgs_##name##_atomic_inc(type* target, int pe) {          \
        return hgs::with_pe(__func__, pe,                                                        \
                            [=] { rocshmem::rocshmem_##name##_atomic_inc(target, pe); });        \
      })
HGS_COUNTING_TYPES(HGS_COUNTING)

#define HGS_BITWISE(name, type)                                                                   \
  HGS_WHEN(                                                                                       \
      HGS_HAVE_##name##_atomic_fetch_and,                                                         \
      int hgs_##name##_atomic_fetch_and(type* target, type value, int pe, type* result) {         \
        return hgs::with_pe(__func__, pe, [=] {                                                   \
          *result = rocshmem::rocshmem_##name##_atomic_fetch_and(target, value, pe);              \
        });                                                                                       \
      })                                                                                          \
  HGS_WHEN(                                                                                       \
      HGS_HAVE_##name##_atomic_fetch_or,                                                          \
      int hgs_##name##_atomic_fetch_or(type* target, type value, int pe, type* result) {          \
        return hgs::with_pe(__func__, pe, [=] {                                                   \
          *result = rocshmem::rocshmem_##name##_atomic_fetch_or(target, value, pe);               \
        });                                                                                       \
      })                                                                                          \
  HGS_WHEN(                                                                                       \
      HGS_HAVE_##name##_atomic_fetch_xor,                                                         \
      int hgs_##name##_atomic_fetch_xor(type* target, type value, int pe, type* result) {         \
        return hgs::with_pe(__func__, pe, [=] {                                                   \
          *result = rocshmem::rocshmem_##name##_atomic_fetch_xor(target, value, pe);              \
        });                                                                                       \
      })                                                                                          \
  HGS_WHEN(                                                                                       \
      HGS_HAVE_##name##_atomic_and,                                                               \
      int hgs_##name##_atomic_and(type* target, type value, int pe) {                             \
        return hgs::with_pe(__func__, pe,                                                         \
                            [=] { rocshmem::rocshmem_##name##_atomic_and(target, value, pe); });  \
      })                                                                                          \
  HGS_WHEN(                                                                                       \
      HGS_HAVE_##name##_atomic_or, int hgs_##name##_atomic_or(type* target, type value, int pe) { \
        return hgs::with_pe(__func__, pe,                                                         \
                            [=] { rocshmem::rocshmem_##name##_atomic_or(target, value, pe); });   \
      })                                                                                          \
  HGS_WHEN(                                                                                       \
      HGS_HAVE_##name##_atomic_xor,                                                               \
      int hgs_##name##_atomic_xor(type* target, type value, int pe) {                             \
        return hgs::with_pe(__func__, pe,                                                         \
                            [=] { rocshmem::rocshmem_##name##_atomic_xor(target, value, pe); });  \
      })
HGS_BITWISE_TYPES(HGS_BITWISE)
