#include <atomic>

#include "isa/buffer_lanes.h"
#include "isa/lds_load.h"
#include "isa/memory_atomic.h"
#include "isa/tables.h"

// BUFFER without formats: device memory through a descriptor. What reaches past its end is no
// error: it reads as zero and is not written; kernels rely on that for ragged tiles.
namespace hipgraph::emu {
namespace {

using namespace atomic;
using b32 = std::uint32_t;
using b64 = std::uint64_t;

/// Caches are not modelled, memory is always coherent; but the host may let a later load overtake
/// an earlier store, and fences of kernels consist of these instructions.
void fence(Wave& /*wave*/, const Instruction& /*in*/) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Calls `access(address, byte)` for those dwords of a lane that are in the buffer.
template <Transfer kind, typename Access>
void for_dwords_inside(const BufferLanes& lanes, std::uint32_t lane, Access access) {
  for (std::uint32_t byte = 0; byte + 4 <= kind.bytes && byte + 4 <= lanes.room[lane]; byte += 4) {
    access(lanes.inside.of[lane] + byte, byte);
  }
}

/// Whether a load into LDS of this width exists: one dword; three and four on gfx950.
template <std::uint32_t bytes>
bool loads_into_lds(const Wave& wave) {
  return bytes == 4 || (bytes >= 12 && wave.launch->target == Target::gfx950);
}

template <Transfer kind>
void load_lds(Wave& wave, const Instruction& in) {
  if (!loads_into_lds<kind.bytes>(wave)) throw_unsupported_modifier(in, "lds");
  const BufferLanes lanes = buffer_lanes(wave, in, kind.bytes);
  load_into_lds<kind.bytes>(wave, lanes.inside, lanes.outside, lds_load_start(wave, in));
}

template <Transfer kind>
void load(Wave& wave, const Instruction& in) {
  if (in.lds) return load_lds<kind>(wave, in);
  VectorRegister* rows = rows_of(wave, in.dst);
  if (is_private_segment(wave, in)) {
    return load_lanes<kind>(ScratchSpace(wave), private_segment_lanes(wave, in), rows);
  }
  const BufferLanes lanes = buffer_lanes(wave, in, kind.bytes);
  GlobalSpace space(wave, Access::Load, is_coherent_load(wave, in));
  for_each_lane(lanes.outside, [&](std::uint32_t lane) {
    std::array<std::uint8_t, kind.bytes> bytes{};
    for_dwords_inside<kind>(lanes, lane, [&](std::uint64_t address, std::uint32_t byte) {
      std::memcpy(bytes.data() + byte, space.at(address, 4), 4);
    });
    unpack<kind>(rows, lane, bytes.data());
  });
  load_lanes<kind>(space, lanes.inside, rows);
}

template <Transfer kind>
void store(Wave& wave, const Instruction& in) {
  if (in.lds) throw_unsupported_modifier(in, "lds");
  const VectorRegister* rows = rows_of(wave, in.data);
  if (is_private_segment(wave, in)) {
    return store_lanes<kind>(ScratchSpace(wave), private_segment_lanes(wave, in), rows);
  }
  const BufferLanes lanes = buffer_lanes(wave, in, kind.bytes);
  GlobalSpace space(wave, Access::Store, in.sc1);
  for_each_lane(lanes.outside, [&](std::uint32_t lane) {
    std::array<std::uint8_t, kind.bytes> bytes;
    pack<kind>(rows, lane, bytes.data());
    for_dwords_inside<kind>(lanes, lane, [&](std::uint64_t address, std::uint32_t byte) {
      std::array<std::uint8_t, 4> dword;
      std::memcpy(dword.data(), bytes.data() + byte, 4);
      space.write(lane, address, dword);
    });
  });
  space.finish_writes();
  store_lanes<kind>(space, lanes.inside, rows);
}

template <typename Operation, typename T>
void atomic_row(Wave& wave, const Instruction& in) {
  if (in.lds) throw_unsupported_modifier(in, "lds");
  const BufferLanes lanes = buffer_lanes(wave, in, sizeof(T));
  const AtomicRows rows = atomic_rows<T>(wave, in);
  atomic_lanes<Operation, T>(GlobalSpace(wave, Access::Atomic, true), lanes.inside, rows);
  if (rows.returned == nullptr) return;
  for_each_lane(lanes.outside, [&](std::uint32_t lane) { set_word<T>(rows.returned, lane, 0); });
}

// Formatted accesses and stores out of LDS are known and refused.
constexpr Row table[] = {
    {0, all_targets, "buffer_load_format_x", nullptr, {1, 0}},
    {1, all_targets, "buffer_load_format_xy", nullptr, {2, 0}},
    {2, all_targets, "buffer_load_format_xyz", nullptr, {3, 0}},
    {3, all_targets, "buffer_load_format_xyzw", nullptr, {4, 0}},
    {4, all_targets, "buffer_store_format_x", nullptr, {0, 1}},
    {5, all_targets, "buffer_store_format_xy", nullptr, {0, 2}},
    {6, all_targets, "buffer_store_format_xyz", nullptr, {0, 3}},
    {7, all_targets, "buffer_store_format_xyzw", nullptr, {0, 4}},
    {8, all_targets, "buffer_load_format_d16_x", nullptr, {1, 0}},
    {9, all_targets, "buffer_load_format_d16_xy", nullptr, {1, 0}},
    {10, all_targets, "buffer_load_format_d16_xyz", nullptr, {2, 0}},
    {11, all_targets, "buffer_load_format_d16_xyzw", nullptr, {2, 0}},
    {12, all_targets, "buffer_store_format_d16_x", nullptr, {0, 1}},
    {13, all_targets, "buffer_store_format_d16_xy", nullptr, {0, 1}},
    {14, all_targets, "buffer_store_format_d16_xyz", nullptr, {0, 2}},
    {15, all_targets, "buffer_store_format_d16_xyzw", nullptr, {0, 2}},
    {16, all_targets, "buffer_load_ubyte", load<transfer::u8>, {1, 0}},
    {17, all_targets, "buffer_load_sbyte", load<transfer::i8>, {1, 0}},
    {18, all_targets, "buffer_load_ushort", load<transfer::u16>, {1, 0}},
    {19, all_targets, "buffer_load_sshort", load<transfer::i16>, {1, 0}},
    {20, all_targets, "buffer_load_dword", load<transfer::b32>, {1, 0}},
    {21, all_targets, "buffer_load_dwordx2", load<transfer::b64>, {2, 0}},
    {22, all_targets, "buffer_load_dwordx3", load<transfer::b96>, {3, 0}},
    {23, all_targets, "buffer_load_dwordx4", load<transfer::b128>, {4, 0}},
    {24, all_targets, "buffer_store_byte", store<transfer::u8>, {0, 1}},
    {25, all_targets, "buffer_store_byte_d16_hi", store<transfer::u8_high>, {0, 1}},
    {26, all_targets, "buffer_store_short", store<transfer::u16>, {0, 1}},
    {27, all_targets, "buffer_store_short_d16_hi", store<transfer::b16_high>, {0, 1}},
    {28, all_targets, "buffer_store_dword", store<transfer::b32>, {0, 1}},
    {29, all_targets, "buffer_store_dwordx2", store<transfer::b64>, {0, 2}},
    {30, all_targets, "buffer_store_dwordx3", store<transfer::b96>, {0, 3}},
    {31, all_targets, "buffer_store_dwordx4", store<transfer::b128>, {0, 4}},
    {32, all_targets, "buffer_load_ubyte_d16", load<transfer::u8_low>, {1, 0}, kReadsDst},
    {33, all_targets, "buffer_load_ubyte_d16_hi", load<transfer::u8_high>, {1, 0}, kReadsDst},
    {34, all_targets, "buffer_load_sbyte_d16", load<transfer::i8_low>, {1, 0}, kReadsDst},
    {35, all_targets, "buffer_load_sbyte_d16_hi", load<transfer::i8_high>, {1, 0}, kReadsDst},
    {36, all_targets, "buffer_load_short_d16", load<transfer::b16_low>, {1, 0}, kReadsDst},
    {37, all_targets, "buffer_load_short_d16_hi", load<transfer::b16_high>, {1, 0}, kReadsDst},
    {38, all_targets, "buffer_load_format_d16_hi_x", nullptr, {1, 0}, kReadsDst},
    {39, all_targets, "buffer_store_format_d16_hi_x", nullptr, {0, 1}},
    {40, all_targets, "buffer_wbl2", fence, {0, 0}},
    {41, gfx90a_only, "buffer_invl2", fence, {0, 0}},
    {41, since_gfx942, "buffer_inv", fence, {0, 0}},
    {61, gfx90a_only, "buffer_store_lds_dword", nullptr, {0, 0}},
    {62, gfx90a_only, "buffer_wbinvl1", fence, {0, 0}},
    {63, gfx90a_only, "buffer_wbinvl1_vol", fence, {0, 0}},
    {64, all_targets, "buffer_atomic_swap", atomic_row<Swap, b32>, {1, 1}, kAtomic},
    {65, all_targets, "buffer_atomic_cmpswap", atomic_row<CompareSwap, b32>, {1, 2}, kAtomic},
    {66, all_targets, "buffer_atomic_add", atomic_row<Add, b32>, {1, 1}, kAtomic},
    {67, all_targets, "buffer_atomic_sub", atomic_row<Subtract, b32>, {1, 1}, kAtomic},
    {68, all_targets, "buffer_atomic_smin", atomic_row<MinSigned, b32>, {1, 1}, kAtomic},
    {69, all_targets, "buffer_atomic_umin", atomic_row<MinUnsigned, b32>, {1, 1}, kAtomic},
    {70, all_targets, "buffer_atomic_smax", atomic_row<MaxSigned, b32>, {1, 1}, kAtomic},
    {71, all_targets, "buffer_atomic_umax", atomic_row<MaxUnsigned, b32>, {1, 1}, kAtomic},
    {72, all_targets, "buffer_atomic_and", atomic_row<And, b32>, {1, 1}, kAtomic},
    {73, all_targets, "buffer_atomic_or", atomic_row<Or, b32>, {1, 1}, kAtomic},
    {74, all_targets, "buffer_atomic_xor", atomic_row<Xor, b32>, {1, 1}, kAtomic},
    {75, all_targets, "buffer_atomic_inc", atomic_row<Increment, b32>, {1, 1}, kAtomic},
    {76, all_targets, "buffer_atomic_dec", atomic_row<Decrement, b32>, {1, 1}, kAtomic},
    {77, all_targets, "buffer_atomic_add_f32", atomic_row<AddFloat, b32>, {1, 1}, kAtomic},
    {78, all_targets, "buffer_atomic_pk_add_f16", atomic_row<PackedAddF16, b32>, {1, 1}, kAtomic},
    {79, all_targets, "buffer_atomic_add_f64", atomic_row<AddFloat, b64>, {2, 2}, kAtomic},
    {80, all_targets, "buffer_atomic_min_f64", atomic_row<MinFloat, b64>, {2, 2}, kAtomic},
    {81, all_targets, "buffer_atomic_max_f64", atomic_row<MaxFloat, b64>, {2, 2}, kAtomic},
    {82, gfx950_only, "buffer_atomic_pk_add_bf16", atomic_row<PackedAddBf16, b32>, {1, 1}, kAtomic},
    {96, all_targets, "buffer_atomic_swap_x2", atomic_row<Swap, b64>, {2, 2}, kAtomic},
    {97, all_targets, "buffer_atomic_cmpswap_x2", atomic_row<CompareSwap, b64>, {2, 4}, kAtomic},
    {98, all_targets, "buffer_atomic_add_x2", atomic_row<Add, b64>, {2, 2}, kAtomic},
    {99, all_targets, "buffer_atomic_sub_x2", atomic_row<Subtract, b64>, {2, 2}, kAtomic},
    {100, all_targets, "buffer_atomic_smin_x2", atomic_row<MinSigned, b64>, {2, 2}, kAtomic},
    {101, all_targets, "buffer_atomic_umin_x2", atomic_row<MinUnsigned, b64>, {2, 2}, kAtomic},
    {102, all_targets, "buffer_atomic_smax_x2", atomic_row<MaxSigned, b64>, {2, 2}, kAtomic},
    {103, all_targets, "buffer_atomic_umax_x2", atomic_row<MaxUnsigned, b64>, {2, 2}, kAtomic},
    {104, all_targets, "buffer_atomic_and_x2", atomic_row<And, b64>, {2, 2}, kAtomic},
    {105, all_targets, "buffer_atomic_or_x2", atomic_row<Or, b64>, {2, 2}, kAtomic},
    {106, all_targets, "buffer_atomic_xor_x2", atomic_row<Xor, b64>, {2, 2}, kAtomic},
    {107, all_targets, "buffer_atomic_inc_x2", atomic_row<Increment, b64>, {2, 2}, kAtomic},
    {108, all_targets, "buffer_atomic_dec_x2", atomic_row<Decrement, b64>, {2, 2}, kAtomic},
};
static_assert(tables::ascends(table));

}  // namespace

std::span<const Row> tables::mubuf() { return table; }

}  // namespace hipgraph::emu
