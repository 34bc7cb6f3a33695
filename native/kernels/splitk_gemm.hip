// Split-K GEMM: D = A * B^T (+ bias), K cut into split_k slices, summed in slice order.
//
//   splitk_gemm_<bf16|f16>_m<16|32|64|128>   one launch; tile_m rows x 64 columns a workgroup
//   splitk_reduce_m<16|32|64|128>            second launch of the counter-free scheme
//
// Grid in blocks of 256 threads:  gemm   (ceil(n / 64), ceil(m / tile_m), split_k)
//                                 reduce (ceil(n / 64), ceil(m / tile_m), tile_m / 16)
//
//   a, b          m x k and n x k, row-major; rows stride_a, stride_b elements apart; bases and row
//                 strides are multiples of 16 bytes; k is a multiple of 8
//   bias          n numbers of bias_type, added in fp32 before the one rounding; or null
//   d             m x n of d_type, row-major, rows stride_d elements apart, aligned to its element
//   workspace     fp32 partials; null when split_k is 1. No contents are expected of it. Bytes:
//                 4 * split_k * (grid.x * 64) * (grid.y * tile_m)
//   counters      one u32 a tile, word blockIdx.y * grid.x + blockIdx.x, zero at launch and zero
//                 again at the end; or null: the partials stay in the workspace for splitk_reduce
//   error         one u32 in device memory that collects error bits; needed where counters are
//   m, n, k       at least 1, 1 and 8, below 2^31
//   d_type, bias_type   0 fp32, 1 bf16, 2 fp16
//
// The last workgroup of a tile to arrive reduces it; nobody waits. One wrapping increment both
// counts the arrival and sets the counter back to zero. A counter that is found >= split_k was
// dirty at launch: error bit 0 is set, and the tile's part of D is not written. Dirty below split_k
// it goes unnoticed: the tile is reduced too early. So zero the counters before a graph's replay.
//
// The two schemes give the same bits, whichever workgroup arrives last: both sum the same partials
// in slice order. Slices are whole steps of 64 of K; with more slices than steps the empty ones
// contribute zeros, so any split_k >= 1 is sound.
#include "output.h"

constexpr u32 kDirtyCounter = 1;

/// fp32 partials in register order, [slice][tile][fragment][thread]: every access of a wave covers
/// 1 KiB without gaps. Only lanes that hold a number of D ever write.
struct Workspace {
  GLOBAL f32x4* data;
  u32 fragments;  // of one tile
  u64 slice_pitch;
};

DEVICE Workspace workspace_of(GLOBAL f32x4* data, u32 m, u32 n, u32 tile_m) {
  const u64 tiles = (u64)ceil_div(n, kTileN) * ceil_div(m, tile_m);
  const u32 fragments = tile_m / kFragment;
  return {data, fragments, tiles * fragments * kBlockThreads};
}

DEVICE u64 place_of(const Workspace& workspace, u32 tile, u32 fragment, u32 thread) {
  return ((u64)tile * workspace.fragments + fragment) * kBlockThreads + thread;
}

/// Sums the partials at kCount places over all slices, in slice order. Loads go out in batches,
/// since each would otherwise wait for memory alone; past the last slice, which is loaded again
/// there, nothing is added. (Not by a branch: the compiler would move the loads behind it.)
template <u32 kCount>
DEVICE void sum_slices(const Workspace& workspace, u32 split_k, const u64 (&places)[kCount],
                       f32x4 (&sum)[kCount]) {
  constexpr u32 kBatch = 8 / kCount;
#pragma unroll
  for (u32 i = 0; i < kCount; ++i) sum[i] = kNothing;
  for (u32 slice = 0; slice < split_k; slice += kBatch) {
    f32x4 loaded[kBatch][kCount];
#pragma unroll
    for (u32 j = 0; j < kBatch; ++j) {
      const auto* partials = workspace.data + least(slice + j, split_k - 1) * workspace.slice_pitch;
#pragma unroll
      for (u32 i = 0; i < kCount; ++i) loaded[j][i] = partials[places[i]];
    }
#pragma unroll
    for (u32 j = 0; j < kBatch; ++j) {
#pragma unroll
      for (u32 i = 0; i < kCount; ++i) sum[i] += slice + j < split_k ? loaded[j][i] : kNothing;
    }
  }
}

