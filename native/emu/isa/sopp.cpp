#include <array>
#include <string>

#include "isa/gpr_index.h"
#include "isa/scalar_row.h"
#include "isa/tables.h"
#include "machine/trap.h"

// Program control: branches, barrier, end, waits and messages. Width src0 = 1 marks the rows that
// have a constant; the field must be 0 in the others.
namespace hipgraph::emu::tables {
namespace {

using namespace scalar;

/// Caches, wait counters, priorities and profiling have no effect on values here: memory is
/// coherent and every instruction completes before the next begins.
void no_effect(Wave&, const Instruction&) {}

/// Jumps by a signed number of dwords when F(wave).
template <auto F>
constexpr Row branch(std::uint16_t opcode, const char* mnemonic) {
  const Execute execute = [](Wave& w, const Instruction& in) {
    if (F(w)) w.pc += static_cast<u64>(i64{in.imm} * 4);
  };
  return {opcode, all_targets, mnemonic, execute, {0, 1}, kBranch};
}

[[noreturn]] void refuse_value(const Instruction& in) {
  throw Trap(TrapKind::UnsupportedInstruction, std::string(in.row->mnemonic) + " " +
                                                   std::to_string(in.imm & 0xffff) +
                                                   " is not implemented on this device");
}

void end(Wave& w, const Instruction&) { w.status = WaveStatus::Ended; }
void barrier(Wave& w, const Instruction&) { w.status = WaveStatus::AtBarrier; }
void sleep(Wave& w, const Instruction&) { w.yields = true; }

/// Only "do not halt" goes without a debugger.
void set_halt(Wave&, const Instruction& in) {
  if ((in.imm & 1) != 0) refuse_value(in);
}

/// The interrupt message tells the host of a change in memory; the host sees memory anyway.
void send_message(Wave&, const Instruction& in) {
  constexpr i32 interrupt = 1;
  if ((in.imm & 0xffff) != interrupt) refuse_value(in);
}

/// 2 is the abort of compiled code; 3 asks for a debugger and does nothing without one.
void trap(Wave&, const Instruction& in) {
  constexpr u32 debug = 3;
  const u32 id = static_cast<u32>(in.imm) & 0xff;
  if (id == debug) return;
  throw Trap(TrapKind::Abort, "the kernel aborted itself (s_trap " + std::to_string(id) + ")");
}

void gpr_index_off(Wave& w, const Instruction&) { w.mode &= ~mode_gpr_idx_enable; }

/// M0[15:12] = which operands are indexed.
void gpr_index_mode(Wave& w, const Instruction& in) {
  u32& m0 = w.sgpr[sreg::m0];
  m0 = (m0 & 0xffff0fff) | (static_cast<u32>(in.imm) & 15) << 12;
}

bool never(const Wave&) { return false; }

constexpr std::array sopp_rows{
    Row{0, all_targets, "s_nop", no_effect, {0, 1}},
    Row{1, all_targets, "s_endpgm", end, {0, 1}, kEnds},
    branch<[](const Wave&) { return true; }>(2, "s_branch"),
    Row{3, all_targets, "s_wakeup", no_effect, {}},
    branch<[](const Wave& w) { return !w.scc; }>(4, "s_cbranch_scc0"),
    branch<[](const Wave& w) { return w.scc; }>(5, "s_cbranch_scc1"),
    branch<[](const Wave& w) { return w.vcc() == 0; }>(6, "s_cbranch_vccz"),
    branch<[](const Wave& w) { return w.vcc() != 0; }>(7, "s_cbranch_vccnz"),
    branch<[](const Wave& w) { return w.exec() == 0; }>(8, "s_cbranch_execz"),
    branch<[](const Wave& w) { return w.exec() != 0; }>(9, "s_cbranch_execnz"),
    Row{10, all_targets, "s_barrier", barrier, {}},
    Row{11, all_targets, "s_setkill", nullptr, {0, 1}},
    Row{12, all_targets, "s_waitcnt", no_effect, {0, 1}},
    Row{13, all_targets, "s_sethalt", set_halt, {0, 1}},
    Row{14, all_targets, "s_sleep", sleep, {0, 1}},
    Row{15, all_targets, "s_setprio", no_effect, {0, 1}},
    Row{16, all_targets, "s_sendmsg", send_message, {0, 1}},
    Row{17, all_targets, "s_sendmsghalt", nullptr, {0, 1}},
    Row{18, all_targets, "s_trap", trap, {0, 1}},
    Row{19, all_targets, "s_icache_inv", no_effect, {}},
    Row{20, all_targets, "s_incperflevel", no_effect, {0, 1}},
    Row{21, all_targets, "s_decperflevel", no_effect, {0, 1}},
    Row{22, all_targets, "s_ttracedata", no_effect, {}},
    // The conditional debug bits are never set.
    branch<never>(23, "s_cbranch_cdbgsys"),
    branch<never>(24, "s_cbranch_cdbguser"),
    branch<never>(25, "s_cbranch_cdbgsys_or_user"),
    branch<never>(26, "s_cbranch_cdbgsys_and_user"),
    Row{27, all_targets, "s_endpgm_saved", nullptr, {}, kEnds},
    Row{28, all_targets, "s_set_gpr_idx_off", gpr_index_off, {}},
    Row{29, all_targets, "s_set_gpr_idx_mode", gpr_index_mode, {0, 1}},
    Row{30, all_targets, "s_endpgm_ordered_ps_done", nullptr, {}, kEnds},
};
static_assert(ascends(sopp_rows));

}  // namespace

std::span<const Row> sopp() { return sopp_rows; }

}  // namespace hipgraph::emu::tables
