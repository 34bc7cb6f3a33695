#include <array>
#include <bit>
#include <string>

#include "isa/gpr_index.h"
#include "isa/scalar_row.h"
#include "isa/tables.h"
#include "machine/trap.h"

// Scalar operations of one source: D = op S0; EXEC masks, calls, indexed moves.
namespace hipgraph::emu::tables {
namespace {

using namespace scalar;

constexpr u32 bits_of_quad = 4;

template <typename T>
T reversed(T value) {
  T result = 0;
  for (u32 i = 0; i < 8 * sizeof(T); ++i) result = result << 1 | (value >> i & 1);
  return result;
}

/// Every quad of lanes with a lane set becomes all ones.
template <typename T>
T whole_quads(T value) {
  T result = 0;
  for (u32 i = 0; i < 8 * sizeof(T); i += bits_of_quad) {
    if ((value >> i & 15) != 0) result |= T{15} << i;
  }
  return result;
}

/// One bit a quad: whether a lane of it is set.
template <typename T>
T quad_mask(T value) {
  T result = 0;
  for (u32 i = 0; i < 8 * sizeof(T); i += bits_of_quad) {
    if ((value >> i & 15) != 0) result |= T{1} << (i / bits_of_quad);
  }
  return result;
}

/// Position of the lowest 1; -1 when there is none.
template <typename T>
u32 lowest_one(T value) {
  return value == 0 ? ~0U : static_cast<u32>(std::countr_zero(value));
}

/// Zeros above the highest 1; -1 when there is none.
template <typename T>
u32 leading_zeros(T value) {
  return value == 0 ? ~0U : static_cast<u32>(std::countl_zero(value));
}

/// Bits at the top that equal the sign bit; -1 when all do.
template <typename T>
u32 leading_sign_bits(T value) {
  const T flipped = value >> (8 * sizeof(T) - 1) != 0 ? ~value : value;
  return leading_zeros(flipped);
}

template <typename T>
u32 ones(T value) {
  return static_cast<u32>(std::popcount(value));
}

u32 magnitude(u32 value) { return value >> 31 != 0 ? 0 - value : value; }

/// Every bit twice.
u64 bit_doubled(u32 value) {
  u64 result = 0;
  for (u32 i = 0; i < 32; ++i) result |= u64{(value >> i & 1) * 3} << (2 * i);
  return result;
}

u32 sign_extended(u32 value, u32 bits) {
  return static_cast<u32>(static_cast<i32>(value << (32 - bits)) >> (32 - bits));
}

void set_exec(Wave& w, u64 value) {
  w.set_pair(sreg::exec, value);
  w.scc = value != 0;
}

/// D = EXEC; EXEC = F(S0, EXEC).
template <auto F>
constexpr Row save_exec(std::uint16_t opcode, const char* mnemonic) {
  return unary<[](Wave& w, u64 source) {
    const u64 old = w.exec();
    set_exec(w, F(source, old));
    return old;
  }>(opcode, mnemonic);
}

/// EXEC = F(S0, EXEC); D = EXEC.
template <auto F>
constexpr Row write_exec(std::uint16_t opcode, const char* mnemonic) {
  return unary<[](Wave& w, u64 source) {
    set_exec(w, F(source, w.exec()));
    return w.exec();
  }>(opcode, mnemonic);
}

/// D written only when SCC.
template <typename T>
void conditional_move(Wave& w, const Instruction& in) {
  const T value = read<T>(w, in, in.src[0]);
  if (w.scc) write<T>(w, in.dst, value);
}

/// The SGPR that lies M0 behind `code`.
template <typename T>
u32 indexed_register(const Wave& w, const Instruction& in, u32 code) {
  constexpr u32 last_sgpr = 101;
  const u64 index = u64{code} + w.sgpr[sreg::m0];
  if (code > last_sgpr || index + width_of<T> - 1 > last_sgpr) {
    throw Trap(TrapKind::RegisterFault, std::string(in.row->mnemonic) + ": scalar operand " +
                                            std::to_string(code) + " + M0 (" +
                                            std::to_string(w.sgpr[sreg::m0]) + ") is no SGPR");
  }
  return static_cast<u32>(index);
}

/// D = SGPR[S0 + M0]
template <typename T>
void move_indexed_source(Wave& w, const Instruction& in) {
  write<T>(w, in.dst, read<T>(w, in, indexed_register<T>(w, in, in.src[0])));
}

/// SGPR[D + M0] = S0
template <typename T>
void move_indexed_destination(Wave& w, const Instruction& in) {
  write<T>(w, indexed_register<T>(w, in, in.dst), read<T>(w, in, in.src[0]));
}

void get_pc(Wave& w, const Instruction& in) { set_scalar_u64(w, in.dst, w.pc); }
void set_pc(Wave& w, const Instruction& in) { w.pc = scalar_u64(w, in, in.src[0]); }

void swap_pc(Wave& w, const Instruction& in) {
  const u64 target = scalar_u64(w, in, in.src[0]);
  set_scalar_u64(w, in.dst, w.pc);
  w.pc = target;
}

/// M0[7:0] = S0[7:0]
void set_gpr_index(Wave& w, const Instruction& in) {
  u32& m0 = w.sgpr[sreg::m0];
  m0 = (m0 & ~0xffU) | (scalar_u32(w, in, in.src[0]) & 0xff);
}

constexpr std::array sop1_rows{
    unary<[](Wave&, u32 a) { return a; }>(0, "s_mov_b32"),
    unary<[](Wave&, u64 a) { return a; }>(1, "s_mov_b64"),
    Row{2, all_targets, "s_cmov_b32", conditional_move<u32>, {1, 1}},
    Row{3, all_targets, "s_cmov_b64", conditional_move<u64>, {2, 2}},
    unary<[](Wave& w, u32 a) { return with_scc(w, ~a); }>(4, "s_not_b32"),
    unary<[](Wave& w, u64 a) { return with_scc(w, ~a); }>(5, "s_not_b64"),
    unary<[](Wave& w, u32 a) { return with_scc(w, whole_quads(a)); }>(6, "s_wqm_b32"),
    unary<[](Wave& w, u64 a) { return with_scc(w, whole_quads(a)); }>(7, "s_wqm_b64"),
    unary<[](Wave&, u32 a) { return reversed(a); }>(8, "s_brev_b32"),
    unary<[](Wave&, u64 a) { return reversed(a); }>(9, "s_brev_b64"),
    unary<[](Wave& w, u32 a) { return with_scc(w, ones(~a)); }>(10, "s_bcnt0_i32_b32"),
    unary<[](Wave& w, u64 a) { return with_scc(w, ones(~a)); }>(11, "s_bcnt0_i32_b64"),
    unary<[](Wave& w, u32 a) { return with_scc(w, ones(a)); }>(12, "s_bcnt1_i32_b32"),
    unary<[](Wave& w, u64 a) { return with_scc(w, ones(a)); }>(13, "s_bcnt1_i32_b64"),
    unary<[](Wave&, u32 a) { return lowest_one(~a); }>(14, "s_ff0_i32_b32"),
    unary<[](Wave&, u64 a) { return lowest_one(~a); }>(15, "s_ff0_i32_b64"),
    unary<[](Wave&, u32 a) { return lowest_one(a); }>(16, "s_ff1_i32_b32"),
    unary<[](Wave&, u64 a) { return lowest_one(a); }>(17, "s_ff1_i32_b64"),
    unary<[](Wave&, u32 a) { return leading_zeros(a); }>(18, "s_flbit_i32_b32"),
    unary<[](Wave&, u64 a) { return leading_zeros(a); }>(19, "s_flbit_i32_b64"),
    unary<[](Wave&, u32 a) { return leading_sign_bits(a); }>(20, "s_flbit_i32"),
    unary<[](Wave&, i64 a) { return leading_sign_bits(static_cast<u64>(a)); }>(21,
                                                                               "s_flbit_i32_i64"),
    unary<[](Wave&, u32 a) { return sign_extended(a, 8); }>(22, "s_sext_i32_i8"),
    unary<[](Wave&, u32 a) { return sign_extended(a, 16); }>(23, "s_sext_i32_i16"),
    update<[](Wave&, u32 d, u32 a) { return d & ~(1U << (a & 31)); }>(24, "s_bitset0_b32"),
    update<[](Wave&, u64 d, u32 a) { return d & ~(u64{1} << (a & 63)); }>(25, "s_bitset0_b64"),
    update<[](Wave&, u32 d, u32 a) { return d | 1U << (a & 31); }>(26, "s_bitset1_b32"),
    update<[](Wave&, u64 d, u32 a) { return d | u64{1} << (a & 63); }>(27, "s_bitset1_b64"),
    Row{28, all_targets, "s_getpc_b64", get_pc, {2, 0}},
    Row{29, all_targets, "s_setpc_b64", set_pc, {0, 2}, kBranch},
    Row{30, all_targets, "s_swappc_b64", swap_pc, {2, 2}, kBranch},
    Row{31, all_targets, "s_rfe_b64", nullptr, {0, 2}, kBranch},
    save_exec<[](u64 a, u64 exec) { return a & exec; }>(32, "s_and_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return a | exec; }>(33, "s_or_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return a ^ exec; }>(34, "s_xor_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return a & ~exec; }>(35, "s_andn2_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return a | ~exec; }>(36, "s_orn2_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return ~(a & exec); }>(37, "s_nand_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return ~(a | exec); }>(38, "s_nor_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return ~(a ^ exec); }>(39, "s_xnor_saveexec_b64"),
    unary<[](Wave& w, u32 a) { return with_scc(w, quad_mask(a)); }>(40, "s_quadmask_b32"),
    unary<[](Wave& w, u64 a) { return with_scc(w, quad_mask(a)); }>(41, "s_quadmask_b64"),
    Row{42, all_targets, "s_movrels_b32", move_indexed_source<u32>, {1, 1}},
    Row{43, all_targets, "s_movrels_b64", move_indexed_source<u64>, {2, 2}},
    Row{44, all_targets, "s_movreld_b32", move_indexed_destination<u32>, {1, 1}},
    Row{45, all_targets, "s_movreld_b64", move_indexed_destination<u64>, {2, 2}},
    Row{46, all_targets, "s_cbranch_join", nullptr, {0, 1}, kBranch},
    unary<[](Wave& w, u32 a) { return with_scc(w, magnitude(a)); }>(48, "s_abs_i32"),
    Row{50, all_targets, "s_set_gpr_idx_idx", set_gpr_index, {0, 1}},
    save_exec<[](u64 a, u64 exec) { return ~a & exec; }>(51, "s_andn1_saveexec_b64"),
    save_exec<[](u64 a, u64 exec) { return ~a | exec; }>(52, "s_orn1_saveexec_b64"),
    write_exec<[](u64 a, u64 exec) { return ~a & exec; }>(53, "s_andn1_wrexec_b64"),
    write_exec<[](u64 a, u64 exec) { return a & ~exec; }>(54, "s_andn2_wrexec_b64"),
    unary<[](Wave&, u32 a) { return bit_doubled(a); }>(55, "s_bitreplicate_b64_b32"),
};
static_assert(ascends(sop1_rows));

}  // namespace

std::span<const Row> sop1() { return sop1_rows; }

}  // namespace hipgraph::emu::tables