/// Counts this workgroup in and tells whether it is the last of its tile.
DEVICE bool arrives_last(GLOBAL u32* counter, u32 split_k, GLOBAL u32* error) {
  LDS u32 arrived;
  // Each wave releases its own partials: thread 0's release would not wait for the other waves.
  release_to_device();
  barrier();
  if (thread_index() == 0) {
    arrived = __builtin_amdgcn_atomic_inc32(counter, split_k - 1, __ATOMIC_ACQ_REL, "agent");
    if (arrived >= split_k) {
      __hip_atomic_fetch_or(error, kDirtyCounter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
  }
  barrier();
  acquire_from_device();
  return uniform(arrived) == split_k - 1;
}

/// What a GEMM is given beyond its two matrices.
struct Task {
  Output d;
  Bias bias;
  GLOBAL f32x4* workspace;
  GLOBAL u32* counters;
  GLOBAL u32* error;
  u32 k;
  u32 split_k;
};

/// Writes this slice's partials and, in the last workgroup of the tile to arrive, replaces `sum` by
/// the sum over all slices. False: somebody else finishes the tile.
template <u32 kFragments>
DEVICE bool combine_slices(const Task& task, u32 slice, u32 tile, u32 row_0, u32 column,
                           f32x4 (&sum)[kFragments]) {
  const u32 tile_m = kFragments * kFragment;
  const Workspace workspace = workspace_of(task.workspace, task.d.m, task.d.n, tile_m);
  const u32 last_fragment = (task.d.m - 1 - row_0) / kFragment;
  u64 places[kFragments];
#pragma unroll
  for (u32 i = 0; i < kFragments; ++i) {
    // A lane outside D stores nothing and looks where thread 0 has stored, which never is outside.
    const bool live = row_of_lane(row_0, i) < task.d.m && column < task.d.n;
    places[i] = place_of(workspace, tile, least(i, last_fragment), live ? thread_index() : 0);
    if (live) workspace.data[slice * workspace.slice_pitch + places[i]] = sum[i];
  }
  if (task.counters == nullptr) return false;
  if (!arrives_last(task.counters + tile, task.split_k, task.error)) return false;
  sum_slices(workspace, task.split_k, places, sum);
  return true;
}

template <typename Element, u32 kTileM>
DEVICE void gemm(const Matrix& a, const Matrix& b, const Task& task) {
  constexpr u32 kFragments = kTileM / kFragment;
  const u32 tile_x = __builtin_amdgcn_workgroup_id_x();
  const u32 tile_y = __builtin_amdgcn_workgroup_id_y();
  const u32 slice = __builtin_amdgcn_workgroup_id_z();
  const u32 row_0 = tile_y * kTileM;
  const u32 column_0 = tile_x * kTileN;
  const u32 column = column_of_lane(column_0);

  f32x4 sum[kFragments] = {};
  multiply_slice<Element, kTileM>(a, b, row_0, column_0, slice_of_k(task.k, task.split_k, slice),
                                  sum);
  if (task.split_k > 1) {
    const u32 tile = tile_y * ceil_div(task.d.n, kTileN) + tile_x;
    if (!combine_slices(task, slice, tile, row_0, column, sum)) return;
  }
  if (column >= task.d.n) return;
  const f32x4 bias = bias_of_lane(task.bias, column, task.d.n);
#pragma unroll
  for (u32 i = 0; i < kFragments; ++i) {
    const u32 row = row_of_lane(row_0, i);
    if (row < task.d.m) store_row(task.d, row, column, sum[i] + bias);
  }
}

template <u32 kTileM>
DEVICE void reduce(const Output& d, const Bias& bias, GLOBAL f32x4* partials, u32 split_k) {
  const u32 tile_x = __builtin_amdgcn_workgroup_id_x();
  const u32 tile_y = __builtin_amdgcn_workgroup_id_y();
  const u32 fragment = __builtin_amdgcn_workgroup_id_z();
  const u32 row = row_of_lane(tile_y * kTileM, fragment);
  const u32 column = column_of_lane(tile_x * kTileN);
  if (row >= d.m || column >= d.n) return;
  const Workspace workspace = workspace_of(partials, d.m, d.n, kTileM);
  const u32 tile = tile_y * ceil_div(d.n, kTileN) + tile_x;
  const u64 places[] = {place_of(workspace, tile, fragment, thread_index())};
  f32x4 sum[1];
  sum_slices(workspace, split_k, places, sum);
  store_row(d, row, column, sum[0] + bias_of_lane(bias, column, d.n));
}

#define SPLITK_GEMM(name, Element, tile_m)                                                   \
  KERNEL splitk_gemm_##name##_m##tile_m(                                                     \
      const GLOBAL u16* a, const GLOBAL u16* b, const GLOBAL void* bias, GLOBAL void* d,     \
      GLOBAL f32x4* workspace, GLOBAL u32* counters, GLOBAL u32* error, u32 m, u32 n, u32 k, \
      u64 stride_a, u64 stride_b, u64 stride_d, u32 split_k, u32 d_type, u32 bias_type) {    \
    gemm<Element, tile_m>(Matrix{a, m, stride_a}, Matrix{b, n, stride_b},                    \
                          Task{Output{d, m, n, stride_d, d_type}, Bias{bias, bias_type},     \
                               workspace, counters, error, k, split_k});                     \
  }

#define SPLITK_REDUCE(tile_m)                                                                      \
  KERNEL splitk_reduce_m##tile_m(GLOBAL f32x4* workspace, const GLOBAL void* bias, GLOBAL void* d, \
                                 u32 m, u32 n, u64 stride_d, u32 split_k, u32 d_type,              \
                                 u32 bias_type) {                                                  \
    reduce<tile_m>(Output{d, m, n, stride_d, d_type}, Bias{bias, bias_type}, workspace, split_k);  \
  }

SPLITK_GEMM(bf16, __bf16, 16)
SPLITK_GEMM(bf16, __bf16, 32)
SPLITK_GEMM(bf16, __bf16, 64)
SPLITK_GEMM(bf16, __bf16, 128)
SPLITK_GEMM(f16, _Float16, 16)
SPLITK_GEMM(f16, _Float16, 32)
SPLITK_GEMM(f16, _Float16, 64)
SPLITK_GEMM(f16, _Float16, 128)
SPLITK_REDUCE(16)
SPLITK_REDUCE(32)
SPLITK_REDUCE(64)
SPLITK_REDUCE(128)
