#include "runtime/wave_start.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/register_files.h"

namespace hipgraph::emu {
namespace {

constexpr std::uint32_t last_user_sgpr = 102;
constexpr std::uint64_t preload_prologue = 256;  // code that does the preload where firmware cannot

/// Bits of the descriptor's properties, in the order of the registers that they ask for.
enum Property : unsigned {
  kPrivateSegmentBuffer,
  kDispatchPointer,
  kQueuePointer,
  kKernargPointer,
  kDispatchId,
  kFlatScratchInit,
  kPrivateSegmentSize
};

/// Fills scalar registers from s0 on.
class SgprFiller {
 public:
  explicit SgprFiller(Wave& wave) : wave_(wave) {}

  void add(std::uint32_t value) {
    if (next_ < last_user_sgpr) wave_.sgpr[next_++] = value;
  }
  void add_pair(std::uint64_t value) {
    add(static_cast<std::uint32_t>(value));
    add(static_cast<std::uint32_t>(value >> 32));
  }
  void go_to(std::uint32_t code) { next_ = code; }

 private:
  Wave& wave_;
  std::uint32_t next_ = 0;
};

std::uint64_t scratch_address(const Wave& wave) {
  return reinterpret_cast<std::uint64_t>(wave.scratch);
}

/// The buffer resource that code without architected scratch reaches its scratch through: lanes
/// interleaved by dwords.
void add_private_segment_buffer(SgprFiller& sgprs, const Wave& wave) {
  constexpr std::uint32_t swizzle = 1U << 31;
  constexpr std::uint32_t adds_lane = 1U << 23, index_stride_64 = 3U << 21, element_4 = 1U << 19;
  const std::uint64_t base = scratch_address(wave);
  sgprs.add(static_cast<std::uint32_t>(base));
  sgprs.add(static_cast<std::uint32_t>(base >> 32 & 0xffff) | swizzle);
  sgprs.add(wave.launch->scratch_lane_bytes * wave_size);
  sgprs.add(adds_lane | index_stride_64 | element_4);
}

void add_user_sgprs(SgprFiller& sgprs, const Wave& wave, const LaunchStart& start) {
  const Descriptor& descriptor = start.descriptor;
  const auto asks = [&descriptor](Property bit) { return (descriptor.properties >> bit & 1) != 0; };
  if (asks(kPrivateSegmentBuffer)) add_private_segment_buffer(sgprs, wave);
  if (asks(kDispatchPointer)) sgprs.add_pair(start.memory->packet());
  if (asks(kQueuePointer)) {
    sgprs.add_pair(absent_part("queue: this device does not emulate its memory"));
  }
  if (asks(kKernargPointer)) sgprs.add_pair(start.memory->kernarg());
  if (asks(kDispatchId)) sgprs.add_pair(wave.launch->launch);
  if (asks(kFlatScratchInit)) sgprs.add_pair(scratch_address(wave));
  if (asks(kPrivateSegmentSize)) sgprs.add(wave.launch->scratch_lane_bytes);
}

/// Whether the launch itself loads kernel arguments into registers.
bool preloads(const Wave& wave, const Descriptor& descriptor) {
  return descriptor.preload_dwords() != 0 && facts(wave.launch->target).supports_preload;
}

void add_preloaded(SgprFiller& sgprs, const LaunchStart& start) {
  const std::uint32_t first = start.descriptor.preload_offset();
  const std::uint32_t available = start.request->kernel->kernarg_bytes / 4;
  for (std::uint32_t i = first; i < first + start.descriptor.preload_dwords(); ++i) {
    std::uint32_t value = register_poison;
    if (i < available) {
      std::memcpy(&value, reinterpret_cast<const void*>(start.memory->kernarg() + 4 * i), 4);
    }
    sgprs.add(value);
  }
}

void add_system_sgprs(SgprFiller& sgprs, const Wave& wave, const Descriptor& descriptor) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (descriptor.has_workgroup_id(axis)) sgprs.add(wave.group->id[axis]);
  }
  if (descriptor.has_workgroup_info()) sgprs.add(wave.group->waves_live);
  if (descriptor.has_private_segment() && !facts(wave.launch->target).architected_flat_scratch) {
    sgprs.add(0);  // the wave's offset in the buffer: each wave has its own
  }
}

std::uint32_t mode_of(const Descriptor& descriptor) {
  const std::uint32_t rsrc1 = descriptor.rsrc1;
  const std::uint32_t rounding_and_denormals = rsrc1 >> 12 & 0xff;
  return rounding_and_denormals | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 |
         (rsrc1 >> 26 & 1) << 23;
}

/// Packs the work-item ids into v0 and enables the lanes that exist.
void set_lanes(Wave& wave, const LaunchStart& start) {
  const auto [size_x, size_y, size_z] = block_at(*start.request, wave.group->id);
  const std::uint32_t first = wave.index * wave_size;
  const std::uint32_t lanes = std::min(size_x * size_y * size_z - first, wave_size);
  const std::uint32_t axes = start.descriptor.work_item_axes();
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t item = first + lane;
    const std::uint32_t y = axes >= 1 ? item / size_x % size_y : 0;
    const std::uint32_t z = axes >= 2 ? item / (size_x * size_y) : 0;
    wave.vgpr[0][lane] = item % size_x | y << 10 | z << 20;
  }
  wave.set_pair(sreg::exec, ~std::uint64_t{0} >> (wave_size - lanes));
}

}  // namespace

void start_wave(Wave& wave, const LaunchStart& start) {
  const Descriptor& descriptor = start.descriptor;
  wave.sgpr.fill(register_poison);
  SgprFiller sgprs(wave);
  add_user_sgprs(sgprs, wave, start);
  const bool preloaded = preloads(wave, descriptor);
  if (preloaded) add_preloaded(sgprs, start);
  sgprs.go_to(descriptor.user_sgprs());
  add_system_sgprs(sgprs, wave, descriptor);
  wave.mode = mode_of(descriptor);
  wave.pc = start.request->kernel->entry + (preloaded ? preload_prologue : 0);
  wave.status = WaveStatus::Ready;
  set_lanes(wave, start);
}

}  // namespace hipgraph::emu
