#include "isa/buffer_lanes.h"

#include <limits>

namespace hipgraph::emu {
namespace {

/// The fields of a buffer resource that raw accesses use.
struct Descriptor {
  std::uint64_t base;
  std::uint32_t stride;
  std::uint32_t records;  ///< bytes, or structures when an index is used
  bool swizzles;
  std::uint32_t element_code;       ///< element bytes are 2 << this
  std::uint32_t index_stride_code;  ///< lanes that are interleaved: 8 << this
  bool adds_lane;
};

Descriptor descriptor_of(const Wave& wave, std::uint16_t code) {
  const std::uint32_t* words = &wave.sgpr[code];
  return {words[0] | std::uint64_t{words[1] & 0xffff} << 32,
          words[1] >> 16 & 0x3fff,
          words[2],
          (words[1] >> 31) != 0,
          words[3] >> 19 & 3,
          words[3] >> 21 & 3,
          (words[3] >> 23 & 1) != 0};
}

/// A register row, or zeros where the instruction has none.
const VectorRegister& row_or_zeros(Wave& wave, bool present, std::uint32_t code) {
  static constexpr VectorRegister zeros{};
  return present ? *rows_of(wave, static_cast<std::uint16_t>(code)) : zeros;
}

std::uint64_t lanes_with_room(const BufferLanes& lanes, std::uint32_t bytes) {
  bool all = true;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) all &= lanes.room[lane] >= bytes;
  if (all) return all_lanes;
  std::uint64_t mask = 0;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    mask |= std::uint64_t{lanes.room[lane] >= bytes} << lane;
  }
  return mask;
}

void check_alignment(const BufferLanes& lanes) {
  std::uint64_t low = 0;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) low |= lanes.inside.of[lane] & 3;
  if (low == 0) return;
  // Lanes that touch no memory may have any address.
  const std::uint64_t active = lanes.inside.mask | lanes.outside;
  for_each_lane(active & lanes_with_room(lanes, 4), [&](std::uint32_t lane) {
    if (lanes.inside.of[lane] % 4 != 0) throw_misaligned(lanes.inside.of[lane], 4);
  });
}

/// Raw access: addresses by byte offset, and the check too, in which the scalar offset counts.
void place_by_offset(BufferLanes& lanes, const Descriptor& buffer, std::uint32_t scalar,
                     std::uint32_t constant, const VectorRegister& offsets) {
  const std::uint64_t base = buffer.base + scalar;
  const std::uint32_t end = buffer.records > scalar ? buffer.records - scalar : 0;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    const std::uint32_t offset = offsets[lane] + constant;
    lanes.inside.of[lane] = base + offset;
    lanes.room[lane] = std::max(end, offset) - offset;
  }
}

/// Structured access: the check counts structures, so a lane has room for anything or for nothing.
void place_by_index(BufferLanes& lanes, const Descriptor& buffer, const VectorRegister& indices) {
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    const std::uint32_t index = indices[lane];
    lanes.inside.of[lane] += std::uint64_t{buffer.stride} * index;
    lanes.room[lane] = index < buffer.records ? std::numeric_limits<std::uint32_t>::max() : 0;
  }
}

}  // namespace

BufferLanes buffer_lanes(Wave& wave, const Instruction& in, std::uint32_t bytes) {
  const Descriptor buffer = descriptor_of(wave, in.saddr);
  if (buffer.swizzles) throw_unsupported_modifier(in, "descriptor with swizzle enabled");
  if (buffer.adds_lane) throw_unsupported_modifier(in, "descriptor with ADD_TID enabled");
  const std::uint32_t scalar = scalar_u32(wave, in, in.soffset);
  const auto constant = static_cast<std::uint32_t>(in.imm);
  const VectorRegister& offsets = row_or_zeros(wave, in.offen, in.addr + (in.idxen ? 1u : 0u));
  BufferLanes lanes;
  place_by_offset(lanes, buffer, scalar, constant, offsets);
  if (in.idxen && buffer.stride != 0) place_by_index(lanes, buffer, *rows_of(wave, in.addr));
  const std::uint64_t exec = wave.exec();
  lanes.inside.mask = exec & lanes_with_room(lanes, bytes);
  lanes.outside = exec & ~lanes.inside.mask;
  if (bytes >= 4) check_alignment(lanes);
  return lanes;
}

bool is_private_segment(const Wave& wave, const Instruction& in) {
  const Descriptor buffer = descriptor_of(wave, in.saddr);
  const bool by_dwords_and_lanes = buffer.swizzles && buffer.adds_lane &&
                                   buffer.element_code == 1 && buffer.index_stride_code == 3 &&
                                   buffer.stride == 0;
  const std::uint64_t bytes = std::uint64_t{wave.launch->scratch_lane_bytes} * wave_size;
  const std::uint64_t into = buffer.base - reinterpret_cast<std::uint64_t>(wave.scratch);
  return by_dwords_and_lanes && into < bytes && !in.idxen && !in.lds;
}

LaneAddresses private_segment_lanes(Wave& wave, const Instruction& in) {
  constexpr std::uint32_t row_bytes = 4 * wave_size;
  const std::uint64_t base = descriptor_of(wave, in.saddr).base;
  // The stack pointer counts the bytes of all lanes.
  const std::uint64_t wave_offset =
      base - reinterpret_cast<std::uint64_t>(wave.scratch) + scalar_u32(wave, in, in.soffset);
  if (wave_offset % row_bytes != 0) {
    throw_unsupported_modifier(in, "scratch offset that is no multiple of 256");
  }
  const std::uint64_t scalar = wave_offset / wave_size;
  const auto constant = static_cast<std::uint32_t>(in.imm);
  const VectorRegister& offsets = row_or_zeros(wave, in.offen, in.addr);
  LaneAddresses lanes;
  lanes.mask = wave.exec();
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    lanes.of[lane] = scalar + (offsets[lane] + constant);
  }
  return lanes;
}

}  // namespace hipgraph::emu
