// The type names in rocSHMEM's function names: each list calls apply(name, type).
#pragma once

#define HGS_RMA_TYPES(apply)                                                                  \
  apply(float, float) apply(double, double) apply(char, char) apply(schar, signed char)       \
      apply(short, short) apply(int, int) apply(long, long) apply(longlong, long long)        \
          apply(uchar, unsigned char) apply(ushort, unsigned short) apply(uint, unsigned int) \
              apply(ulong, unsigned long) apply(ulonglong, unsigned long long)

#define HGS_BITWISE_TYPES(apply)                                                             \
  apply(uint, unsigned int) apply(ulong, unsigned long) apply(ulonglong, unsigned long long) \
      apply(int32, int32_t) apply(int64, int64_t) apply(uint32, uint32_t) apply(uint64, uint64_t)

#define HGS_INTEGER_TYPES(apply)                                                   \
  HGS_BITWISE_TYPES(apply)                                                         \
  apply(int, int) apply(long, long) apply(longlong, long long) apply(size, size_t) \
      apply(ptrdiff, ptrdiff_t)

#define HGS_ATOMIC_TYPES(apply) \
  HGS_INTEGER_TYPES(apply)      \
  apply(float, float) apply(double, double)
