#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/target.h"

namespace hipgraph::emu {

class Program;

/// One argument of a kernel, from the code object's metadata.
struct KernelArgument {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::string value_kind;  ///< "by_value", "global_buffer", "hidden_block_count_x", ...
  std::string name;
};

/// A kernel: its descriptor and metadata.
struct Kernel {
  std::string name;
  std::uint64_t descriptor = 0;  ///< address of the 64-byte descriptor in loaded memory
  std::uint64_t entry = 0;       ///< address of the first instruction
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t lds_bytes = 0;                       ///< static
  std::uint32_t scratch_bytes = 0;                   ///< per lane
  std::uint32_t vgprs = 0, accvgprs = 0, sgprs = 0;  ///< allocated rows
  std::uint32_t max_block = 1024;
  std::array<std::uint32_t, 3> required_block{};  ///< zeros: any
  std::vector<KernelArgument> arguments;          ///< hidden ones included
  bool uses_dynamic_stack = false;
  const class CodeObject* code_object = nullptr;
};

/// A `__device__` variable.
struct Variable {
  std::string name;
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Why an image cannot be loaded: `status` is a hipError_t number.
struct LoadError {
  int status;
  std::string text;
};

/// A code object loaded into device memory (ELF, plain bundle or compressed bundle: recognised by
/// magic).
class CodeObject {
 public:
  /// Picks the entry that fits `device`, maps it, relocates it. Throws LoadError.
  static std::unique_ptr<CodeObject> load(const void* image, std::size_t bytes_or_0, int device);
  ~CodeObject();
  const Kernel* kernel(std::string_view name) const;
  const Variable* variable(std::string_view name) const;
  std::span<const Kernel> kernels() const;
  std::span<const Variable> variables() const;
  /// "symbol+0x1c" of a pc inside this code object.
  std::string symbolize(std::uint64_t pc) const;
  std::uint64_t base() const;
  std::size_t bytes() const;
  int device() const;
  /// The decoded instructions of one of its kernels, kept from launch to launch. Used on the
  /// executor's thread only.
  Program& program(const Kernel& kernel) const;
  /// "symbol+0x1c" of a pc inside any loaded code object; the bare address elsewhere.
  static std::string symbolize_loaded(std::uint64_t pc);

 private:
  CodeObject();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hipgraph::emu
