#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "isa/decode.h"
#include "isa/program.h"
#include "machine/trap.h"

// C functions for the unit tests of the instruction set, outside the HIP ABI: decode words, list
// the tables, run a few instructions on one wave. tests/helpers/isa.py mirrors the structures.

/// Memory that the wave may touch.
struct HipgraphEmuRange {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t writable;
};

/// State of the wave, in and out, and how the run ended.
struct HipgraphEmuWave {
  std::uint32_t sgpr[128];
  std::uint32_t vgpr[512][64];
  std::uint32_t scc;
  std::uint32_t mode;
  std::uint32_t vgpr_rows;
  std::uint32_t accvgpr_rows;
  std::uint32_t workgroup[3];
  std::uint32_t linear_workgroup;
  std::uint32_t wave;
  std::uint32_t budget;
  std::uint32_t scratch_lane_bytes;
  std::uint64_t round;
  std::uint8_t* lds;
  std::uint64_t lds_bytes;
  std::uint8_t* scratch;
  const HipgraphEmuRange* ranges;
  std::uint64_t range_count;
  // Results.
  std::uint64_t pc_offset;  ///< of the instruction that trapped, or of the next one
  std::uint64_t effects;
  std::uint64_t counts[8];
  std::uint64_t noted_address;  ///< of the last synchronising write
  std::uint32_t noted_bytes;
  std::uint32_t executed;
  std::uint32_t status;
  std::uint64_t poll_pc_offset;
  std::uint64_t poll_address;
  std::uint32_t poll_bytes;
  std::uint32_t poll_value;
  std::uint32_t poll_access;
  std::int32_t trap_kind;  ///< -1: none
  char text[1024];
};

namespace hipgraph::emu {
namespace {

constexpr std::array targets{Target::gfx90a, Target::gfx942, Target::gfx950};

std::optional<Target> target_of(const char* name) {
  for (const Target target : targets) {
    if (facts(target).processor == name) return target;
  }
  return std::nullopt;
}

void copy_text(const std::string& text, char* to, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t count = std::min(text.size(), bytes - 1);
  std::memcpy(to, text.data(), count);
  to[count] = 0;
}

/// The ranges that the test lists, and the last write that a wave noted.
class TestMemory final : public Memory {
 public:
  explicit TestMemory(HipgraphEmuWave& state) : state_(state) {}
  Range find(std::uint64_t address) const override {
    for (std::uint64_t i = 0; i < state_.range_count; ++i) {
      const HipgraphEmuRange& range = state_.ranges[i];
      if (address >= range.begin && address < range.end) {
        return {range.begin, range.end, range.writable != 0};
      }
    }
    return {};
  }
  std::uint64_t generation() const override { return 1; }
  std::string describe(std::uint64_t address, std::uint64_t bytes) const override {
    return std::to_string(bytes) + " bytes at " + std::to_string(address);
  }
  void note_write(std::uint64_t address, std::uint32_t bytes, const Writer&) override {
    state_.noted_address = address;
    state_.noted_bytes = bytes;
  }

