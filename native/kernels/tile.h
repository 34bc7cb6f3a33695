// One workgroup's product: the sum over one slice of K of a tile of A * B^T, in fp32 registers.
//
// Four waves share tile_m rows of A (staged in LDS); wave w owns columns 16w..16w+15 of the tile
// and reads the rows of B that make them straight into registers, since no other wave needs them.
// A lane always holds 8 consecutive K of one row, a chunk: 16 bytes of memory, one ds_read_b128,
// and one (gfx950) or two (gfx90a, gfx942) 16x16 matrix instructions. The rows of B are the matrix
// operand A, so that a lane ends with 4 neighbouring columns of one row of the result.
#pragma once
#include "device.h"

constexpr u32 kTileN = 64;
constexpr u32 kFragment = 16;  // rows and columns of one matrix instruction
constexpr u32 kChunk = 8;
constexpr u32 kStepK = 64;
constexpr u32 kStepChunks = kStepK / kChunk;
// One chunk of padding: 144 bytes a row, so 8 neighbouring rows touch all 32 LDS banks once.
constexpr u32 kLdsRowChunks = kStepChunks + 1;

using Chunk = u32x4;

/// A row-major matrix of 16-bit elements; rows are `stride` elements apart and 16-byte aligned.
/// Only multiply_add needs to know whether the elements are __bf16 or _Float16.
struct Matrix {
  const GLOBAL u16* data;
  u32 rows;
  u64 stride;
};

/// The part [begin, end) of K that one workgroup sums; empty when begin >= end.
struct Slice {
  u32 begin;
  u32 end;
};

/// K in steps of kStepK, spread evenly: the first slices get one step more. Only the last step of
/// the last slice that is not empty can be ragged.
DEVICE Slice slice_of_k(u32 k, u32 split_k, u32 index) {
  const u32 steps = ceil_div(k, kStepK);
  const u32 each = steps / split_k;
  const u32 longer = steps % split_k;
  const u32 first = index * each + least(index, longer);
  const u32 count = each + (index < longer ? 1 : 0);
  return {first * kStepK, least(k, (first + count) * kStepK)};
}

// multiply_add adds the product of 16 columns and 16 rows over 32 of K, a chunk of each in a lane.
// The unnamed argument picks the element type.
#if defined(__gfx950__)
DEVICE f32x4 multiply_add(__bf16, Chunk columns, Chunk rows, f32x4 sum) {
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(bf16x8, columns),
                                                 __builtin_bit_cast(bf16x8, rows), sum, 0, 0, 0);
}

DEVICE f32x4 multiply_add(_Float16, Chunk columns, Chunk rows, f32x4 sum) {
  return __builtin_amdgcn_mfma_f32_16x16x32_f16(__builtin_bit_cast(f16x8, columns),
                                                __builtin_bit_cast(f16x8, rows), sum, 0, 0, 0);
}
#else
DEVICE f32x4 multiply_add(__bf16, Chunk columns, Chunk rows, f32x4 sum) {
  const auto x = __builtin_bit_cast(s16x8, columns);
  const auto y = __builtin_bit_cast(s16x8, rows);
  sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x.lo, y.lo, sum, 0, 0, 0);
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x.hi, y.hi, sum, 0, 0, 0);
}

DEVICE f32x4 multiply_add(_Float16, Chunk columns, Chunk rows, f32x4 sum) {
  const auto x = __builtin_bit_cast(f16x8, columns);
  const auto y = __builtin_bit_cast(f16x8, rows);
  sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x.lo, y.lo, sum, 0, 0, 0);
  return __builtin_amdgcn_mfma_f32_16x16x16f16(x.hi, y.hi, sum, 0, 0, 0);
}
#endif

/// The column of the first of this lane's four numbers, the same in every fragment of the tile.
DEVICE u32 column_of_lane(u32 column_0) {
  return column_0 + wave_index() * kFragment + lane_index() / kFragment * 4;
}

DEVICE u32 row_of_lane(u32 row_0, u32 fragment) {
  return row_0 + fragment * kFragment + lane_index() % kFragment;
}

/// What a thread reads: rows of A to stage, a row of B to multiply, and where in a step it starts.
/// Rows outside a matrix are replaced by its last row: they only reach sums that nobody stores.
template <u32 kTileM>
struct Feed {
  static constexpr u32 kRowsAtOnce = kBlockThreads / kStepChunks;
  static constexpr u32 kCountA = kTileM > kRowsAtOnce ? kTileM / kRowsAtOnce : 1;
  const GLOBAL u16* a[kCountA];
  const GLOBAL u16* b;
  u32 k_a;
  u32 k_b;
};

/// A thread's chunks of one K step.
template <u32 kTileM>
struct Step {
  static constexpr u32 kCountB = kStepK / (4 * kChunk);
  Chunk a[Feed<kTileM>::kCountA];
  Chunk b[kCountB];
};

