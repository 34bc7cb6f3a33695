#pragma once
#include <cstdint>
#include <mutex>
#include <string>

#include "hipgraph_shmem/device_state.h"
#include "pe_mask.h"

namespace hipgraph::shmem {

/// A team, as this PE sees it.
struct Team {
  hgs_team shape{};
  hgs_team* on_device = nullptr;  ///< also its handle
  int pad = 0;                    ///< which of the pads in the reserved head
  std::uint32_t serial = 0;       ///< tells teams of the same PEs apart, in time

  std::mutex turn;             ///< one collective call of the host at a time
  std::uint32_t sequence = 0;  ///< of the next exchange

  int world_pe(int index) const { return shape.start + index * shape.stride; }
  /// -1 for a PE outside.
  int index_of(int world_pe) const;
  PeMask members() const;
  /// "team of PEs 0, 2".
  std::string name() const { return "team of " + pes(members()); }
};

/// Where a pad lies in every PE's heap.
constexpr hgs_u64 pad_offset(int pad) { return static_cast<hgs_u64>(pad) * 1024; }
constexpr int kPads = 64;
static_assert(sizeof(hgs_pad) <= 1024);
/// Bytes of the heap that are not the user's.
constexpr hgs_u64 kReservedHead = pad_offset(kPads);

}  // namespace hipgraph::shmem
