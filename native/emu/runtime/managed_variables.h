#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/code_object.h"

namespace hipgraph::emu {

/// The `__managed__` variables of a program or module. The code's own variable of that name holds
/// the address of managed memory, which ends with this.
class ManagedVariables {
 public:
  ManagedVariables() = default;
  ~ManagedVariables();
  ManagedVariables(const ManagedVariables&) = delete;
  ManagedVariables& operator=(const ManagedVariables&) = delete;

  /// Makes managed memory with these first contents; its address.
  void* add(std::string name, const void* initial, std::size_t bytes);
  /// Makes memory for every managed variable that the code itself describes: next to `name` it has
  /// the first contents as `name.managed`.
  void add_all(const CodeObject& code);
  /// Points the code's variables to the memory.
  void connect(const CodeObject& code) const;
  /// The memory of a variable; null when it is none.
  const Variable* find(std::string_view name) const;

 private:
  std::vector<Variable> variables_;
};

}  // namespace hipgraph::emu
