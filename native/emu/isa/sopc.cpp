#include <array>

#include "isa/gpr_index.h"
#include "isa/scalar_row.h"
#include "isa/tables.h"

// Scalar compares: SCC = S0 op S1; and the two modes that change how vector instructions run.
namespace hipgraph::emu::tables {
namespace {

using namespace scalar;

void set_mode_bit(Wave& w, u32 bit, bool value) { w.mode = value ? w.mode | bit : w.mode & ~bit; }

/// VSKIP = bit S1[4:0] of S0.
void set_vskip(Wave& w, const Instruction& in) {
  const u32 bits = scalar_u32(w, in, in.src[0]);
  const u32 index = scalar_u32(w, in, in.src[1]) & 31;
  set_mode_bit(w, mode_vskip, (bits >> index & 1) != 0);
}

/// M0[7:0] = S0[7:0], M0[15:12] = the four enables of the instruction; indexing on.
void set_gpr_index_on(Wave& w, const Instruction& in) {
  u32& m0 = w.sgpr[sreg::m0];
  const u32 index = scalar_u32(w, in, in.src[0]) & 0xff;
  m0 = (m0 & 0xffff0f00) | index | (static_cast<u32>(in.imm) & 15) << 12;
  set_mode_bit(w, mode_gpr_idx_enable, true);
}

constexpr std::array sopc_rows{
    compare<[](u32 a, u32 b) { return a == b; }>(0, "s_cmp_eq_i32"),
    compare<[](u32 a, u32 b) { return a != b; }>(1, "s_cmp_lg_i32"),
    compare<[](i32 a, i32 b) { return (a > b); }>(2, "s_cmp_gt_i32"),
    compare<[](i32 a, i32 b) { return a >= b; }>(3, "s_cmp_ge_i32"),
    compare<[](i32 a, i32 b) { return a < b; }>(4, "s_cmp_lt_i32"),
    compare<[](i32 a, i32 b) { return a <= b; }>(5, "s_cmp_le_i32"),
    compare<[](u32 a, u32 b) { return a == b; }>(6, "s_cmp_eq_u32"),
    compare<[](u32 a, u32 b) { return a != b; }>(7, "s_cmp_lg_u32"),
    compare<[](u32 a, u32 b) { return (a > b); }>(8, "s_cmp_gt_u32"),
    compare<[](u32 a, u32 b) { return a >= b; }>(9, "s_cmp_ge_u32"),
    compare<[](u32 a, u32 b) { return a < b; }>(10, "s_cmp_lt_u32"),
    compare<[](u32 a, u32 b) { return a <= b; }>(11, "s_cmp_le_u32"),
    compare<[](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; }>(12, "s_bitcmp0_b32"),
    compare<[](u32 a, u32 b) { return (a >> (b & 31) & 1) == 1; }>(13, "s_bitcmp1_b32"),
    compare<[](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; }>(14, "s_bitcmp0_b64"),
    compare<[](u64 a, u32 b) { return (a >> (b & 63) & 1) == 1; }>(15, "s_bitcmp1_b64"),
    Row{16, all_targets, "s_setvskip", set_vskip, {0, 1, 1}},
    Row{17, all_targets, "s_set_gpr_idx_on", set_gpr_index_on, {0, 1, 0}},
    compare<[](u64 a, u64 b) { return a == b; }>(18, "s_cmp_eq_u64"),
    compare<[](u64 a, u64 b) { return a != b; }>(19, "s_cmp_lg_u64"),
};
static_assert(ascends(sopc_rows));

}  // namespace

std::span<const Row> sopc() { return sopc_rows; }

}  // namespace hipgraph::emu::tables
