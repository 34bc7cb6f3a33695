#include "isa/lds_exchange.h"
#include "isa/memory_atomic.h"
#include "isa/tables.h"

// DS: the workgroup's LDS. M0 takes no part in bounds (compilers never set it), and there is no
// GDS.
namespace hipgraph::emu {
namespace {

using namespace atomic;
using b32 = std::uint32_t;
using b64 = std::uint64_t;

/// ds_cmpst has its operands the other way round than the other families' cmpswap.
struct CompareStore {
  template <typename T>
  static T apply(T old, T compare, T data) {
    return CompareSwap::apply(old, data, compare);
  }
};
struct CompareStoreFloat {
  template <typename T>
  static T apply(T old, T compare, T data) {
    return CompareSwapFloat::apply(old, data, compare);
  }
};

/// LDS offsets: a 32-bit sum, so that a negative register and a positive offset meet inside.
LaneAddresses addresses(Wave& wave, const Instruction& in, std::uint32_t offset) {
  if (in.gds) throw_unsupported_modifier(in, "gds");
  LaneAddresses lanes;
  lanes.mask = wave.exec();
  const VectorRegister& row = *rows_of(wave, in.addr);
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) lanes.of[lane] = row[lane] + offset;
  return lanes;
}

LaneAddresses addresses(Wave& wave, const Instruction& in) {
  return addresses(wave, in, static_cast<std::uint32_t>(in.imm));
}

/// Offsets of the instructions that have no address register: M0 + offset + 4 * lane.
LaneAddresses lane_addresses(const Wave& wave, const Instruction& in) {
  LaneAddresses lanes;
  lanes.mask = wave.exec();
  const std::uint32_t base = (wave.sgpr[sreg::m0] & 0xffff) + static_cast<std::uint32_t>(in.imm);
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) lanes.of[lane] = base + 4 * lane;
  return lanes;
}

void nothing(Wave& /*wave*/, const Instruction& /*in*/) {}

template <Transfer kind>
void read(Wave& wave, const Instruction& in) {
  load_lanes<kind>(LdsSpace(wave, Access::Load), addresses(wave, in), rows_of(wave, in.dst));
}

template <Transfer kind>
void write(Wave& wave, const Instruction& in) {
  store_lanes<kind>(LdsSpace(wave, Access::Store), addresses(wave, in), rows_of(wave, in.data));
}

/// Two elements, each at its own offset in units of `stride` elements.
template <Transfer kind, std::uint32_t stride>
void read2(Wave& wave, const Instruction& in) {
  const LaneAddresses first = addresses(wave, in, in.offset0 * stride * kind.bytes);
  const LaneAddresses second = addresses(wave, in, in.offset1 * stride * kind.bytes);
  VectorRegister* rows = rows_of(wave, in.dst);
  load_lanes<kind>(LdsSpace(wave, Access::Load), first, rows);
  load_lanes<kind>(LdsSpace(wave, Access::Load), second, rows + kind.rows());
}

template <Transfer kind, std::uint32_t stride>
void write2(Wave& wave, const Instruction& in) {
  const LaneAddresses first = addresses(wave, in, in.offset0 * stride * kind.bytes);
  const LaneAddresses second = addresses(wave, in, in.offset1 * stride * kind.bytes);
  store_lanes<kind>(LdsSpace(wave, Access::Store), first, rows_of(wave, in.data));
  store_lanes<kind>(LdsSpace(wave, Access::Store), second, rows_of(wave, in.data1));
}

template <typename Operation, typename T>
void atomic_row(Wave& wave, const Instruction& in) {
  const AtomicRows rows{rows_of(wave, in.data),
                        takes_two<Operation, T> ? rows_of(wave, in.data1) : nullptr,
                        in.dst != operand_absent ? rows_of(wave, in.dst) : nullptr};
  atomic_lanes<Operation, T>(LdsSpace(wave, Access::Atomic), addresses(wave, in), rows);
}

template <typename T, std::uint32_t stride>
void exchange2(Wave& wave, const Instruction& in) {
  constexpr std::uint32_t words = sizeof(T) / 4;
  const LaneAddresses first = addresses(wave, in, in.offset0 * stride * sizeof(T));
  const LaneAddresses second = addresses(wave, in, in.offset1 * stride * sizeof(T));
  // The first old value may land in the second operand's registers.
  std::array<VectorRegister, words> kept;
  std::copy_n(rows_of(wave, in.data1), words, kept.begin());
  VectorRegister* old = rows_of(wave, in.dst);
  atomic_lanes<Swap, T>(LdsSpace(wave, Access::Atomic), first,
                        {rows_of(wave, in.data), nullptr, old});
  atomic_lanes<Swap, T>(LdsSpace(wave, Access::Atomic), second,
                        {kept.data(), nullptr, old + words});
}

