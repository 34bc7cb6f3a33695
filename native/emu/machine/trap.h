#pragma once
#include <cstdint>
#include <exception>
#include <string>

namespace hipgraph::emu {

/// Why the device refused to go on.
enum class TrapKind : std::uint8_t {
  IllegalInstruction,      ///< no row for these words
  UnsupportedInstruction,  ///< a row, but no meaning here (mnemonic is named)
  UnsupportedModifier,     ///< a modifier that this row does not take here
  MemoryFault,             ///< outside a live allocation, misaligned, read-only
  LdsFault,                ///< outside the workgroup's LDS
  RegisterFault,           ///< a register beyond the kernel's allocation
  BadBranch,               ///< pc outside the code object
  Abort,                   ///< s_trap from the kernel itself
};

/// Name of a kind as reports print it, for example "memory fault".
const char* name(TrapKind kind);

/// A refusal: thrown by the meaning of an instruction, reported by the dispatcher with wave and pc.
class Trap : public std::exception {
 public:
  Trap(TrapKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  TrapKind kind() const { return kind_; }
  const std::string& text() const { return text_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  TrapKind kind_;
  std::string text_;
};

}  // namespace hipgraph::emu