/// A stage of LDS: one K step of A's tile.
template <u32 kTileM>
using Stage = Chunk[kTileM][kLdsRowChunks];

DEVICE const GLOBAL u16* row_of(const Matrix& matrix, u32 row) {
  return matrix.data + least(row, matrix.rows - 1) * matrix.stride;
}

template <u32 kTileM>
DEVICE Feed<kTileM> feed_of_thread(const Matrix& a, const Matrix& b, u32 row_0, u32 column_0) {
  Feed<kTileM> feed;
#pragma unroll
  for (u32 i = 0; i < feed.kCountA; ++i) {
    feed.a[i] = row_of(a, row_0 + thread_index() / kStepChunks + i * feed.kRowsAtOnce);
  }
  feed.b = row_of(b, column_0 + wave_index() * kFragment + lane_index() % kFragment);
  feed.k_a = thread_index() % kStepChunks * kChunk;
  feed.k_b = lane_index() / kFragment * kChunk;
  return feed;
}

/// The chunk at k, or the slice's last one beyond its end. The load is not skipped there: a branch
/// would make the compiler wait for every load in flight, the prefetch of later steps included.
DEVICE Chunk load_chunk(const GLOBAL u16* row, u32 k, u32 k_end) {
  return *(const GLOBAL Chunk*)(row + least(k, k_end - kChunk));
}

template <u32 kTileM>
DEVICE Step<kTileM> load_step(const Feed<kTileM>& feed, u32 k, u32 k_end) {
  Step<kTileM> step;
#pragma unroll
  for (u32 i = 0; i < feed.kCountA; ++i) {
    step.a[i] = load_chunk(feed.a[i], k + feed.k_a, k_end);
  }
#pragma unroll
  for (u32 i = 0; i < step.kCountB; ++i) {
    step.b[i] = load_chunk(feed.b, k + feed.k_b + i * 4 * kChunk, k_end);
  }
  return step;
}

/// Puts zeros where a ragged step passes the slice's end, in both factors: 0 * infinity is not 0.
template <u32 kTileM>
DEVICE void clear_beyond_end(const Feed<kTileM>& feed, Step<kTileM>& step, u32 k, u32 k_end) {
#pragma unroll
  for (u32 i = 0; i < feed.kCountA; ++i) {
    if (k + feed.k_a >= k_end) step.a[i] = 0;
  }
#pragma unroll
  for (u32 i = 0; i < step.kCountB; ++i) {
    if (k + feed.k_b + i * 4 * kChunk >= k_end) step.b[i] = 0;
  }
}

/// Multiplies one K step, then starts loading the step after the next one in its place.
template <typename Element, u32 kTileM>
DEVICE void multiply_step(const Feed<kTileM>& feed, Step<kTileM>& step, Stage<kTileM>& stage, u32 k,
                          u32 k_end, f32x4 (&sum)[kTileM / kFragment]) {
  if (k + kStepK > k_end) clear_beyond_end(feed, step, k, k_end);
  const u32 row = thread_index() / kStepChunks;
  // A 16-row tile has fewer chunks than the block has threads.
  if (kTileM >= feed.kRowsAtOnce || row < kTileM) {
#pragma unroll
    for (u32 i = 0; i < feed.kCountA; ++i) {
      stage[row + i * feed.kRowsAtOnce][thread_index() % kStepChunks] = step.a[i];
    }
  }
  barrier();
#pragma unroll
  for (u32 half = 0; half < step.kCountB; ++half) {
#pragma unroll
    for (u32 i = 0; i < kTileM / kFragment; ++i) {
      const auto rows =
          stage[i * kFragment + lane_index() % kFragment][half * 4 + lane_index() / kFragment];
      sum[i] = multiply_add(Element(), step.b[half], rows, sum[i]);
    }
  }
  step = load_step(feed, k + 2 * kStepK, k_end);
}

/// Adds the slice's product to `sum`: sum[i] is rows 16i..16i+15 of the tile; of those a lane holds
/// row lane % 16, columns 4 * (lane / 16) and the three after it, of its wave's 16.
template <typename Element, u32 kTileM>
DEVICE void multiply_slice(const Matrix& a, const Matrix& b, u32 row_0, u32 column_0, Slice slice,
                           f32x4 (&sum)[kTileM / kFragment]) {
  // Two stages make one barrier a step enough: a wave writes a stage again only after a barrier
  // that every wave reaches with its reads of that stage done.
  LDS Stage<kTileM> stages[2];
  const auto feed = feed_of_thread<kTileM>(a, b, row_0, column_0);
  auto even = load_step(feed, slice.begin, slice.end);
  auto odd = load_step(feed, slice.begin + kStepK, slice.end);
  for (u32 k = slice.begin; k < slice.end; k += 2 * kStepK) {
    multiply_step<Element>(feed, even, stages[0], k, slice.end, sum);
    if (k + kStepK >= slice.end) break;
    multiply_step<Element>(feed, odd, stages[1], k + kStepK, slice.end, sum);
  }
}