void read_addtid(Wave& wave, const Instruction& in) {
  load_lanes<transfer::b32>(LdsSpace(wave, Access::Load), lane_addresses(wave, in),
                            rows_of(wave, in.dst));
}

void write_addtid(Wave& wave, const Instruction& in) {
  store_lanes<transfer::b32>(LdsSpace(wave, Access::Store), lane_addresses(wave, in),
                             rows_of(wave, in.data));
}

/// Every active lane reads 8 bytes; then the 16 lanes of a group transpose what they read: lane l
/// gets the elements l, l + 16, l + 32, ... of the group's bytes in lane order.
template <typename Element>
void read_transposed(Wave& wave, const Instruction& in) {
  constexpr std::uint32_t group = 16, count = 8 / sizeof(Element);
  std::array<VectorRegister, 2> read{};
  load_lanes<transfer::b64>(LdsSpace(wave, Access::Load), addresses(wave, in), read.data());
  std::array<std::array<Element, count>, wave_size> elements;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    pack<transfer::b64>(read.data(), lane, reinterpret_cast<std::uint8_t*>(&elements[lane]));
  }
  VectorRegister* rows = rows_of(wave, in.dst);
  for_each_lane(wave.exec(), [&](std::uint32_t lane) {
    std::array<Element, count> mine;
    for (std::uint32_t n = 0; n < count; ++n) {
      const std::uint32_t from = lane % group + group * n;
      mine[n] = elements[lane / group * group + from / count][from % count];
    }
    unpack<transfer::b64>(rows, lane, reinterpret_cast<const std::uint8_t*>(mine.data()));
  });
}

