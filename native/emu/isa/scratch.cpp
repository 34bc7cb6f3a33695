#include "isa/flat_address.h"
#include "isa/tables.h"

// SCRATCH: the wave's own memory; the offset may come from an SGPR, a VGPR, both or neither.
namespace hipgraph::emu {
namespace {

LaneAddresses scratch_addresses(Wave& wave, const Instruction& in) {
  const std::uint32_t scalar = in.saddr == operand_absent ? 0 : scalar_u32(wave, in, in.saddr);
  const std::uint32_t base = scalar + static_cast<std::uint32_t>(in.imm);
  LaneAddresses lanes;
  lanes.mask = wave.exec();
  lanes.of.fill(base);
  if (in.addr == operand_absent) return lanes;
  const VectorRegister& row = *rows_of(wave, in.addr);
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) lanes.of[lane] = base + row[lane];
  return lanes;
}

template <Transfer kind>
void load(Wave& wave, const Instruction& in) {
  if (in.lds) throw_unsupported_modifier(in, "lds");
  load_lanes<kind>(ScratchSpace(wave), scratch_addresses(wave, in), rows_of(wave, in.dst));
}

template <Transfer kind>
void store(Wave& wave, const Instruction& in) {
  store_lanes<kind>(ScratchSpace(wave), scratch_addresses(wave, in), rows_of(wave, in.data));
}

// Loads into LDS are known and refused.
constexpr Row table[] = {
    {16, all_targets, "scratch_load_ubyte", load<transfer::u8>, {1, 0}},
    {17, all_targets, "scratch_load_sbyte", load<transfer::i8>, {1, 0}},
    {18, all_targets, "scratch_load_ushort", load<transfer::u16>, {1, 0}},
    {19, all_targets, "scratch_load_sshort", load<transfer::i16>, {1, 0}},
    {20, all_targets, "scratch_load_dword", load<transfer::b32>, {1, 0}},
    {21, all_targets, "scratch_load_dwordx2", load<transfer::b64>, {2, 0}},
    {22, all_targets, "scratch_load_dwordx3", load<transfer::b96>, {3, 0}},
    {23, all_targets, "scratch_load_dwordx4", load<transfer::b128>, {4, 0}},
    {24, all_targets, "scratch_store_byte", store<transfer::u8>, {0, 1}},
    {25, all_targets, "scratch_store_byte_d16_hi", store<transfer::u8_high>, {0, 1}},
    {26, all_targets, "scratch_store_short", store<transfer::u16>, {0, 1}},
    {27, all_targets, "scratch_store_short_d16_hi", store<transfer::b16_high>, {0, 1}},
    {28, all_targets, "scratch_store_dword", store<transfer::b32>, {0, 1}},
    {29, all_targets, "scratch_store_dwordx2", store<transfer::b64>, {0, 2}},
    {30, all_targets, "scratch_store_dwordx3", store<transfer::b96>, {0, 3}},
    {31, all_targets, "scratch_store_dwordx4", store<transfer::b128>, {0, 4}},
    {32, all_targets, "scratch_load_ubyte_d16", load<transfer::u8_low>, {1, 0}, kReadsDst},
    {33, all_targets, "scratch_load_ubyte_d16_hi", load<transfer::u8_high>, {1, 0}, kReadsDst},
    {34, all_targets, "scratch_load_sbyte_d16", load<transfer::i8_low>, {1, 0}, kReadsDst},
    {35, all_targets, "scratch_load_sbyte_d16_hi", load<transfer::i8_high>, {1, 0}, kReadsDst},
    {36, all_targets, "scratch_load_short_d16", load<transfer::b16_low>, {1, 0}, kReadsDst},
    {37, all_targets, "scratch_load_short_d16_hi", load<transfer::b16_high>, {1, 0}, kReadsDst},
    {38, since_gfx942, "scratch_load_lds_ubyte", nullptr, {0, 0}},
    {39, since_gfx942, "scratch_load_lds_sbyte", nullptr, {0, 0}},
    {40, since_gfx942, "scratch_load_lds_ushort", nullptr, {0, 0}},
    {41, since_gfx942, "scratch_load_lds_sshort", nullptr, {0, 0}},
    {42, since_gfx942, "scratch_load_lds_dword", nullptr, {0, 0}},
};
static_assert(tables::ascends(table));

}  // namespace

std::span<const Row> tables::scratch() { return table; }

}  // namespace hipgraph::emu
