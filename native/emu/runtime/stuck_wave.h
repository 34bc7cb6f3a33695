#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "machine/memory.h"
#include "runtime/kernel_run.h"

namespace hipgraph::emu {

/// Why a wave does not proceed.
enum class StuckHow : std::uint8_t { Polls, AtBarrier, Loops };

/// What is known of the kernels that a report is of.
enum class Verdict : std::uint8_t {
  Deadlock,  ///< nothing can ever change
  RunsOn,    ///< somebody looked at them meanwhile
};

/// What a report says of one wave that has not ended.
struct StuckWave {
  const KernelRun* run = nullptr;
  std::uint64_t workgroup = 0;
  std::uint32_t wave = 0;
  StuckHow how = StuckHow::Loops;
  /// Of the polling instruction or the barrier; of the next instruction where the wave runs on.
  std::uint64_t pc = 0;
  std::string symbol, instruction;  ///< of that pc
  Poll poll;                        ///< when it polls
  std::string place;                ///< allocation and offset of the polled address
  std::optional<Writer> writer;     ///< last writer of the polled dword
  std::string cause;
};

/// Looks at one resident wave of `run`; `all` are the kernels that run.
StuckWave examine(KernelRun& run, const ResidentWorkgroup& workgroup, const ResidentWave& wave,
                  std::span<KernelRun* const> all, Verdict verdict);

/// "launch 6 (reduce), workgroup 12 wave 0 at reduce+0x2c", as seen from `run`, or who else wrote.
std::string writer_text(const Writer& writer, const KernelRun& run);

}  // namespace hipgraph::emu