 private:
  HipgraphEmuWave& state_;
};

/// Rows of vector registers, aligned as the dispatcher aligns them.
struct alignas(64) Registers {
  std::array<VectorRegister, 512> rows;
};

void load_state(const HipgraphEmuWave& state, Wave& wave, Registers& registers) {
  std::copy_n(state.sgpr, wave.sgpr.size(), wave.sgpr.begin());
  std::memcpy(registers.rows.data(), state.vgpr, sizeof state.vgpr);
  wave.vgpr = registers.rows.data();
  wave.scratch = state.scratch;
  wave.scc = state.scc != 0;
  wave.mode = state.mode;
  wave.index = state.wave;
}

void store_state(const Wave& wave, const Registers& registers, HipgraphEmuWave& state) {
  std::copy_n(wave.sgpr.begin(), wave.sgpr.size(), state.sgpr);
  std::memcpy(state.vgpr, registers.rows.data(), sizeof state.vgpr);
  state.scc = wave.scc ? 1 : 0;
  state.mode = wave.mode;
  state.status = static_cast<std::uint32_t>(wave.status);
  state.poll_address = wave.poll.address;
  state.poll_bytes = wave.poll.bytes;
  state.poll_value = wave.poll.value;
  state.poll_access = static_cast<std::uint32_t>(wave.poll.access);
}

void run_until_done(Program& program, Wave& wave, HipgraphEmuWave& state) {
  state.trap_kind = -1;
  try {
    while (wave.status == WaveStatus::Ready && state.executed < state.budget) {
      state.executed += program.run(wave, state.budget - state.executed);
    }
  } catch (const Trap& trap) {
    state.trap_kind = static_cast<std::int32_t>(trap.kind());
    copy_text(std::string(name(trap.kind())) + ": " + trap.text(), state.text, sizeof state.text);
    wave.pc = wave.instruction_pc;
  }
}

void run_wave(Target target, std::uint64_t code, std::uint64_t bytes, HipgraphEmuWave& state) {
  TestMemory memory(state);
  LaunchFacts launch;
  launch.memory = &memory;
  launch.target = target;
  launch.launch = 1;
  launch.vgpr_rows = state.vgpr_rows;
  launch.accvgpr_rows = state.accvgpr_rows;
  launch.scratch_lane_bytes = state.scratch_lane_bytes;
  launch.round = state.round;
  Workgroup group;
  group.lds.assign(state.lds, state.lds + state.lds_bytes);
  group.linear_id = state.linear_workgroup;
  std::copy_n(state.workgroup, 3, group.id.begin());
  group.waves_live = 1;
  Wave wave;
  const auto registers = std::make_unique<Registers>();
  load_state(state, wave, *registers);
  wave.group = &group;
  wave.launch = &launch;
  wave.pc = code;
  Program program(code, bytes, target, state.vgpr_rows, state.accvgpr_rows);
  run_until_done(program, wave, state);
  store_state(wave, *registers, state);
  std::copy(group.lds.begin(), group.lds.end(), state.lds);
  state.pc_offset = wave.pc - code;
  state.poll_pc_offset = wave.poll.pc == 0 ? 0 : wave.poll.pc - code;
  state.effects = launch.effects;
  std::copy_n(launch.counts.begin(), launch.counts.size(), state.counts);
}

struct FamilyName {
  Family family;
  const char* name;
};

/// The mfma table is part of VOP3P; only its scaled form is an encoding of its own.
constexpr std::array families{
    FamilyName{Family::Sop1, "SOP1"},       FamilyName{Family::Sop2, "SOP2"},
    FamilyName{Family::Sopk, "SOPK"},       FamilyName{Family::Sopc, "SOPC"},
    FamilyName{Family::Sopp, "SOPP"},       FamilyName{Family::Smem, "SMEM"},
    FamilyName{Family::Vop1, "VOP1"},       FamilyName{Family::Vop2, "VOP2"},
    FamilyName{Family::Vopc, "VOPC"},       FamilyName{Family::Vop3, "VOP3"},
    FamilyName{Family::Vop3p, "VOP3P"},     FamilyName{Family::Vop3px2, "VOP3P"},
    FamilyName{Family::Ds, "DS"},           FamilyName{Family::Flat, "FLAT"},
    FamilyName{Family::Scratch, "SCRATCH"}, FamilyName{Family::Global, "GLOBAL"},
    FamilyName{Family::Mubuf, "MUBUF"},     FamilyName{Family::Mtbuf, "MTBUF"},
};

std::string list_rows(Target target) {
  std::string text;
  for (const FamilyName& entry : families) {
    for (const Row& row : rows(entry.family)) {
      if (!contains(row.targets, target)) continue;
      text += std::string(entry.name) + "\t" + std::to_string(row.opcode) + "\t" + row.mnemonic +
              (row.execute == nullptr ? "\t0\n" : "\t1\n");
    }
  }
  return text;
}

}  // namespace
}  // namespace hipgraph::emu

#define HIPGRAPH_TEST_ENTRY extern "C" __attribute__((visibility("default")))

/// Decodes one instruction; its size in bytes and its text, or -1 and why it is none.
HIPGRAPH_TEST_ENTRY int hipgraphEmuDecode(const char* target_name, const std::uint32_t* words,
                                          std::size_t count, char* text, std::size_t bytes) {
  using namespace hipgraph::emu;
  const std::optional<Target> target = target_of(target_name);
  if (!target) {
    copy_text(std::string("no such target: ") + target_name, text, bytes);
    return -1;
  }
  try {
    const Instruction instruction = decode({words, count}, *target);
    copy_text(disassemble(instruction, *target, 0), text, bytes);
    return instruction.size;
  } catch (const Trap& trap) {
    copy_text(std::string(name(trap.kind())) + ": " + trap.text(), text, bytes);
    return -1;
  }
}

/// A line "family, opcode, mnemonic, implemented" (tabs between) for each row of the target.
/// Returns how many bytes the whole text needs; -1 for an unknown target.
HIPGRAPH_TEST_ENTRY long hipgraphEmuRows(const char* target_name, char* text, std::size_t bytes) {
  using namespace hipgraph::emu;
  const std::optional<Target> target = target_of(target_name);
  if (!target) return -1;
  const std::string all = list_rows(*target);
  copy_text(all, text, bytes);
  return static_cast<long>(all.size() + 1);
}

/// Runs code on one wave until it ends, waits at a barrier, traps or has used up its budget.
/// Returns 0; -1 for an unknown target.
HIPGRAPH_TEST_ENTRY int hipgraphEmuRunWave(const char* target_name, const void* code,
                                           std::size_t bytes, HipgraphEmuWave* state) {
  using namespace hipgraph::emu;
  const std::optional<Target> target = target_of(target_name);
  if (!target) return -1;
  run_wave(*target, reinterpret_cast<std::uint64_t>(code), bytes, *state);
  return 0;
}
