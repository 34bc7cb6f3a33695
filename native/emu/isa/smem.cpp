#include <array>
#include <chrono>
#include <cstdio>
#include <ratio>
#include <string>

#include "isa/memory_atomic.h"
#include "isa/operand.h"
#include "isa/tables.h"
#include "machine/trap.h"

// Scalar memory: loads, stores and atomics of the whole wave, cache operations, clocks.
// Widths of these rows: dst = registers loaded or returned, src0 = registers stored, src1 = 2 for
// an address pair, 4 for a buffer descriptor, 0 for no address.
namespace hipgraph::emu::tables {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A scheduler round passes for this many ticks of the 100 MHz clock, so that code which waits for
/// a time sees it pass, and sees the same in every run.
constexpr u64 clock_ticks_per_round = 64;
constexpr u64 core_cycles_per_tick = 16;

/// Bytes that a scalar access may touch: those of a buffer, or all.
struct Place {
  u64 address;
  u64 bytes_left;  ///< up to the end of the buffer
};

u64 offset_of(const Wave& wave, const Instruction& in) {
  const u64 immediate = static_cast<u64>(std::int64_t{in.imm});
  return in.soffset == operand_absent ? immediate : immediate + scalar_u32(wave, in, in.soffset);
}

Place plain_place(const Wave& wave, const Instruction& in) {
  return {wave.pair(in.saddr) + offset_of(wave, in), ~u64{0}};
}

/// Descriptor: base in 47:0, stride in 61:48, then the number of records.
Place buffer_place(const Wave& wave, const Instruction& in) {
  const u64 low = wave.pair(in.saddr);
  const u64 stride = low >> 48 & 0x3fff;
  const u64 records = wave.sgpr[in.saddr + 2U];
  const u64 size = stride == 0 ? records : stride * records;
  const u64 offset = offset_of(wave, in);
  return {(low & 0xffffffffffff) + offset, offset < size ? size - offset : 0};
}

Place place_of(const Wave& wave, const Instruction& in) {
  return in.row->widths.src1 == 4 ? buffer_place(wave, in) : plain_place(wave, in);
}

void check_aligned(const Instruction& in, u64 address, u32 alignment) {
  if (address % alignment == 0) return;
  std::array<char, 19> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
  throw Trap(TrapKind::MemoryFault,
             std::string(in.row->mnemonic) + " at misaligned address " + text.data());
}

/// Dwords of the access that lie inside the buffer.
u32 dwords_inside(const Place& place, u32 dwords) {
  return place.bytes_left / 4 < dwords ? static_cast<u32>(place.bytes_left / 4) : dwords;
}

void note_poll(Wave& wave, u64 address, u32 bytes, u32 value, Access access) {
  wave.poll = {wave.instruction_pc, address, bytes, value, access};
}

/// SGPR[D...] = memory; dwords outside a buffer read 0.
void load(Wave& wave, const Instruction& in) {
  const u32 dwords = in.row->widths.dst;
  const Place place = place_of(wave, in);
  const u32 inside = dwords_inside(place, dwords);
  check_aligned(in, place.address, 4);
  for (u32 i = inside; i < dwords; ++i) wave.sgpr[in.dst + i] = 0;
  if (inside == 0) return;
  const std::uint8_t* from = wave.at(place.address, 4 * inside, Access::ScalarLoad);
  const auto* words = reinterpret_cast<const u32*>(from);
  for (u32 i = 0; i < inside; ++i) {
    wave.sgpr[in.dst + i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
  }
  note_poll(wave, place.address, 4 * inside, wave.sgpr[in.dst], Access::ScalarLoad);
}

/// memory = SGPR[data...]; dwords outside a buffer are dropped.
void store(Wave& wave, const Instruction& in) {
  const Place place = place_of(wave, in);
  const u32 bytes = 4 * dwords_inside(place, in.row->widths.src0);
  check_aligned(in, place.address, 4);
  if (bytes == 0) return;
  const u64 before = wave.launch->effects;
  wave.store(place.address, wave.sgpr.data() + in.data, bytes / 4, Access::ScalarStore);
  if (wave.launch->effects != before) wave.note_write(place.address, bytes);
}

template <typename T>
T data_word(const Wave& wave, u32 code) {
  if constexpr (sizeof(T) == 4) {
    return wave.sgpr[code];
  } else {
    return wave.pair(code);
  }
}

template <typename T>
void return_word(Wave& wave, const Instruction& in, T value) {
  if (in.dst == operand_absent) return;
  if constexpr (sizeof(T) == 4) {
    set_scalar_u32(wave, in.dst, value);
  } else {
    set_scalar_u64(wave, in.dst, value);
  }
}

/// One word changed by an operation; the old word comes back when the instruction asks for it.
template <typename Operation, typename T>
void change(Wave& wave, const Instruction& in) {
  const Place place = place_of(wave, in);
  if (place.bytes_left < sizeof(T)) {
    return_word<T>(wave, in, 0);
    return;
  }
  check_aligned(in, place.address, sizeof(T));
  std::uint8_t* address = wave.at(place.address, sizeof(T), Access::ScalarAtomic);
  const T data = data_word<T>(wave, in.data);
  std::pair<T, bool> result;
  if constexpr (takes_two<Operation, T>) {
    const T compare = data_word<T>(wave, in.data + static_cast<u32>(sizeof(T) / 4));
    result = atomic_update<Operation, T>(address, data, compare);
  } else {
    result = atomic_update<Operation, T>(address, data);
  }
  if (result.second) {
    ++wave.launch->effects;
    wave.note_write(place.address, sizeof(T));
  }
  note_poll(wave, place.address, sizeof(T), static_cast<u32>(result.first), Access::ScalarAtomic);
  return_word<T>(wave, in, result.first);
}

/// Memory is coherent here: nothing to write back or to forget.
void cache_operation(Wave&, const Instruction&) {}

/// The 100 MHz clock: of the scheduler's rounds, or of the host where other processes see the same
/// time pass.
u64 clock_ticks(const LaunchFacts& launch) {
  if (!launch.shares_memory) return launch.round * clock_ticks_per_round;
  using Tick = std::chrono::duration<u64, std::ratio<1, 100'000'000>>;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Tick>(now).count();
}

// Reading a clock counts as an effect: a wave that waits for time goes on by itself one day, even
// if all its registers come back to an earlier state meanwhile.
void note_clock_read(LaunchFacts& launch) {
  ++launch.effects;
  ++launch.clock_reads;
}

void core_clock(Wave& wave, const Instruction& in) {
  note_clock_read(*wave.launch);
  set_scalar_u64(wave, in.dst, clock_ticks(*wave.launch) * core_cycles_per_tick);
}

void real_time_clock(Wave& wave, const Instruction& in) {
  note_clock_read(*wave.launch);
  set_scalar_u64(wave, in.dst, clock_ticks(*wave.launch));
}

template <std::uint8_t Dwords, std::uint8_t Base>
constexpr Row load_row(std::uint16_t opcode, const char* mnemonic) {
  return {opcode, all_targets, mnemonic, load, {Dwords, 0, Base}};
}

template <std::uint8_t Dwords, std::uint8_t Base>
constexpr Row store_row(std::uint16_t opcode, const char* mnemonic) {
  return {opcode, all_targets, mnemonic, store, {0, Dwords, Base}};
}

template <typename Operation, typename T, std::uint8_t Base>
constexpr Row atomic_row(std::uint16_t opcode, const char* mnemonic) {
  constexpr std::uint8_t width = sizeof(T) / 4;
  constexpr std::uint8_t data = takes_two<Operation, T> ? 2 * width : width;
  return {opcode, all_targets, mnemonic, change<Operation, T>, {width, data, Base}, kAtomic};
}

constexpr std::uint8_t pair = 2, descriptor = 4;

constexpr std::array smem_rows{
    load_row<1, pair>(0, "s_load_dword"),
    load_row<2, pair>(1, "s_load_dwordx2"),
    load_row<4, pair>(2, "s_load_dwordx4"),
    load_row<8, pair>(3, "s_load_dwordx8"),
    load_row<16, pair>(4, "s_load_dwordx16"),
    Row{5, all_targets, "s_scratch_load_dword", nullptr, {1, 0, pair}},
    Row{6, all_targets, "s_scratch_load_dwordx2", nullptr, {2, 0, pair}},
    Row{7, all_targets, "s_scratch_load_dwordx4", nullptr, {4, 0, pair}},
    load_row<1, descriptor>(8, "s_buffer_load_dword"),
    load_row<2, descriptor>(9, "s_buffer_load_dwordx2"),
    load_row<4, descriptor>(10, "s_buffer_load_dwordx4"),
    load_row<8, descriptor>(11, "s_buffer_load_dwordx8"),
    load_row<16, descriptor>(12, "s_buffer_load_dwordx16"),
    store_row<1, pair>(16, "s_store_dword"),
    store_row<2, pair>(17, "s_store_dwordx2"),
    store_row<4, pair>(18, "s_store_dwordx4"),
    Row{21, all_targets, "s_scratch_store_dword", nullptr, {0, 1, pair}},
    Row{22, all_targets, "s_scratch_store_dwordx2", nullptr, {0, 2, pair}},
    Row{23, all_targets, "s_scratch_store_dwordx4", nullptr, {0, 4, pair}},
    store_row<1, descriptor>(24, "s_buffer_store_dword"),
    store_row<2, descriptor>(25, "s_buffer_store_dwordx2"),
    store_row<4, descriptor>(26, "s_buffer_store_dwordx4"),
    Row{32, all_targets, "s_dcache_inv", cache_operation, {}},
    Row{33, all_targets, "s_dcache_wb", cache_operation, {}},
    Row{34, all_targets, "s_dcache_inv_vol", cache_operation, {}},
    Row{35, all_targets, "s_dcache_wb_vol", cache_operation, {}},
    Row{36, all_targets, "s_memtime", core_clock, {2}},
    Row{37, all_targets, "s_memrealtime", real_time_clock, {2}},
    // The data field of the probes is a number: which permission to probe.
    Row{38, all_targets, "s_atc_probe", nullptr, {0, 0, pair}},
    Row{39, all_targets, "s_atc_probe_buffer", nullptr, {0, 0, descriptor}},
    Row{40, all_targets, "s_dcache_discard", nullptr, {0, 0, pair}},
    Row{41, all_targets, "s_dcache_discard_x2", nullptr, {0, 0, pair}},
    atomic_row<atomic::Swap, u32, descriptor>(64, "s_buffer_atomic_swap"),
    atomic_row<atomic::CompareSwap, u32, descriptor>(65, "s_buffer_atomic_cmpswap"),
    atomic_row<atomic::Add, u32, descriptor>(66, "s_buffer_atomic_add"),
    atomic_row<atomic::Subtract, u32, descriptor>(67, "s_buffer_atomic_sub"),
    atomic_row<atomic::MinSigned, u32, descriptor>(68, "s_buffer_atomic_smin"),
    atomic_row<atomic::MinUnsigned, u32, descriptor>(69, "s_buffer_atomic_umin"),
    atomic_row<atomic::MaxSigned, u32, descriptor>(70, "s_buffer_atomic_smax"),
    atomic_row<atomic::MaxUnsigned, u32, descriptor>(71, "s_buffer_atomic_umax"),
    atomic_row<atomic::And, u32, descriptor>(72, "s_buffer_atomic_and"),
    atomic_row<atomic::Or, u32, descriptor>(73, "s_buffer_atomic_or"),
    atomic_row<atomic::Xor, u32, descriptor>(74, "s_buffer_atomic_xor"),
    atomic_row<atomic::Increment, u32, descriptor>(75, "s_buffer_atomic_inc"),
    atomic_row<atomic::Decrement, u32, descriptor>(76, "s_buffer_atomic_dec"),
    atomic_row<atomic::Swap, u64, descriptor>(96, "s_buffer_atomic_swap_x2"),
    atomic_row<atomic::CompareSwap, u64, descriptor>(97, "s_buffer_atomic_cmpswap_x2"),
    atomic_row<atomic::Add, u64, descriptor>(98, "s_buffer_atomic_add_x2"),
    atomic_row<atomic::Subtract, u64, descriptor>(99, "s_buffer_atomic_sub_x2"),
    atomic_row<atomic::MinSigned, u64, descriptor>(100, "s_buffer_atomic_smin_x2"),
    atomic_row<atomic::MinUnsigned, u64, descriptor>(101, "s_buffer_atomic_umin_x2"),
    atomic_row<atomic::MaxSigned, u64, descriptor>(102, "s_buffer_atomic_smax_x2"),
    atomic_row<atomic::MaxUnsigned, u64, descriptor>(103, "s_buffer_atomic_umax_x2"),
    atomic_row<atomic::And, u64, descriptor>(104, "s_buffer_atomic_and_x2"),
    atomic_row<atomic::Or, u64, descriptor>(105, "s_buffer_atomic_or_x2"),
    atomic_row<atomic::Xor, u64, descriptor>(106, "s_buffer_atomic_xor_x2"),
    atomic_row<atomic::Increment, u64, descriptor>(107, "s_buffer_atomic_inc_x2"),
    atomic_row<atomic::Decrement, u64, descriptor>(108, "s_buffer_atomic_dec_x2"),
    atomic_row<atomic::Swap, u32, pair>(128, "s_atomic_swap"),
    atomic_row<atomic::CompareSwap, u32, pair>(129, "s_atomic_cmpswap"),
    atomic_row<atomic::Add, u32, pair>(130, "s_atomic_add"),
    atomic_row<atomic::Subtract, u32, pair>(131, "s_atomic_sub"),
    atomic_row<atomic::MinSigned, u32, pair>(132, "s_atomic_smin"),
    atomic_row<atomic::MinUnsigned, u32, pair>(133, "s_atomic_umin"),
    atomic_row<atomic::MaxSigned, u32, pair>(134, "s_atomic_smax"),
    atomic_row<atomic::MaxUnsigned, u32, pair>(135, "s_atomic_umax"),
    atomic_row<atomic::And, u32, pair>(136, "s_atomic_and"),
    atomic_row<atomic::Or, u32, pair>(137, "s_atomic_or"),
    atomic_row<atomic::Xor, u32, pair>(138, "s_atomic_xor"),
    atomic_row<atomic::Increment, u32, pair>(139, "s_atomic_inc"),
    atomic_row<atomic::Decrement, u32, pair>(140, "s_atomic_dec"),
    atomic_row<atomic::Swap, u64, pair>(160, "s_atomic_swap_x2"),
    atomic_row<atomic::CompareSwap, u64, pair>(161, "s_atomic_cmpswap_x2"),
    atomic_row<atomic::Add, u64, pair>(162, "s_atomic_add_x2"),
    atomic_row<atomic::Subtract, u64, pair>(163, "s_atomic_sub_x2"),
    atomic_row<atomic::MinSigned, u64, pair>(164, "s_atomic_smin_x2"),
    atomic_row<atomic::MinUnsigned, u64, pair>(165, "s_atomic_umin_x2"),
    atomic_row<atomic::MaxSigned, u64, pair>(166, "s_atomic_smax_x2"),
    atomic_row<atomic::MaxUnsigned, u64, pair>(167, "s_atomic_umax_x2"),
    atomic_row<atomic::And, u64, pair>(168, "s_atomic_and_x2"),
    atomic_row<atomic::Or, u64, pair>(169, "s_atomic_or_x2"),
    atomic_row<atomic::Xor, u64, pair>(170, "s_atomic_xor_x2"),
    atomic_row<atomic::Increment, u64, pair>(171, "s_atomic_inc_x2"),
    atomic_row<atomic::Decrement, u64, pair>(172, "s_atomic_dec_x2"),
};
static_assert(ascends(smem_rows));

}  // namespace

std::span<const Row> smem() { return smem_rows; }

}  // namespace hipgraph::emu::tables
