#include "runtime/launch_names.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace hipgraph::emu {
namespace {

constexpr std::size_t kept = 4096;

/// One launch that is remembered.
struct Entry {
  std::uint64_t launch = 0;
  std::string kernel;
};

Entry& entry(std::uint64_t launch) {
  static auto& entries = *new std::array<Entry, kept>();
  return entries[launch % kept];
}

}  // namespace

void LaunchNames::note(std::uint64_t launch, const std::string& kernel) {
  entry(launch) = {launch, kernel};
}

std::string LaunchNames::of(std::uint64_t launch) {
  return entry(launch).launch == launch ? entry(launch).kernel : std::string{};
}

std::string demangled(const std::string& name) {
  int error = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      ::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &error), std::free);
  return error == 0 && text != nullptr ? std::string(text.get()) : name;
}

}  // namespace hipgraph::emu
