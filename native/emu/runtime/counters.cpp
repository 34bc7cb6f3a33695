#include "runtime/counters.h"

#include <array>
#include <mutex>

#include "runtime/json.h"

namespace hipgraph::emu {
namespace {

constexpr std::array<const char*, instruction_classes> class_names{
    "salu", "smem", "valu", "matrix", "lds", "vmem", "branch", "other"};

/// The running totals.
struct Totals {
  std::uint64_t launches = 0, workgroups = 0, waves = 0;
  std::array<std::uint64_t, instruction_classes> instructions{};
};

std::mutex mutex;
Totals totals;  // guarded by the mutex

}  // namespace

void Counters::add(const LaunchFacts& launch, std::uint64_t workgroups, std::uint64_t waves) {
  const std::lock_guard lock(mutex);
  ++totals.launches;
  totals.workgroups += workgroups;
  totals.waves += waves;
  for (std::size_t i = 0; i < instruction_classes; ++i) {
    totals.instructions[i] += launch.counts[i];
  }
}

std::string Counters::take() {
  Totals taken;
  {
    const std::lock_guard lock(mutex);
    std::swap(taken, totals);
  }
  JsonObject classes;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < instruction_classes; ++i) {
    classes.add(class_names[i], taken.instructions[i]);
    sum += taken.instructions[i];
  }
  JsonObject all;
  all.add("launches", taken.launches).add("workgroups", taken.workgroups).add("waves", taken.waves);
  all.add("instructions", sum).add_raw("by_class", classes.text());
  return all.text();
}

}  // namespace hipgraph::emu
