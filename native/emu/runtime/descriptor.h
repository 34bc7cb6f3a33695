#pragma once
#include <cstdint>

namespace hipgraph::emu {

/// A kernel descriptor: 64 bytes in a code object that say how its waves start.
struct Descriptor {
  static constexpr std::uint64_t size = 64;

  /// Reads the descriptor at `address` of loaded memory.
  static Descriptor at(std::uint64_t address);

  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;  ///< per lane
  std::int64_t entry_offset = 0;    ///< of the first instruction, from the descriptor
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  std::uint16_t properties = 0;
  std::uint16_t preload = 0;

  /// VGPRs allocated, architected and accumulation ones together.
  std::uint32_t unified_vgprs() const { return ((rsrc1 & 63) + 1) * 8; }
  /// Where the accumulation VGPRs begin in that file.
  std::uint32_t accum_offset() const { return ((rsrc3 & 63) + 1) * 4; }
  std::uint32_t user_sgprs() const { return rsrc2 >> 1 & 31; }
  bool has_workgroup_id(unsigned axis) const { return (rsrc2 >> (7 + axis) & 1) != 0; }
  bool has_workgroup_info() const { return (rsrc2 >> 10 & 1) != 0; }
  bool has_private_segment() const { return (rsrc2 & 1) != 0; }
  /// Highest axis of the work-item id that the kernel reads: 0 x, 1 y, 2 z.
  std::uint32_t work_item_axes() const { return rsrc2 >> 11 & 3; }
  bool wave32() const { return (properties >> 10 & 1) != 0; }
  std::uint32_t preload_dwords() const { return preload & 127; }
  std::uint32_t preload_offset() const { return preload >> 7; }
};

}  // namespace hipgraph::emu
