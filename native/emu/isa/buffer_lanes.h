#pragma once
#include "isa/memory_access.h"

/// Addresses and range checks of the BUFFER family.
namespace hipgraph::emu {

/// What one BUFFER instruction touches, lane by lane.
struct BufferLanes {
  LaneAddresses inside;                       ///< mask: active lanes wholly in the buffer
  std::uint64_t outside = 0;                  ///< the other active lanes
  std::array<std::uint32_t, wave_size> room;  ///< bytes from a lane's position to the end
};

/// Evaluates the descriptor, the offsets and the range check for accesses of `bytes` a lane;
/// throws Trap for what the descriptor asks and this device does not model, and for a dword or
/// wider access off a dword boundary (hardware would silently ignore the low address bits).
BufferLanes buffer_lanes(Wave& wave, const Instruction& instruction, std::uint32_t bytes);

/// Whether the descriptor is that of the wave's own scratch, which targets without architected
/// scratch reach through BUFFER instructions: swizzled by dwords over the lanes.
bool is_private_segment(const Wave& wave, const Instruction& instruction);

/// Scratch offsets of the lanes of such an access, for ScratchSpace; throws Trap where a scalar
/// offset would not leave every lane in its own column.
LaneAddresses private_segment_lanes(Wave& wave, const Instruction& instruction);

}  // namespace hipgraph::emu
