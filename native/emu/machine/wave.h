#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/memory.h"
#include "machine/target.h"
#include "machine/workgroup.h"

namespace hipgraph::emu {

/// SGPR operand codes that have names. The wave keeps every scalar register at its operand code.
namespace sreg {
constexpr std::uint32_t flat_scratch = 102, xnack_mask = 104, vcc = 106, ttmp = 108, m0 = 124,
                        exec = 126;
}

/// One 64-lane vector register.
using VectorRegister = std::array<std::uint32_t, wave_size>;

/// What a wave does next.
enum class WaveStatus : std::uint8_t { Ready, AtBarrier, Ended };

/// The last value that the wave read from memory: what a hang report calls the polled address.
struct Poll {
  std::uint64_t pc = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t value = 0;  ///< first dword of the first active lane
  Access access = Access::Load;
};

/// Instruction classes that the device counts.
enum class InstructionClass : std::uint8_t { Salu, Smem, Valu, Matrix, Lds, Vmem, Branch, Other };
constexpr std::size_t instruction_classes = 8;

/// Facts shared by all waves of one kernel launch; state only, no meaning.
struct LaunchFacts {
  Memory* memory = nullptr;
  TouchListener* listener = nullptr;  ///< null unless somebody wants to know what is touched
  Target target = Target::gfx942;
  std::uint64_t launch = 0;     ///< launch number, 1 for the first
  std::uint32_t vgpr_rows = 0;  ///< architected VGPRs allocated
  std::uint32_t accvgpr_rows = 0;
  std::uint32_t scratch_lane_bytes = 0;
  /// Stores and atomics that changed a byte, waves ended, barriers, clocks read.
  std::uint64_t effects = 0;
  std::uint64_t clock_reads = 0;  ///< those of the effects that only read a clock
  std::uint64_t round = 0;        ///< scheduler round: the source of deterministic clocks
  /// Whether the process shares memory with others: time passes for them as well, so clocks are
  /// the host's.
  bool shares_memory = false;
  std::array<std::uint64_t, instruction_classes> counts{};
};

/// Registers of one wave. `vgpr[0..255]` are VGPRs, `vgpr[256..511]` are AccVGPRs.
struct Wave {
  std::array<std::uint32_t, 128> sgpr{};  ///< by operand code: VCC at 106, M0 at 124, EXEC at 126
  VectorRegister* vgpr = nullptr;         ///< 512 rows, owned by the dispatcher
  std::uint8_t* scratch = nullptr;        ///< 64 * scratch_lane_bytes, owned by the dispatcher
  bool scc = false;
  std::uint32_t mode = 0;
  std::uint64_t pc = 0;              ///< of the next instruction, as an address
  std::uint64_t instruction_pc = 0;  ///< of the one being executed
  WaveStatus status = WaveStatus::Ready;
  bool yields = false;      ///< the slice ends after this instruction (s_sleep, ...)
  std::uint32_t index = 0;  ///< wave in its workgroup
  Workgroup* group = nullptr;
  LaunchFacts* launch = nullptr;
  Poll poll;
  std::uint64_t shared_reads = 0;  ///< reads of memory that other processes may write
  Range range;                     ///< last allocation touched
  std::uint64_t range_generation = 0;

  std::uint64_t pair(std::uint32_t code) const {
    return sgpr[code] | static_cast<std::uint64_t>(sgpr[code + 1]) << 32;
  }
  void set_pair(std::uint32_t code, std::uint64_t value) {
    sgpr[code] = static_cast<std::uint32_t>(value);
    sgpr[code + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  std::uint64_t exec() const { return pair(sreg::exec); }
  std::uint64_t vcc() const { return pair(sreg::vcc); }

  /// MODE fields. Denormal bits: 1 keeps inputs, 2 keeps outputs.
  bool keeps_f32_denormals() const { return (mode >> 4 & 3) == 3; }
  bool keeps_f16_f64_denormals() const { return (mode >> 6 & 3) == 3; }
  std::uint32_t f32_rounding() const { return mode & 3; }
  std::uint32_t f16_f64_rounding() const { return mode >> 2 & 3; }
  bool dx10_clamp() const { return (mode >> 8 & 1) != 0; }
  bool ieee() const { return (mode >> 9 & 1) != 0; }
  bool f16_overflow_clamps() const { return (mode >> 23 & 1) != 0; }

  /// Host pointer to device bytes, proven to lie in one live allocation; throws Trap otherwise.
  std::uint8_t* at(std::uint64_t address, std::uint32_t bytes, Access access);
  /// Writes words (the address is a multiple of 4) and counts an effect when one of them changed.
  void store(std::uint64_t address, const std::uint32_t* words, std::uint32_t count, Access access);
  /// Notes this wave as the writer of a synchronising write.
  void note_write(std::uint64_t address, std::uint32_t bytes) const;
};

}  // namespace hipgraph::emu
