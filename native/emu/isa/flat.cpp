#include "isa/flat_address.h"
#include "isa/memory_atomic.h"
#include "isa/tables.h"

// FLAT: 64-bit addresses, each lane on its own in device memory, LDS or scratch.
namespace hipgraph::emu {
namespace {

using namespace atomic;
using b32 = std::uint32_t;
using b64 = std::uint64_t;

/// The lanes of one instruction by the memory that each of them means.
struct Routes {
  LaneAddresses global, shared, scratch;
};

Routes routes(Wave& wave, const Instruction& in) {
  Routes out;
  out.global = pair_addresses(wave, in.addr, signed_offset(in));
  const std::uint64_t exec = out.global.mask;
  // No two windows share a high half, and no allocation has the high half of a window.
  const auto lanes_in = [&](std::uint64_t aperture) {
    std::uint64_t mask = 0;
    for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
      mask |= std::uint64_t{out.global.of[lane] >> 32 == aperture >> 32} << lane;
    }
    return mask & exec;
  };
  const auto part_in = [&](std::uint64_t aperture) {
    LaneAddresses part;
    part.mask = lanes_in(aperture);
    for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
      part.of[lane] = out.global.of[lane] - aperture;
    }
    return part;
  };
  out.shared = part_in(shared_aperture);
  out.scratch = part_in(private_aperture);
  out.global.mask = exec & ~out.shared.mask & ~out.scratch.mask;
  return out;
}

template <Transfer kind>
void load(Wave& wave, const Instruction& in) {
  if (in.lds) throw_unsupported_modifier(in, "lds");
  const Routes lanes = routes(wave, in);
  VectorRegister* rows = rows_of(wave, in.dst);
  load_lanes<kind>(ScratchSpace(wave), lanes.scratch, rows);
  load_lanes<kind>(LdsSpace(wave, Access::Load), lanes.shared, rows);
  load_lanes<kind>(GlobalSpace(wave, Access::Load, is_coherent_load(wave, in)), lanes.global, rows);
}

template <Transfer kind>
void store(Wave& wave, const Instruction& in) {
  const Routes lanes = routes(wave, in);
  const VectorRegister* rows = rows_of(wave, in.data);
  store_lanes<kind>(ScratchSpace(wave), lanes.scratch, rows);
  store_lanes<kind>(LdsSpace(wave, Access::Store), lanes.shared, rows);
  store_lanes<kind>(GlobalSpace(wave, Access::Store, in.sc1), lanes.global, rows);
}

template <typename Operation, typename T>
void atomic_row(Wave& wave, const Instruction& in) {
  const Routes lanes = routes(wave, in);
  const AtomicRows rows = atomic_rows<T>(wave, in);
  atomic_lanes<Operation, T>(ScratchSpace(wave), lanes.scratch, rows);
  atomic_lanes<Operation, T>(LdsSpace(wave, Access::Atomic), lanes.shared, rows);
  atomic_lanes<Operation, T>(GlobalSpace(wave, Access::Atomic, true), lanes.global, rows);
}

