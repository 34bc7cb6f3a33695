#include "runtime/elf.h"

#include <algorithm>
#include <string_view>

namespace hipgraph::emu {
namespace {

constexpr std::uint16_t machine_amdgpu = 224;
constexpr std::uint8_t os_hsa = 64;
constexpr std::uint16_t type_shared = 3;
constexpr std::uint32_t segment_dynamic = 2, segment_note = 4;
constexpr std::uint32_t section_symbols = 2;
constexpr std::uint32_t note_metadata = 32;
constexpr std::uint64_t symbol_bytes = 24, relocation_bytes = 24;
// No code object comes near; a damaged size field beyond it is refused before memory is taken.
constexpr std::uint64_t most_memory = std::uint64_t{2} << 30;

/// Tags of the dynamic table.
enum DynamicTag : std::uint64_t {
  kPltRelocationBytes = 2,
  kHash = 4,
  kStrings = 5,
  kSymbols = 6,
  kRelocations = 7,
  kRelocationBytes = 8,
  kPltRelocations = 23
};

/// Processor of the flags' low byte.
struct Machine {
  std::uint8_t code;
  const char* processor;
};
constexpr Machine machines[] = {
    {0x2c, "gfx900"},         {0x2f, "gfx906"},          {0x30, "gfx908"},
    {0x32, "gfx90c"},         {0x3f, "gfx90a"},          {0x40, "gfx940"},
    {0x4b, "gfx941"},         {0x4c, "gfx942"},          {0x4f, "gfx950"},
    {0x33, "gfx1010"},        {0x36, "gfx1030"},         {0x41, "gfx1100"},
    {0x46, "gfx1101"},        {0x47, "gfx1102"},         {0x44, "gfx1103"},
    {0x43, "gfx1150"},        {0x4a, "gfx1151"},         {0x48, "gfx1200"},
    {0x4e, "gfx1201"},        {0x49, "gfx1250"},         {0x51, "gfx9-generic"},
    {0x5f, "gfx9-4-generic"}, {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"},
    {0x54, "gfx11-generic"},  {0x59, "gfx12-generic"},
};

TargetId target_of(std::uint32_t flags) {
  const auto feature = [flags](unsigned shift) {
    switch (flags >> shift & 3) {
      case 2: return Feature::Off;
      case 3: return Feature::On;
      default: return Feature::Any;
    }
  };
  TargetId target{"processor " + std::to_string(flags & 0xff), feature(10), feature(8)};
  for (const Machine& machine : machines) {
    if (machine.code == (flags & 0xff)) target.processor = machine.processor;
  }
  return target;
}

/// The zero-terminated text at `offset` of a string table.
std::string string_at(Bytes table, std::uint64_t offset) {
  part(table, offset, 0, "symbol name");
  const Bytes rest = table.subspan(offset);
  const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
  if (end == rest.end()) refuse_image("a symbol's name does not end: damaged");
  return text_of(rest.first(static_cast<std::size_t>(end - rest.begin())), "symbol table");
}

ElfSymbol symbol_at(Bytes image, std::uint64_t offset, Bytes strings) {
  constexpr const char* what = "symbol";
  const auto info = read<std::uint8_t>(image, offset + 4, what);
  ElfSymbol symbol;
  symbol.name = string_at(strings, read<std::uint32_t>(image, offset, what));
  symbol.kind = (info & 15) <= 2 ? static_cast<SymbolKind>(info & 15) : SymbolKind::Other;
  symbol.weak = info >> 4 == 2;
  symbol.defined = read<std::uint16_t>(image, offset + 6, what) != 0;
  symbol.value = read<std::uint64_t>(image, offset + 8, what);
  symbol.bytes = read<std::uint64_t>(image, offset + 16, what);
  return symbol;
}

}  // namespace

ElfImage::ElfImage(Bytes file) : file_(file) {
  check_identity();
  target_ = target_of(read<std::uint32_t>(file_, 48, "ELF header"));
  read_segments();
}

void ElfImage::check_identity() const {
  constexpr const char* what = "ELF header";
  part(file_, 0, 64, what);
  if (file_[4] != 2 || file_[5] != 1) refuse_image("not a 64-bit little-endian ELF file");
  const auto machine = read<std::uint16_t>(file_, 18, what);
  if (machine != machine_amdgpu) {
    refuse_image("not a GPU code object: its ELF machine is " + std::to_string(machine) +
                 " (x86-64 is 62), an AMD GPU's is 224");
  }
  if (file_[7] != os_hsa || read<std::uint16_t>(file_, 16, what) != type_shared) {
    refuse_image("not a linked code object for amdhsa: link it with ld.lld -shared");
  }
  const unsigned version = file_[8] + 2U;  // the ABI byte counts from code object version 2
  if (version < 4 || version > 6) {
    refuse_image("code object version " + std::to_string(version) +
                 ": this device takes versions 4 to 6; rebuild with -mcode-object-version=6");
  }
}

void ElfImage::read_segments() {
  constexpr const char* what = "program header";
  const auto table = read<std::uint64_t>(file_, 32, what);
  const auto entry_bytes = read<std::uint16_t>(file_, 54, what);
  const auto count = read<std::uint16_t>(file_, 56, what);
  if (entry_bytes < 56) refuse_image("program headers too short: damaged");
  part(file_, table, std::uint64_t{entry_bytes} * count, what);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes entry = file_.subspan(table + i * entry_bytes, entry_bytes);
    const auto wide = [entry](std::uint64_t at) { return read<std::uint64_t>(entry, at, what); };
    const ElfSegment segment{read<std::uint32_t>(entry, 0, what),
                             read<std::uint32_t>(entry, 4, what),
                             wide(8),
                             wide(16),
                             wide(32),
                             wide(40)};
    segments_.push_back(segment);
    if (!segment.loads()) continue;
    part(file_, segment.offset, segment.file_bytes, "segment");
    const bool fits = segment.file_bytes <= segment.memory_bytes &&
                      segment.memory_bytes <= most_memory && segment.address <= most_memory;
    if (!fits) refuse_image("a segment has impossible sizes: damaged");
    memory_bytes_ = std::max(memory_bytes_, segment.address + segment.memory_bytes);
  }
  if (memory_bytes_ == 0) refuse_image("nothing to load in it");
}

void ElfImage::lay_out(std::span<std::uint8_t> memory) const {
  std::fill(memory.begin(), memory.end(), std::uint8_t{0});
  for (const ElfSegment& segment : segments_) {
    if (!segment.loads()) continue;
    const Bytes bytes = file_.subspan(segment.offset, segment.file_bytes);
    std::copy(bytes.begin(), bytes.end(),
              memory.begin() + static_cast<std::ptrdiff_t>(segment.address));
  }
}

Bytes ElfImage::metadata() const {
  constexpr const char* what = "note";
  for (const ElfSegment& segment : segments_) {
    if (segment.type != segment_note) continue;
    const Bytes notes = part(file_, segment.offset, segment.file_bytes, "note segment");
    for (std::uint64_t at = 0; notes.size() - at >= 12;) {
      const std::uint64_t name_bytes = read<std::uint32_t>(notes, at, what);
      const std::uint64_t payload_bytes = read<std::uint32_t>(notes, at + 4, what);
      const std::uint64_t payload = at + 12 + (name_bytes + 3) / 4 * 4;
      const bool ours = read<std::uint32_t>(notes, at + 8, what) == note_metadata &&
                        begins_with(part(notes, at + 12, name_bytes, what), "AMDGPU");
      const Bytes found = part(notes, payload, payload_bytes, what);
      if (ours) return found;
      at = std::min<std::uint64_t>(payload + (payload_bytes + 3) / 4 * 4, notes.size());
    }
  }
  refuse_image("no AMDGPU metadata note in it, so its kernels are unknown");
}

std::map<std::uint64_t, std::uint64_t> ElfImage::dynamic_table(Bytes memory) const {
  std::map<std::uint64_t, std::uint64_t> table;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != segment_dynamic) continue;
    const Bytes entries = part(memory, segment.address, segment.memory_bytes, "dynamic table");
    for (std::uint64_t at = 0; at + 16 <= entries.size(); at += 16) {
      const auto tag = read<std::uint64_t>(entries, at, "dynamic table");
      if (tag == 0) break;
      table[tag] = read<std::uint64_t>(entries, at + 8, "dynamic table");
    }
  }
  return table;
}

