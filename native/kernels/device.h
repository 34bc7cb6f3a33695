// The device language that the kernels are written in: attributes, types, workgroup facts.
// It stands in for the ROCm headers, so that a clang without ROCm builds the kernels.
#pragma once

#define GLOBAL __attribute__((address_space(1)))
#define DEVICE static __attribute__((device)) inline
#define DEVICE_MEMBER __attribute__((device)) inline
#define LDS static __attribute__((shared))
// Parameters point into GLOBAL memory explicitly: generic pointers would reach the metadata under
// another name ("a.coerce") and memory through flat instructions.
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f32x4 = f32 __attribute__((ext_vector_type(4)));
using u32x4 = u32 __attribute__((ext_vector_type(4)));
using s16x8 = short __attribute__((ext_vector_type(8)));
using bf16x4 = __bf16 __attribute__((ext_vector_type(4)));
using bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using f16x4 = _Float16 __attribute__((ext_vector_type(4)));
using f16x8 = _Float16 __attribute__((ext_vector_type(8)));

constexpr u32 kWaveLanes = 64;
constexpr u32 kBlockThreads = 256;

DEVICE u32 thread_index() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 lane_index() { return thread_index() % kWaveLanes; }
DEVICE u32 wave_index() { return thread_index() / kWaveLanes; }
DEVICE u32 least(u32 x, u32 y) { return x < y ? x : y; }
DEVICE u32 ceil_div(u32 x, u32 y) { return (x + y - 1) / y; }

DEVICE u64 grid_thread_index() {
  return (u64)__builtin_amdgcn_workgroup_id_x() * kBlockThreads + thread_index();
}

/// Threads of a one-dimensional grid.
DEVICE u64 grid_threads() { return __builtin_amdgcn_grid_size_x(); }

/// The value of the first lane, for one that the compiler cannot know to be the same in all lanes.
DEVICE u32 uniform(u32 x) { return (u32)__builtin_amdgcn_readfirstlane((int)x); }

/// Waits for every wave of the workgroup; what they wrote to LDS is then visible to all of them.
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// Makes what this wave wrote to memory visible to the whole device.
DEVICE void release_to_device() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }

/// Makes what other workgroups released visible to this wave.
DEVICE void acquire_from_device() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