constexpr Row table[] = {
    {16, all_targets, "flat_load_ubyte", load<transfer::u8>, {1, 0}},
    {17, all_targets, "flat_load_sbyte", load<transfer::i8>, {1, 0}},
    {18, all_targets, "flat_load_ushort", load<transfer::u16>, {1, 0}},
    {19, all_targets, "flat_load_sshort", load<transfer::i16>, {1, 0}},
    {20, all_targets, "flat_load_dword", load<transfer::b32>, {1, 0}},
    {21, all_targets, "flat_load_dwordx2", load<transfer::b64>, {2, 0}},
    {22, all_targets, "flat_load_dwordx3", load<transfer::b96>, {3, 0}},
    {23, all_targets, "flat_load_dwordx4", load<transfer::b128>, {4, 0}},
    {24, all_targets, "flat_store_byte", store<transfer::u8>, {0, 1}},
    {25, all_targets, "flat_store_byte_d16_hi", store<transfer::u8_high>, {0, 1}},
    {26, all_targets, "flat_store_short", store<transfer::u16>, {0, 1}},
    {27, all_targets, "flat_store_short_d16_hi", store<transfer::b16_high>, {0, 1}},
    {28, all_targets, "flat_store_dword", store<transfer::b32>, {0, 1}},
    {29, all_targets, "flat_store_dwordx2", store<transfer::b64>, {0, 2}},
    {30, all_targets, "flat_store_dwordx3", store<transfer::b96>, {0, 3}},
    {31, all_targets, "flat_store_dwordx4", store<transfer::b128>, {0, 4}},
    {32, all_targets, "flat_load_ubyte_d16", load<transfer::u8_low>, {1, 0}, kReadsDst},
    {33, all_targets, "flat_load_ubyte_d16_hi", load<transfer::u8_high>, {1, 0}, kReadsDst},
    {34, all_targets, "flat_load_sbyte_d16", load<transfer::i8_low>, {1, 0}, kReadsDst},
    {35, all_targets, "flat_load_sbyte_d16_hi", load<transfer::i8_high>, {1, 0}, kReadsDst},
    {36, all_targets, "flat_load_short_d16", load<transfer::b16_low>, {1, 0}, kReadsDst},
    {37, all_targets, "flat_load_short_d16_hi", load<transfer::b16_high>, {1, 0}, kReadsDst},
    {64, all_targets, "flat_atomic_swap", atomic_row<Swap, b32>, {1, 1}, kAtomic},
    {65, all_targets, "flat_atomic_cmpswap", atomic_row<CompareSwap, b32>, {1, 2}, kAtomic},
    {66, all_targets, "flat_atomic_add", atomic_row<Add, b32>, {1, 1}, kAtomic},
    {67, all_targets, "flat_atomic_sub", atomic_row<Subtract, b32>, {1, 1}, kAtomic},
    {68, all_targets, "flat_atomic_smin", atomic_row<MinSigned, b32>, {1, 1}, kAtomic},
    {69, all_targets, "flat_atomic_umin", atomic_row<MinUnsigned, b32>, {1, 1}, kAtomic},
    {70, all_targets, "flat_atomic_smax", atomic_row<MaxSigned, b32>, {1, 1}, kAtomic},
    {71, all_targets, "flat_atomic_umax", atomic_row<MaxUnsigned, b32>, {1, 1}, kAtomic},
    {72, all_targets, "flat_atomic_and", atomic_row<And, b32>, {1, 1}, kAtomic},
    {73, all_targets, "flat_atomic_or", atomic_row<Or, b32>, {1, 1}, kAtomic},
    {74, all_targets, "flat_atomic_xor", atomic_row<Xor, b32>, {1, 1}, kAtomic},
    {75, all_targets, "flat_atomic_inc", atomic_row<Increment, b32>, {1, 1}, kAtomic},
    {76, all_targets, "flat_atomic_dec", atomic_row<Decrement, b32>, {1, 1}, kAtomic},
    {77, since_gfx942, "flat_atomic_add_f32", atomic_row<AddFloat, b32>, {1, 1}, kAtomic},
    {78, since_gfx942, "flat_atomic_pk_add_f16", atomic_row<PackedAddF16, b32>, {1, 1}, kAtomic},
    {79, all_targets, "flat_atomic_add_f64", atomic_row<AddFloat, b64>, {2, 2}, kAtomic},
    {80, all_targets, "flat_atomic_min_f64", atomic_row<MinFloat, b64>, {2, 2}, kAtomic},
    {81, all_targets, "flat_atomic_max_f64", atomic_row<MaxFloat, b64>, {2, 2}, kAtomic},
    {82, since_gfx942, "flat_atomic_pk_add_bf16", atomic_row<PackedAddBf16, b32>, {1, 1}, kAtomic},
    {96, all_targets, "flat_atomic_swap_x2", atomic_row<Swap, b64>, {2, 2}, kAtomic},
    {97, all_targets, "flat_atomic_cmpswap_x2", atomic_row<CompareSwap, b64>, {2, 4}, kAtomic},
    {98, all_targets, "flat_atomic_add_x2", atomic_row<Add, b64>, {2, 2}, kAtomic},
    {99, all_targets, "flat_atomic_sub_x2", atomic_row<Subtract, b64>, {2, 2}, kAtomic},
    {100, all_targets, "flat_atomic_smin_x2", atomic_row<MinSigned, b64>, {2, 2}, kAtomic},
    {101, all_targets, "flat_atomic_umin_x2", atomic_row<MinUnsigned, b64>, {2, 2}, kAtomic},
    {102, all_targets, "flat_atomic_smax_x2", atomic_row<MaxSigned, b64>, {2, 2}, kAtomic},
    {103, all_targets, "flat_atomic_umax_x2", atomic_row<MaxUnsigned, b64>, {2, 2}, kAtomic},
    {104, all_targets, "flat_atomic_and_x2", atomic_row<And, b64>, {2, 2}, kAtomic},
    {105, all_targets, "flat_atomic_or_x2", atomic_row<Or, b64>, {2, 2}, kAtomic},
    {106, all_targets, "flat_atomic_xor_x2", atomic_row<Xor, b64>, {2, 2}, kAtomic},
    {107, all_targets, "flat_atomic_inc_x2", atomic_row<Increment, b64>, {2, 2}, kAtomic},
    {108, all_targets, "flat_atomic_dec_x2", atomic_row<Decrement, b64>, {2, 2}, kAtomic},
};
static_assert(tables::ascends(table));

}  // namespace

std::span<const Row> tables::flat() { return table; }

}  // namespace hipgraph::emu
