#include "runtime/code_object.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "isa/program.h"
#include "runtime/address_space.h"
#include "runtime/block.h"
#include "runtime/bundle.h"
#include "runtime/descriptor.h"
#include "runtime/device_model.h"
#include "runtime/elf.h"
#include "runtime/kernel_metadata.h"

namespace hipgraph::emu {
namespace {

std::mutex loaded_mutex;
std::map<std::uint64_t, const CodeObject*>& loaded() {
  static auto& objects = *new std::map<std::uint64_t, const CodeObject*>();
  return objects;
}

/// Memory of a code object; released with it.
class CodeMemory {
 public:
  CodeMemory(std::uint64_t bytes, int device) {
    const std::optional<Allocation> made =
        AddressSpace::instance().allocate(bytes, AllocationKind::Code, device);
    if (!made.has_value()) {
      throw LoadError{status::out_of_memory, "code object: no device memory left for its " +
                                                 std::to_string(bytes) + " bytes"};
    }
    base_ = made->base;
    bytes_ = bytes;
  }
  ~CodeMemory() { AddressSpace::instance().release(base_); }
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  std::uint64_t base() const { return base_; }
  std::span<std::uint8_t> bytes() const { return {reinterpret_cast<std::uint8_t*>(base_), bytes_}; }

 private:
  std::uint64_t base_ = 0;
  std::size_t bytes_ = 0;
};

/// A function's place, for turning a pc into a name.
struct CodeRange {
  std::uint64_t begin = 0, bytes = 0;
  std::string name;
};

/// The value that a relocation of this type stores, and how many bytes of it.
struct Stored {
  std::uint64_t value;
  std::uint32_t bytes;
};

Stored stored_value(std::uint32_t type, std::uint64_t target, std::uint64_t base,
                    std::int64_t addend) {
  const auto extra = static_cast<std::uint64_t>(addend);
  switch (type) {
    case 1: return {target + extra, 4};          // R_AMDGPU_ABS32_LO
    case 2: return {(target + extra) >> 32, 4};  // R_AMDGPU_ABS32_HI
    case 3: return {target + extra, 8};          // R_AMDGPU_ABS64
    case 6: return {target + extra, 4};          // R_AMDGPU_ABS32
    case 13: return {base + extra, 8};           // R_AMDGPU_RELATIVE64
    default: refuse_image("relocation of type " + std::to_string(type) + ", which is unknown here");
  }
}

}  // namespace

struct CodeObject::State {
  State(const ElfImage& elf, int on_device)
      : device(on_device), memory(elf.memory_bytes(), on_device) {}

  int device;
  CodeMemory memory;
  std::uint64_t code_begin = 0, code_bytes = 0;  ///< the executable segment, as addresses
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
  std::vector<CodeRange> functions;  ///< by address
  std::map<const Kernel*, std::unique_ptr<Program>> programs;