// Refused: global wave sync, append and consume (M0's part in their address is not documented for
// LDS), the conditional exchange, and the transposing reads of 4- and 6-bit elements.
constexpr Row table[] = {
    {0, all_targets, "ds_add_u32", atomic_row<Add, b32>, {0, 1, 0}, kAtomic},
    {1, all_targets, "ds_sub_u32", atomic_row<Subtract, b32>, {0, 1, 0}, kAtomic},
    {2, all_targets, "ds_rsub_u32", atomic_row<ReverseSubtract, b32>, {0, 1, 0}, kAtomic},
    {3, all_targets, "ds_inc_u32", atomic_row<Increment, b32>, {0, 1, 0}, kAtomic},
    {4, all_targets, "ds_dec_u32", atomic_row<Decrement, b32>, {0, 1, 0}, kAtomic},
    {5, all_targets, "ds_min_i32", atomic_row<MinSigned, b32>, {0, 1, 0}, kAtomic},
    {6, all_targets, "ds_max_i32", atomic_row<MaxSigned, b32>, {0, 1, 0}, kAtomic},
    {7, all_targets, "ds_min_u32", atomic_row<MinUnsigned, b32>, {0, 1, 0}, kAtomic},
    {8, all_targets, "ds_max_u32", atomic_row<MaxUnsigned, b32>, {0, 1, 0}, kAtomic},
    {9, all_targets, "ds_and_b32", atomic_row<And, b32>, {0, 1, 0}, kAtomic},
    {10, all_targets, "ds_or_b32", atomic_row<Or, b32>, {0, 1, 0}, kAtomic},
    {11, all_targets, "ds_xor_b32", atomic_row<Xor, b32>, {0, 1, 0}, kAtomic},
    {12, all_targets, "ds_mskor_b32", atomic_row<MaskedOr, b32>, {0, 1, 1}, kAtomic},
    {13, all_targets, "ds_write_b32", write<transfer::b32>, {0, 1}},
    {14, all_targets, "ds_write2_b32", write2<transfer::b32, 1>, {0, 1, 1}},
    {15, all_targets, "ds_write2st64_b32", write2<transfer::b32, 64>, {0, 1, 1}},
    {16, all_targets, "ds_cmpst_b32", atomic_row<CompareStore, b32>, {0, 1, 1}, kAtomic},
    {17, all_targets, "ds_cmpst_f32", atomic_row<CompareStoreFloat, b32>, {0, 1, 1}, kAtomic},
    {18, all_targets, "ds_min_f32", atomic_row<MinFloat, b32>, {0, 1, 0}, kAtomic},
    {19, all_targets, "ds_max_f32", atomic_row<MaxFloat, b32>, {0, 1, 0}, kAtomic},
    {20, all_targets, "ds_nop", nothing, {0, 0}},
    {21, all_targets, "ds_add_f32", atomic_row<AddFloat, b32>, {0, 1, 0}, kAtomic},
    {23, since_gfx942, "ds_pk_add_f16", atomic_row<PackedAddF16, b32>, {0, 1}, kAtomic},
    {24, since_gfx942, "ds_pk_add_bf16", atomic_row<PackedAddBf16, b32>, {0, 1}, kAtomic},
    {29, all_targets, "ds_write_addtid_b32", write_addtid, {0, 1}},
    {30, all_targets, "ds_write_b8", write<transfer::u8>, {0, 1}},
    {31, all_targets, "ds_write_b16", write<transfer::u16>, {0, 1}},
    {32, all_targets, "ds_add_rtn_u32", atomic_row<Add, b32>, {1, 1, 0}, kAtomic},
    {33, all_targets, "ds_sub_rtn_u32", atomic_row<Subtract, b32>, {1, 1, 0}, kAtomic},
    {34, all_targets, "ds_rsub_rtn_u32", atomic_row<ReverseSubtract, b32>, {1, 1, 0}, kAtomic},
    {35, all_targets, "ds_inc_rtn_u32", atomic_row<Increment, b32>, {1, 1, 0}, kAtomic},
    {36, all_targets, "ds_dec_rtn_u32", atomic_row<Decrement, b32>, {1, 1, 0}, kAtomic},
    {37, all_targets, "ds_min_rtn_i32", atomic_row<MinSigned, b32>, {1, 1, 0}, kAtomic},
    {38, all_targets, "ds_max_rtn_i32", atomic_row<MaxSigned, b32>, {1, 1, 0}, kAtomic},
    {39, all_targets, "ds_min_rtn_u32", atomic_row<MinUnsigned, b32>, {1, 1, 0}, kAtomic},
    {40, all_targets, "ds_max_rtn_u32", atomic_row<MaxUnsigned, b32>, {1, 1, 0}, kAtomic},
    {41, all_targets, "ds_and_rtn_b32", atomic_row<And, b32>, {1, 1, 0}, kAtomic},
    {42, all_targets, "ds_or_rtn_b32", atomic_row<Or, b32>, {1, 1, 0}, kAtomic},
    {43, all_targets, "ds_xor_rtn_b32", atomic_row<Xor, b32>, {1, 1, 0}, kAtomic},
    {44, all_targets, "ds_mskor_rtn_b32", atomic_row<MaskedOr, b32>, {1, 1, 1}, kAtomic},
    {45, all_targets, "ds_wrxchg_rtn_b32", atomic_row<Swap, b32>, {1, 1}, kAtomic},
    {46, all_targets, "ds_wrxchg2_rtn_b32", exchange2<b32, 1>, {2, 1, 1}, kAtomic},
    {47, all_targets, "ds_wrxchg2st64_rtn_b32", exchange2<b32, 64>, {2, 1, 1}, kAtomic},
    {48, all_targets, "ds_cmpst_rtn_b32", atomic_row<CompareStore, b32>, {1, 1, 1}, kAtomic},
    {49, all_targets, "ds_cmpst_rtn_f32", atomic_row<CompareStoreFloat, b32>, {1, 1, 1}, kAtomic},
    {50, all_targets, "ds_min_rtn_f32", atomic_row<MinFloat, b32>, {1, 1, 0}, kAtomic},
    {51, all_targets, "ds_max_rtn_f32", atomic_row<MaxFloat, b32>, {1, 1, 0}, kAtomic},
    {52, all_targets, "ds_wrap_rtn_b32", atomic_row<Wrap, b32>, {1, 1, 1}, kAtomic},
    {53, all_targets, "ds_add_rtn_f32", atomic_row<AddFloat, b32>, {1, 1, 0}, kAtomic},
    {54, all_targets, "ds_read_b32", read<transfer::b32>, {1, 0}},
    {55, all_targets, "ds_read2_b32", read2<transfer::b32, 1>, {2, 0}},
    {56, all_targets, "ds_read2st64_b32", read2<transfer::b32, 64>, {2, 0}},
    {57, all_targets, "ds_read_i8", read<transfer::i8>, {1, 0}},
    {58, all_targets, "ds_read_u8", read<transfer::u8>, {1, 0}},
    {59, all_targets, "ds_read_i16", read<transfer::i16>, {1, 0}},
    {60, all_targets, "ds_read_u16", read<transfer::u16>, {1, 0}},
    {61, all_targets, "ds_swizzle_b32", lds_exchange::swizzle, {1, 0}},
    {62, all_targets, "ds_permute_b32", lds_exchange::permute, {1, 1}},
    {63, all_targets, "ds_bpermute_b32", lds_exchange::bpermute, {1, 1}},
    {64, all_targets, "ds_add_u64", atomic_row<Add, b64>, {0, 2, 0}, kAtomic},
    {65, all_targets, "ds_sub_u64", atomic_row<Subtract, b64>, {0, 2, 0}, kAtomic},
    {66, all_targets, "ds_rsub_u64", atomic_row<ReverseSubtract, b64>, {0, 2, 0}, kAtomic},
    {67, all_targets, "ds_inc_u64", atomic_row<Increment, b64>, {0, 2, 0}, kAtomic},
    {68, all_targets, "ds_dec_u64", atomic_row<Decrement, b64>, {0, 2, 0}, kAtomic},
    {69, all_targets, "ds_min_i64", atomic_row<MinSigned, b64>, {0, 2, 0}, kAtomic},
    {70, all_targets, "ds_max_i64", atomic_row<MaxSigned, b64>, {0, 2, 0}, kAtomic},
    {71, all_targets, "ds_min_u64", atomic_row<MinUnsigned, b64>, {0, 2, 0}, kAtomic},
    {72, all_targets, "ds_max_u64", atomic_row<MaxUnsigned, b64>, {0, 2, 0}, kAtomic},
    {73, all_targets, "ds_and_b64", atomic_row<And, b64>, {0, 2, 0}, kAtomic},
    {74, all_targets, "ds_or_b64", atomic_row<Or, b64>, {0, 2, 0}, kAtomic},
    {75, all_targets, "ds_xor_b64", atomic_row<Xor, b64>, {0, 2, 0}, kAtomic},
    {76, all_targets, "ds_mskor_b64", atomic_row<MaskedOr, b64>, {0, 2, 2}, kAtomic},
    {77, all_targets, "ds_write_b64", write<transfer::b64>, {0, 2}},
    {78, all_targets, "ds_write2_b64", write2<transfer::b64, 1>, {0, 2, 2}},
    {79, all_targets, "ds_write2st64_b64", write2<transfer::b64, 64>, {0, 2, 2}},
    {80, all_targets, "ds_cmpst_b64", atomic_row<CompareStore, b64>, {0, 2, 2}, kAtomic},
    {81, all_targets, "ds_cmpst_f64", atomic_row<CompareStoreFloat, b64>, {0, 2, 2}, kAtomic},
    {82, all_targets, "ds_min_f64", atomic_row<MinFloat, b64>, {0, 2, 0}, kAtomic},
    {83, all_targets, "ds_max_f64", atomic_row<MaxFloat, b64>, {0, 2, 0}, kAtomic},
    {84, all_targets, "ds_write_b8_d16_hi", write<transfer::u8_high>, {0, 1}},
    {85, all_targets, "ds_write_b16_d16_hi", write<transfer::b16_high>, {0, 1}},
    {86, all_targets, "ds_read_u8_d16", read<transfer::u8_low>, {1, 0}, kReadsDst},
    {87, all_targets, "ds_read_u8_d16_hi", read<transfer::u8_high>, {1, 0}, kReadsDst},
    {88, all_targets, "ds_read_i8_d16", read<transfer::i8_low>, {1, 0}, kReadsDst},
    {89, all_targets, "ds_read_i8_d16_hi", read<transfer::i8_high>, {1, 0}, kReadsDst},
    {90, all_targets, "ds_read_u16_d16", read<transfer::b16_low>, {1, 0}, kReadsDst},
    {91, all_targets, "ds_read_u16_d16_hi", read<transfer::b16_high>, {1, 0}, kReadsDst},
    {92, all_targets, "ds_add_f64", atomic_row<AddFloat, b64>, {0, 2}, kAtomic},
    {96, all_targets, "ds_add_rtn_u64", atomic_row<Add, b64>, {2, 2, 0}, kAtomic},
    {97, all_targets, "ds_sub_rtn_u64", atomic_row<Subtract, b64>, {2, 2, 0}, kAtomic},
    {98, all_targets, "ds_rsub_rtn_u64", atomic_row<ReverseSubtract, b64>, {2, 2, 0}, kAtomic},
    {99, all_targets, "ds_inc_rtn_u64", atomic_row<Increment, b64>, {2, 2, 0}, kAtomic},
    {100, all_targets, "ds_dec_rtn_u64", atomic_row<Decrement, b64>, {2, 2, 0}, kAtomic},
    {101, all_targets, "ds_min_rtn_i64", atomic_row<MinSigned, b64>, {2, 2, 0}, kAtomic},
    {102, all_targets, "ds_max_rtn_i64", atomic_row<MaxSigned, b64>, {2, 2, 0}, kAtomic},
    {103, all_targets, "ds_min_rtn_u64", atomic_row<MinUnsigned, b64>, {2, 2, 0}, kAtomic},
    {104, all_targets, "ds_max_rtn_u64", atomic_row<MaxUnsigned, b64>, {2, 2, 0}, kAtomic},
    {105, all_targets, "ds_and_rtn_b64", atomic_row<And, b64>, {2, 2, 0}, kAtomic},
    {106, all_targets, "ds_or_rtn_b64", atomic_row<Or, b64>, {2, 2, 0}, kAtomic},
    {107, all_targets, "ds_xor_rtn_b64", atomic_row<Xor, b64>, {2, 2, 0}, kAtomic},
    {108, all_targets, "ds_mskor_rtn_b64", atomic_row<MaskedOr, b64>, {2, 2, 2}, kAtomic},
    {109, all_targets, "ds_wrxchg_rtn_b64", atomic_row<Swap, b64>, {2, 2}, kAtomic},
    {110, all_targets, "ds_wrxchg2_rtn_b64", exchange2<b64, 1>, {4, 2, 2}, kAtomic},
    {111, all_targets, "ds_wrxchg2st64_rtn_b64", exchange2<b64, 64>, {4, 2, 2}, kAtomic},
    {112, all_targets, "ds_cmpst_rtn_b64", atomic_row<CompareStore, b64>, {2, 2, 2}, kAtomic},
    {113, all_targets, "ds_cmpst_rtn_f64", atomic_row<CompareStoreFloat, b64>, {2, 2, 2}, kAtomic},
    {114, all_targets, "ds_min_rtn_f64", atomic_row<MinFloat, b64>, {2, 2, 0}, kAtomic},
    {115, all_targets, "ds_max_rtn_f64", atomic_row<MaxFloat, b64>, {2, 2, 0}, kAtomic},
    {118, all_targets, "ds_read_b64", read<transfer::b64>, {2, 0}},
    {119, all_targets, "ds_read2_b64", read2<transfer::b64, 1>, {4, 0}},
    {120, all_targets, "ds_read2st64_b64", read2<transfer::b64, 64>, {4, 0}},
    {124, all_targets, "ds_add_rtn_f64", atomic_row<AddFloat, b64>, {2, 2}, kAtomic},
    {126, all_targets, "ds_condxchg32_rtn_b64", nullptr, {2, 2}, kAtomic},
    {152, all_targets, "ds_gws_sema_release_all", nullptr, {0, 0}},
    {153, all_targets, "ds_gws_init", nullptr, {0, 0}},
    {154, all_targets, "ds_gws_sema_v", nullptr, {0, 0}},
    {155, all_targets, "ds_gws_sema_br", nullptr, {0, 0}},
    {156, all_targets, "ds_gws_sema_p", nullptr, {0, 0}},
    {157, all_targets, "ds_gws_barrier", nullptr, {0, 0}},
    {182, all_targets, "ds_read_addtid_b32", read_addtid, {1, 0}},
    {183, since_gfx942, "ds_pk_add_rtn_f16", atomic_row<PackedAddF16, b32>, {1, 1}, kAtomic},
    {184, since_gfx942, "ds_pk_add_rtn_bf16", atomic_row<PackedAddBf16, b32>, {1, 1}, kAtomic},
    {189, all_targets, "ds_consume", nullptr, {1, 0}, kAtomic},
    {190, all_targets, "ds_append", nullptr, {1, 0}, kAtomic},
    {222, all_targets, "ds_write_b96", write<transfer::b96>, {0, 3}},
    {223, all_targets, "ds_write_b128", write<transfer::b128>, {0, 4}},
    {224, gfx950_only, "ds_read_b64_tr_b4", nullptr, {2, 0}},
    {225, gfx950_only, "ds_read_b96_tr_b6", nullptr, {3, 0}},
    {226, gfx950_only, "ds_read_b64_tr_b8", read_transposed<std::uint8_t>, {2, 0}},
    {227, gfx950_only, "ds_read_b64_tr_b16", read_transposed<std::uint16_t>, {2, 0}},
    {254, all_targets, "ds_read_b96", read<transfer::b96>, {3, 0}},
    {255, all_targets, "ds_read_b128", read<transfer::b128>, {4, 0}},
};
static_assert(tables::ascends(table));

}  // namespace

std::span<const Row> tables::ds() { return table; }

}  // namespace hipgraph::emu
