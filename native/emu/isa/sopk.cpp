#include <array>

#include "isa/hardware_register.h"
#include "isa/scalar_row.h"
#include "isa/tables.h"

// Scalar operations of one register and a 16-bit constant.
namespace hipgraph::emu::tables {
namespace {

using namespace scalar;

u32 unsigned_constant(const Instruction& in) { return static_cast<u32>(in.imm) & 0xffff; }

/// SCC = F(register, constant), the constant sign-extended.
template <auto F>
constexpr Row compare_signed(std::uint16_t opcode, const char* mnemonic) {
  const Execute execute = [](Wave& w, const Instruction& in) {
    w.scc = F(read<i32>(w, in, in.src[0]), in.imm);
  };
  return {opcode, all_targets, mnemonic, execute, {0, 1}};
}

/// SCC = F(register, constant), the constant zero-extended.
template <auto F>
constexpr Row compare_unsigned(std::uint16_t opcode, const char* mnemonic) {
  const Execute execute = [](Wave& w, const Instruction& in) {
    w.scc = F(read<u32>(w, in, in.src[0]), unsigned_constant(in));
  };
  return {opcode, all_targets, mnemonic, execute, {0, 1}};
}

void move_constant(Wave& w, const Instruction& in) { write<i32>(w, in.dst, in.imm); }

void conditional_move_constant(Wave& w, const Instruction& in) {
  if (w.scc) write<i32>(w, in.dst, in.imm);
}

/// SCC = signed overflow.
void add_constant(Wave& w, const Instruction& in) {
  i32 sum = 0;
  w.scc = __builtin_add_overflow(read<i32>(w, in, in.dst), in.imm, &sum);
  write<i32>(w, in.dst, sum);
}

void multiply_constant(Wave& w, const Instruction& in) {
  write<u32>(w, in.dst, read<u32>(w, in, in.dst) * static_cast<u32>(in.imm));
}

void get_register(Wave& w, const Instruction& in) {
  write<u32>(w, in.dst, read_hardware_register(w, register_field(unsigned_constant(in))));
}

void set_register(Wave& w, const Instruction& in) {
  write_hardware_register(w, register_field(unsigned_constant(in)), read<u32>(w, in, in.src[0]));
}

void set_register_to_literal(Wave& w, const Instruction& in) {
  write_hardware_register(w, register_field(unsigned_constant(in)), in.literal);
}

/// D = address of the next instruction; jumps by a signed number of dwords from there.
void call(Wave& w, const Instruction& in) {
  write<u64>(w, in.dst, w.pc);
  w.pc += static_cast<u64>(i64{in.imm} * 4);
}

constexpr std::array sopk_rows{
    Row{0, all_targets, "s_movk_i32", move_constant, {1}},
    Row{1, all_targets, "s_cmovk_i32", conditional_move_constant, {1}},
    compare_signed<[](i32 a, i32 b) { return a == b; }>(2, "s_cmpk_eq_i32"),
    compare_signed<[](i32 a, i32 b) { return a != b; }>(3, "s_cmpk_lg_i32"),
    compare_signed<[](i32 a, i32 b) { return (a > b); }>(4, "s_cmpk_gt_i32"),
    compare_signed<[](i32 a, i32 b) { return a >= b; }>(5, "s_cmpk_ge_i32"),
    compare_signed<[](i32 a, i32 b) { return a < b; }>(6, "s_cmpk_lt_i32"),
    compare_signed<[](i32 a, i32 b) { return a <= b; }>(7, "s_cmpk_le_i32"),
    compare_unsigned<[](u32 a, u32 b) { return a == b; }>(8, "s_cmpk_eq_u32"),
    compare_unsigned<[](u32 a, u32 b) { return a != b; }>(9, "s_cmpk_lg_u32"),
    compare_unsigned<[](u32 a, u32 b) { return (a > b); }>(10, "s_cmpk_gt_u32"),
    compare_unsigned<[](u32 a, u32 b) { return a >= b; }>(11, "s_cmpk_ge_u32"),
    compare_unsigned<[](u32 a, u32 b) { return a < b; }>(12, "s_cmpk_lt_u32"),
    compare_unsigned<[](u32 a, u32 b) { return a <= b; }>(13, "s_cmpk_le_u32"),
    Row{14, all_targets, "s_addk_i32", add_constant, {1}, kReadsDst},
    Row{15, all_targets, "s_mulk_i32", multiply_constant, {1}, kReadsDst},
    Row{16, all_targets, "s_cbranch_i_fork", nullptr, {0, 2}, kBranch},
    Row{17, all_targets, "s_getreg_b32", get_register, {1}},
    Row{18, all_targets, "s_setreg_b32", set_register, {0, 1}},
    Row{20, all_targets, "s_setreg_imm32_b32", set_register_to_literal, {}, kLiteralK},
    Row{21, all_targets, "s_call_b64", call, {2}, kBranch},
};
static_assert(ascends(sopk_rows));

}  // namespace

std::span<const Row> sopk() { return sopk_rows; }

}  // namespace hipgraph::emu::tables
