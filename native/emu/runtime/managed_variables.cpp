#include "runtime/managed_variables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "entry.h"
#include "runtime/address_space.h"

namespace hipgraph::emu {

ManagedVariables::~ManagedVariables() {
  for (const Variable& variable : variables_) AddressSpace::instance().release(variable.address);
}

void* ManagedVariables::add(std::string name, const void* initial, std::size_t bytes) {
  const auto made = AddressSpace::instance().allocate(bytes, AllocationKind::ManagedVariable, 0,
                                                      hipMemAttachGlobal);
  abi::require(made.has_value(), hipErrorOutOfMemory);
  variables_.push_back({std::move(name), made->base, bytes});
  auto* memory = reinterpret_cast<void*>(made->base);
  std::memcpy(memory, initial, bytes);
  AddressSpace::instance().note_host_write(made->base, bytes);
  return memory;
}

void ManagedVariables::add_all(const CodeObject& code) {
  constexpr std::string_view suffix = ".managed";
  for (const Variable& initial : code.variables()) {
    std::string_view name = initial.name;
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    add(std::string(name), reinterpret_cast<const void*>(initial.address), initial.bytes);
  }
}

void ManagedVariables::connect(const CodeObject& code) const {
  for (const Variable& variable : variables_) {
    const Variable* pointer = code.variable(variable.name);
    if (pointer == nullptr || pointer->bytes != sizeof variable.address) continue;
    std::memcpy(reinterpret_cast<void*>(pointer->address), &variable.address, pointer->bytes);
    AddressSpace::instance().note_host_write(pointer->address, pointer->bytes);
  }
}

const Variable* ManagedVariables::find(std::string_view name) const {
  const auto found = std::ranges::find(variables_, name, &Variable::name);
  return found == variables_.end() ? nullptr : &*found;
}

}  // namespace hipgraph::emu
