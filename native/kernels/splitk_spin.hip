// A split-K GEMM in the protocol of AMD's shipped "_splitk_clean" kernels, whose workgroups wait
// for each other on a counter. It exists to show what a dirty counter does: the launch never ends
// (see ROCm/aiter pull request 4916). For work there is splitk_gemm.
//
//   splitk_spin_bf16_m64    D (fp32) = A * B^T, grid (ceil(n / 64), ceil(m / 64), split_k)
//
//   a, b       as in splitk_gemm
//   d          fp32, rows stride_d elements apart; need not be zero
//   counters   one u32 a tile, word blockIdx.y * grid.x + blockIdx.x, zero at launch
//
// The workgroup of slice 0 waits until the counter is 0, zeroes its tile of D and arms the counter
// with split_k. Every workgroup waits until the counter is not 0, adds its product to D and
// decrements it: it goes 0 -> split_k -> ... -> 0 by itself. Found above split_k, it ends at 2 (at
// 1, found equal to split_k), and all four waves of every slice-0 workgroup wait for ever.
#include "tile.h"

constexpr u32 kTileM = 64;

DEVICE u32 load_counter(GLOBAL u32* counter) {
  return __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// Calls visit(element, fragment, i) for each number of this lane that lies inside D.
template <typename Visit>
DEVICE void for_each_number(GLOBAL f32* d, u64 stride, u32 m, u32 n, u32 row_0, u32 column_0,
                            Visit visit) {
#pragma unroll
  for (u32 fragment = 0; fragment < kTileM / kFragment; ++fragment) {
    const u32 row = row_of_lane(row_0, fragment);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const u32 column = column_of_lane(column_0) + i;
      if (row < m && column < n) visit(d + row * stride + column, fragment, i);
    }
  }
}

KERNEL splitk_spin_bf16_m64(const GLOBAL u16* a, const GLOBAL u16* b, GLOBAL f32* d,
                            GLOBAL u32* counters, u32 m, u32 n, u32 k, u64 stride_a, u64 stride_b,
                            u64 stride_d, u32 split_k) {
  const u32 tile_x = __builtin_amdgcn_workgroup_id_x();
  const u32 tile_y = __builtin_amdgcn_workgroup_id_y();
  const u32 slice = __builtin_amdgcn_workgroup_id_z();
  const u32 row_0 = tile_y * kTileM;
  const u32 column_0 = tile_x * kTileN;
  GLOBAL u32* counter = counters + tile_y * ceil_div(n, kTileN) + tile_x;

  if (slice == 0) {
    while (load_counter(counter) != 0) {
    }
    for_each_number(d, stride_d, m, n, row_0, column_0,
                    [](GLOBAL f32* element, u32, u32) { *element = 0; });
    release_to_device();
    barrier();
    if (thread_index() == 0) {
      __hip_atomic_store(counter, split_k, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
  }

  f32x4 sum[kTileM / kFragment] = {};
  multiply_slice<__bf16, kTileM>(Matrix{a, m, stride_a}, Matrix{b, n, stride_b}, row_0, column_0,
                                 slice_of_k(k, split_k, slice), sum);

  if (wave_index() == 0) {
    while (load_counter(counter) == 0) {
    }
  }
  barrier();
  acquire_from_device();
  for_each_number(d, stride_d, m, n, row_0, column_0,
                  [&sum](GLOBAL f32* element, u32 fragment, u32 i) {
                    __hip_atomic_fetch_add(element, sum[fragment][i], __ATOMIC_RELAXED,
                                           __HIP_MEMORY_SCOPE_AGENT);
                  });
  release_to_device();
  barrier();
  if (thread_index() == 0) {
    __builtin_amdgcn_atomic_dec32(counter, split_k, __ATOMIC_RELAXED, "agent");
  }
}
