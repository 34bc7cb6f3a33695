#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "isa/instruction.h"
#include "machine/wave.h"

namespace hipgraph::emu {

/// The decoded instructions of one kernel: the executable bytes of its code object, decoded when
/// first reached, with the kernel's register allocation checked once per instruction.
class Program {
 public:
  /// `code` is where the executable segment lies in memory (pc values are such addresses).
  Program(std::uint64_t code, std::uint64_t bytes, Target target, std::uint32_t vgpr_rows,
          std::uint32_t accvgpr_rows);
  ~Program();
  /// The instruction at `pc`; throws Trap (BadBranch, IllegalInstruction, UnsupportedInstruction,
  /// RegisterFault).
  const Instruction& fetch(std::uint64_t pc);
  /// Executes at most `budget` instructions of `wave`; returns how many. Stops when the wave ends,
  /// waits at a barrier or yields. Throws Trap with `wave.instruction_pc` at the culprit.
  std::uint32_t run(Wave& wave, std::uint32_t budget);
  /// Text of the instruction at `pc`, for reports; never throws.
  std::string text(std::uint64_t pc);

 private:
  struct Decoded;
  const Decoded& decoded(std::uint64_t pc);
  std::unique_ptr<Decoded> decode_at(std::uint64_t pc) const;
  Instruction read(std::uint64_t pc) const;
  void check_rows(const Instruction& instruction) const;
  void check_row(const Instruction& instruction, std::uint32_t code, std::uint32_t width) const;
  void step_in_mode(Wave& wave, const Decoded& slot) const;

  std::uint64_t code_;
  std::uint64_t bytes_;
  Target target_;
  std::uint32_t vgpr_rows_;
  std::uint32_t accvgpr_rows_;
  std::vector<std::unique_ptr<Decoded>> decoded_;  // one slot a dword of code
};

}  // namespace hipgraph::emu
