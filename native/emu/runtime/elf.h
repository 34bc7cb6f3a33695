#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/image_bytes.h"
#include "runtime/target_id.h"

namespace hipgraph::emu {

/// A program header.
struct ElfSegment {
  std::uint32_t type = 0, flags = 0;
  std::uint64_t offset = 0, address = 0, file_bytes = 0, memory_bytes = 0;
  bool loads() const { return type == 1; }
  bool executable() const { return (flags & 1) != 0; }
  bool writable() const { return (flags & 2) != 0; }
};

/// What a symbol is.
enum class SymbolKind : std::uint8_t { None = 0, Object = 1, Function = 2, Other };

/// A symbol; `value` is relative to the load address.
struct ElfSymbol {
  std::string name;
  SymbolKind kind = SymbolKind::None;
  bool defined = false;
  bool weak = false;
  std::uint64_t value = 0, bytes = 0;
};

/// One place that the loader has to fill in.
struct ElfRelocation {
  std::uint64_t offset = 0;
  std::uint32_t type = 0, symbol = 0;
  std::int64_t addend = 0;
};

/// An AMDGPU ELF image, code object versions 4 to 6. Every read is checked against the image's end;
/// all members throw LoadError when it is damaged.
class ElfImage {
 public:
  static bool recognises(Bytes image) {
    return begins_with(image,
                       "\x7f"
                       "ELF");
  }
  /// Reads and checks the header and the program headers.
  explicit ElfImage(Bytes file);

  /// What the code was compiled for, from the header's flags.
  const TargetId& target() const { return target_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  /// Bytes that the loaded image takes.
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Lays the segments out in memory of that size; the rest becomes zero.
  void lay_out(std::span<std::uint8_t> memory) const;
  /// Payload of the AMDGPU metadata note.
  Bytes metadata() const;
  /// The dynamic symbols, in order, from the memory that lay_out() filled.
  std::vector<ElfSymbol> dynamic_symbols(Bytes memory) const;
  /// The dynamic relocations.
  std::vector<ElfRelocation> relocations(Bytes memory) const;
  /// Symbols of the full symbol table, when the file was not stripped of it.
  std::vector<ElfSymbol> static_symbols() const;

 private:
  void check_identity() const;
  void read_segments();
  std::map<std::uint64_t, std::uint64_t> dynamic_table(Bytes memory) const;

  Bytes file_;
  TargetId target_;
  std::vector<ElfSegment> segments_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace hipgraph::emu
