#include "runtime/stuck_groups.h"

#include <map>
#include <tuple>
#include <vector>

#include "runtime/block.h"
#include "runtime/launch_text.h"

namespace hipgraph::emu {
namespace {

/// Workgroups with consecutive numbers whose same waves wait.
struct WorkgroupRange {
  std::uint64_t first = 0, last = 0;
  std::vector<std::uint32_t> waves;
};

/// All who wait for one thing.
using Waiters = std::vector<WorkgroupRange>;

/// What several waves have in common: how they are stuck (polls come first: they are the reason),
/// at which instruction, and why.
using Head = std::tuple<StuckHow, std::string, std::string>;

/// What a polling wave waits for; empty for the others.
std::string awaited(const StuckWave& wave) {
  if (wave.how != StuckHow::Polls) return {};
  return ": " + hex(wave.poll.address) + " = " + wave.place + ", holds " +
         std::to_string(wave.poll.value) + " (" + hex(wave.poll.value) + "), last writer: " +
         (wave.writer.has_value() ? writer_text(*wave.writer, *wave.run) : "none");
}

void add(Waiters& waiters, const StuckWave& wave) {
  if (waiters.empty() || waiters.back().last != wave.workgroup) {
    waiters.push_back({wave.workgroup, wave.workgroup, {}});
  }
  waiters.back().waves.push_back(wave.wave);
}

/// Joins neighbours: workgroups 3 and 4 with the same waves become 3..4.
void join(Waiters& waiters) {
  Waiters joined;
  for (WorkgroupRange& range : waiters) {
    const bool next = !joined.empty() && joined.back().last + 1 == range.first &&
                      joined.back().waves == range.waves;
    if (next) {
      joined.back().last = range.last;
    } else {
      joined.push_back(std::move(range));
    }
  }
  waiters = std::move(joined);
}

/// "0-3,7".
std::string ranges(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string group_text(const Waiters& waiters, const KernelRun& run) {
  std::string text;
  for (const WorkgroupRange& range : waiters) {
    const bool one = range.first == range.last;
    text += (text.empty() ? "" : "; ") + std::string(one ? "workgroup " : "workgroups ") +
            triple(run.position(range.first)) +
            (one ? "" : ".." + triple(run.position(range.last)));
    text += (range.waves.size() == 1 ? " wave " : " waves ") + ranges(range.waves);
  }
  return text;
}

}  // namespace

std::string stuck_text(std::span<const StuckWave> waves) {
  std::map<Head, std::map<std::string, Waiters>> groups;
  std::map<Head, std::size_t> counts;
  for (const StuckWave& wave : waves) {
    const Head head{wave.how, wave.symbol + ": " + wave.instruction, wave.cause};
    ++counts[head];
    add(groups[head][awaited(wave)], wave);
  }
  std::string text;
  for (auto& [head, lines] : groups) {
    const auto& [how, place, cause] = head;
    const std::size_t count = counts[head];
    text += "  " + std::to_string(count) + (count == 1 ? " wave at " : " waves at ") + place +
            "\n    cause: " + cause + "\n";
    for (auto& [what, waiters] : lines) {
      join(waiters);
      text += "    " + group_text(waiters, *waves.front().run) + what + "\n";
    }
  }
  return text;
}

}  // namespace hipgraph::emu
