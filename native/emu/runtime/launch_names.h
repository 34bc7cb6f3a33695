#pragma once
#include <cstdint>
#include <string>

namespace hipgraph::emu {

/// Kernel names of the latest launches, for reports that name an earlier one. Used on the
/// executor's thread only.
struct LaunchNames {
  static void note(std::uint64_t launch, const std::string& kernel);
  /// The name of the kernel of that launch; empty when it is too long ago.
  static std::string of(std::uint64_t launch);
};

/// A mangled C++ name as people write it; other names as they are.
std::string demangled(const std::string& name);

}  // namespace hipgraph::emu
