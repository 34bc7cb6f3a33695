// What the local provider keeps for kernels, in its own memory and in the symmetric heap: one
// layout for the provider (C++), its kernels and the device header. Plain data, fixed widths.
#pragma once

/// Version of this page: the first word of hgs_device_state.
#define HGS_DEVICE_ABI 0x48475301u
#define HGS_MAX_PES 64

typedef unsigned int hgs_u32;
typedef unsigned long long hgs_u64;

/// A team as kernels see it: PE `index` of it is PE start + index * stride of the world.
typedef struct hgs_team {
  int my_pe;
  int n_pes;
  int start;
  int stride;
  hgs_u64 pad_offset;  ///< its hgs_pad, in bytes from the base of every PE's heap
} hgs_team;

/// Where a team's PEs tell each other that they arrived, in the symmetric heap. Epochs only grow,
/// and live here and not in kernel arguments: a replayed barrier takes the next one.
typedef struct hgs_pad {
  hgs_u64 epoch;                 ///< of this PE's last barrier; no other PE touches it
  hgs_u64 arrived[HGS_MAX_PES];  ///< by team index: the epoch that the PE last arrived at
} hgs_pad;

typedef enum hgs_operation {
  HGS_NOTHING = 0,
  HGS_BARRIER = 1,
  HGS_WAIT_UNTIL = 2,
  HGS_BAD_PE = 3,
  HGS_OUTSIDE_HEAP = 4,
} hgs_operation;

/// The first failure that a kernel met, in pinned host memory; the kernel gave up and went on.
typedef struct hgs_failure {
  hgs_u32 operation;   ///< hgs_operation; written last, behind a release fence: the record is whole
  hgs_u32 claimed;     ///< 1 as soon as a kernel writes here; a later failure is not kept
  hgs_u64 expected;    ///< epoch or value waited for; the PE or the address that was wrong
  hgs_u64 seen;        ///< value last seen
  hgs_u64 address;     ///< of the word waited for
  hgs_u64 missing;     ///< bit i: PE i of the team had not arrived
  hgs_team team;       ///< the barrier's
  hgs_u32 comparison;  ///< of a wait
  hgs_u32 unused;
} hgs_failure;

/// Everything a kernel needs to reach other PEs; ROCSHMEM_CTX_DEFAULT points to it.
typedef struct hgs_device_state {
  hgs_u32 abi;
  int my_pe;
  int n_pes;
  hgs_u32 unused;
  hgs_u64 heap_bytes;
  hgs_u64 timeout_ticks;  ///< of s_memrealtime
  hgs_failure* failure;
  hgs_team* world;
  char* heaps[HGS_MAX_PES];  ///< every PE's heap, as mapped here
} hgs_device_state;
