// From fp32 sums to the result: bias in fp32, one rounding to nearest even, masked stores.
#pragma once
#include "tile.h"

/// Element types of the output and of the bias, as the kernels' d_type and bias_type name them.
enum ElementType : u32 { kF32 = 0, kBf16 = 1, kF16 = 2 };

/// The neutral number of addition: 0 + -0 is 0, not -0.
constexpr f32 kNothing = -0.0f;

/// D, m x n row-major; rows are `stride` elements apart and aligned to one element.
struct Output {
  GLOBAL void* data;
  u32 m;
  u32 n;
  u64 stride;
  u32 type;
};

/// n numbers, or null: no bias.
struct Bias {
  const GLOBAL void* data;
  u32 type;
};

template <typename Element>
DEVICE f32x4 load_four(const GLOBAL void* data, u32 column, u32 end, f32x4 four) {
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    if (column + i < end) four[i] = (f32)((const GLOBAL Element*)data)[column + i];
  }
  return four;
}

/// The bias of a lane's four columns.
DEVICE f32x4 bias_of_lane(const Bias& bias, u32 column, u32 n) {
  const f32x4 none = kNothing;
  if (bias.data == nullptr) return none;
  if (bias.type == kF32) return load_four<f32>(bias.data, column, n, none);
  if (bias.type == kBf16) return load_four<__bf16>(bias.data, column, n, none);
  return load_four<_Float16>(bias.data, column, n, none);
}

/// Four numbers in memory that promises dword alignment only, which is what wide stores need.
template <typename Four>
struct __attribute__((packed, aligned(4))) DwordAligned {
  Four numbers;
};

/// Stores the first `count` of four numbers, in one piece where count and alignment allow.
template <typename Element, typename Four>
DEVICE void store_four(GLOBAL Element* place, u32 count, Four four) {
  if (count >= 4 && (sizeof(Element) == 4 || (u64)place % 4 == 0)) {
    ((GLOBAL DwordAligned<Four>*)place)->numbers = four;
    return;
  }
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    if (i < count) place[i] = four[i];
  }
}

/// Rounds four sums once and stores those that lie inside D; the row must.
DEVICE void store_row(const Output& d, u32 row, u32 column, f32x4 sum) {
  const u64 offset = row * d.stride + column;
  const u32 count = d.n - column;
  if (d.type == kF32) {
    store_four((GLOBAL f32*)d.data + offset, count, sum);
  } else if (d.type == kBf16) {
    store_four((GLOBAL __bf16*)d.data + offset, count, __builtin_convertvector(sum, bf16x4));
  } else {
    store_four((GLOBAL _Float16*)d.data + offset, count, __builtin_convertvector(sum, f16x4));
  }
}