std::vector<ElfSymbol> ElfImage::dynamic_symbols(Bytes memory) const {
  std::map<std::uint64_t, std::uint64_t> table = dynamic_table(memory);
  if (!table.contains(kHash) || !table.contains(kSymbols) || !table.contains(kStrings)) {
    refuse_image("no dynamic symbol table with DT_HASH: link with ld.lld --hash-style=both");
  }
  const std::uint64_t count = read<std::uint32_t>(memory, table[kHash] + 4, "symbol hash table");
  part(memory, table[kSymbols], count * symbol_bytes, "symbol table");
  const Bytes strings = memory.subspan(std::min<std::uint64_t>(table[kStrings], memory.size()));
  std::vector<ElfSymbol> symbols;
  for (std::uint64_t i = 0; i < count; ++i) {
    symbols.push_back(symbol_at(memory, table[kSymbols] + i * symbol_bytes, strings));
  }
  return symbols;
}

std::vector<ElfRelocation> ElfImage::relocations(Bytes memory) const {
  constexpr const char* what = "relocation";
  std::map<std::uint64_t, std::uint64_t> table = dynamic_table(memory);
  std::vector<ElfRelocation> found;
  const auto collect = [&](std::uint64_t start, std::uint64_t bytes) {
    const Bytes entries = part(memory, start, bytes, "relocation table");
    for (std::uint64_t at = 0; at + relocation_bytes <= bytes; at += relocation_bytes) {
      found.push_back({read<std::uint64_t>(entries, at, what),
                       read<std::uint32_t>(entries, at + 8, what),
                       read<std::uint32_t>(entries, at + 12, what),
                       read<std::int64_t>(entries, at + 16, what)});
    }
  };
  if (table.contains(kRelocations)) collect(table[kRelocations], table[kRelocationBytes]);
  if (table.contains(kPltRelocations)) collect(table[kPltRelocations], table[kPltRelocationBytes]);
  return found;
}

std::vector<ElfSymbol> ElfImage::static_symbols() const {
  constexpr const char* what = "section header";
  constexpr std::uint64_t entry_bytes = 64;
  const auto table = read<std::uint64_t>(file_, 40, what);
  const std::uint64_t count = read<std::uint16_t>(file_, 60, what);
  std::vector<ElfSymbol> symbols;
  if (table == 0 || count == 0) return symbols;
  const Bytes sections = part(file_, table, count * entry_bytes, "section headers");
  const auto field = [sections](std::uint64_t section, std::uint64_t at) {
    return read<std::uint64_t>(sections, section * entry_bytes + at, what);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    if (read<std::uint32_t>(sections, i * entry_bytes + 4, what) != section_symbols) continue;
    const std::uint64_t link = read<std::uint32_t>(sections, i * entry_bytes + 40, what);
    const Bytes entries = part(file_, field(i, 24), field(i, 32), "symbol table");
    const Bytes strings = part(file_, field(link, 24), field(link, 32), "string table");
    for (std::uint64_t at = 0; at + symbol_bytes <= entries.size(); at += symbol_bytes) {
      symbols.push_back(symbol_at(entries, at, strings));
    }
  }
  return symbols;
}

}  // namespace hipgraph::emu