  void place_segments(const ElfImage& elf);
  void relocate(const ElfImage& elf, const std::vector<ElfSymbol>& symbols);
  void collect_functions(const ElfImage& elf, const std::vector<ElfSymbol>& symbols);
  void collect_variables(const std::vector<ElfSymbol>& symbols);
  void collect_kernels(const ElfImage& elf, const std::vector<ElfSymbol>& symbols);
  void complete(Kernel& kernel, std::uint64_t descriptor) const;
};

void CodeObject::State::place_segments(const ElfImage& elf) {
  elf.lay_out(memory.bytes());
  std::uint64_t writable_begin = 0;
  std::uint64_t writable_end = 0;
  for (const ElfSegment& segment : elf.segments()) {
    if (!segment.loads()) continue;
    const std::uint64_t begin = memory.base() + segment.address;
    if (segment.executable()) {
      if (code_bytes != 0) refuse_image("more than one executable segment in it");
      code_begin = begin;
      code_bytes = segment.memory_bytes;
    }
    if (segment.writable()) {
      writable_begin = writable_begin == 0 ? begin : std::min(writable_begin, begin);
      writable_end = std::max(writable_end, begin + segment.memory_bytes);
    }
  }
  if (code_begin % 4 != 0) refuse_image("executable segment is misaligned");
  if (writable_begin != 0) {
    AddressSpace::instance().set_writable(memory.base(), writable_begin, writable_end);
  }
}

void CodeObject::State::relocate(const ElfImage& elf, const std::vector<ElfSymbol>& symbols) {
  for (const ElfRelocation& relocation : elf.relocations(memory.bytes())) {
    std::uint64_t target = 0;
    if (relocation.symbol != 0) {
      if (relocation.symbol >= symbols.size()) refuse_image("relocation without a symbol: damaged");
      const ElfSymbol& symbol = symbols[relocation.symbol];
      if (!symbol.defined && !symbol.weak) {
        refuse_image("symbol " + symbol.name + " is undefined: link what defines it");
      }
      target = symbol.defined ? memory.base() + symbol.value : 0;
    }
    const Stored stored = stored_value(relocation.type, target, memory.base(), relocation.addend);
    part(memory.bytes(), relocation.offset, stored.bytes, "relocated place");
    std::memcpy(memory.bytes().data() + relocation.offset, &stored.value, stored.bytes);
  }
}

void CodeObject::State::collect_functions(const ElfImage& elf,
                                          const std::vector<ElfSymbol>& symbols) {
  const auto add = [this](const std::vector<ElfSymbol>& from) {
    for (const ElfSymbol& symbol : from) {
      if (!symbol.defined || symbol.kind != SymbolKind::Function) continue;
      functions.push_back({memory.base() + symbol.value, symbol.bytes, symbol.name});
    }
  };
  add(symbols);
  add(elf.static_symbols());
  std::stable_sort(functions.begin(), functions.end(),
                   [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
}

void CodeObject::State::collect_variables(const std::vector<ElfSymbol>& symbols) {
  for (const ElfSymbol& symbol : symbols) {
    const bool marker = symbol.name.ends_with(".kd") || symbol.name.starts_with("__hip_cuid_");
    if (!symbol.defined || symbol.kind != SymbolKind::Object || marker) continue;
    part(memory.bytes(), symbol.value, symbol.bytes, "variable");
    variables.push_back({symbol.name, memory.base() + symbol.value, symbol.bytes});
  }
}

void CodeObject::State::complete(Kernel& kernel, std::uint64_t address) const {
  const Descriptor descriptor = Descriptor::at(address);
  if (descriptor.wave32()) refuse_image("kernel " + kernel.name + " is for waves of 32 lanes");
  const std::uint32_t unified = descriptor.unified_vgprs();
  kernel.descriptor = address;
  kernel.entry = address + static_cast<std::uint64_t>(descriptor.entry_offset);
  kernel.vgprs = std::min(unified, descriptor.accum_offset());
  kernel.accvgprs = unified - kernel.vgprs;
  if (kernel.entry % 4 != 0 || kernel.entry - code_begin >= code_bytes) {
    refuse_image("kernel " + kernel.name + " begins outside the executable segment: damaged");
  }
}

void CodeObject::State::collect_kernels(const ElfImage& elf,
                                        const std::vector<ElfSymbol>& symbols) {
  for (KernelMetadata& found : read_kernel_metadata(read_msgpack(elf.metadata()))) {
    const auto symbol = std::find_if(symbols.begin(), symbols.end(), [&found](const ElfSymbol& s) {
      return s.defined && s.name == found.symbol;
    });
    if (symbol == symbols.end()) {
      refuse_image("kernel " + found.kernel.name + " lacks its descriptor " + found.symbol);
    }
    part(memory.bytes(), symbol->value, Descriptor::size, "kernel descriptor");
    complete(found.kernel, memory.base() + symbol->value);
    kernels.push_back(std::move(found.kernel));
  }
}

CodeObject::CodeObject() = default;

CodeObject::~CodeObject() {
  if (state_ == nullptr) return;
  const std::lock_guard lock(loaded_mutex);
  loaded().erase(base());
}

std::unique_ptr<CodeObject> CodeObject::load(const void* image, std::size_t bytes_or_0,
                                             int device) {
  if (image == nullptr) refuse_image("the image is a null pointer");
  const bool exact = bytes_or_0 != 0;
  const Bytes file(static_cast<const std::uint8_t*>(image),
                   exact ? bytes_or_0 : readable_bytes(image));
  const TargetId target = parse_target_id(DeviceModel::instance().target_id).value();
  std::optional<Bundle> bundle;
  if (Bundle::recognises(file)) bundle.emplace(file, exact);
  const Bytes code = bundle.has_value() ? bundle->choose(target).code : file;
  if (!ElfImage::recognises(code)) {
    refuse_image("neither an ELF file nor an offload bundle");
  }
  const ElfImage elf(code);
  if (fit(elf.target(), target) == 0) {
    throw LoadError{status::no_binary_for_gpu,
                    "code object: it is for " + to_text(elf.target()) + ", this device is " +
                        to_text(target) + ": compile with --offload-arch=" + target.processor};
  }
  std::unique_ptr<CodeObject> object(new CodeObject());
  object->state_ = std::make_unique<State>(elf, device);
  State& state = *object->state_;
  state.place_segments(elf);
  const std::vector<ElfSymbol> symbols = elf.dynamic_symbols(state.memory.bytes());
  state.relocate(elf, symbols);
  state.collect_functions(elf, symbols);
  state.collect_variables(symbols);
  state.collect_kernels(elf, symbols);
  for (Kernel& kernel : state.kernels) kernel.code_object = object.get();
  const std::lock_guard lock(loaded_mutex);
  loaded().emplace(state.memory.base(), object.get());
  return object;
}

const Kernel* CodeObject::kernel(std::string_view name) const {
  for (const Kernel& kernel : state_->kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

const Variable* CodeObject::variable(std::string_view name) const {
  for (const Variable& variable : state_->variables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

std::span<const Kernel> CodeObject::kernels() const { return state_->kernels; }
std::span<const Variable> CodeObject::variables() const { return state_->variables; }
std::uint64_t CodeObject::base() const { return state_->memory.base(); }
std::size_t CodeObject::bytes() const { return state_->memory.bytes().size(); }
int CodeObject::device() const { return state_->device; }

std::string CodeObject::symbolize(std::uint64_t pc) const {
  const std::vector<CodeRange>& functions = state_->functions;
  const auto next =
      std::upper_bound(functions.begin(), functions.end(), pc,
                       [](std::uint64_t at, const CodeRange& f) { return at < f.begin; });
  if (next == functions.begin()) return "code object+" + hex(pc - base());
  const CodeRange& function = *std::prev(next);
  return function.name + "+" + hex(pc - function.begin);
}

std::string CodeObject::symbolize_loaded(std::uint64_t pc) {
  const std::lock_guard lock(loaded_mutex);
  const auto next = loaded().upper_bound(pc);
  if (next == loaded().begin()) return hex(pc);
  const CodeObject& object = *std::prev(next)->second;
  return pc - object.base() < object.bytes() ? object.symbolize(pc) : hex(pc);
}

Program& CodeObject::program(const Kernel& kernel) const {
  std::unique_ptr<Program>& program = state_->programs[&kernel];
  if (program == nullptr) {
    program =
        std::make_unique<Program>(state_->code_begin, state_->code_bytes,
                                  DeviceModel::instance().target, kernel.vgprs, kernel.accvgprs);
  }
  return *program;
}

}  // namespace hipgraph::emu
