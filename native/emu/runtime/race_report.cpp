#include "runtime/race_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "runtime/address_space.h"
#include "runtime/block.h"
#include "runtime/json.h"
#include "runtime/report.h"

namespace hipgraph::emu {
namespace {

const char* name(Touch how) {
  switch (how) {
    case Touch::Read: return "reads";
    case Touch::Write: return "writes";
    case Touch::AtomicRead: return "atomically reads";
    case Touch::AtomicWrite: return "atomically writes";
  }
  __builtin_unreachable();  // the enumeration has no other member
}

/// Who, and how both touched the bytes.
using Pair = std::tuple<std::string, Touch, Touch>;

/// The bytes of each pair, neighbours as one, by address.
std::map<Pair, std::vector<ByteRun>> bytes_by_pair(std::span<const Race> races) {
  std::map<Pair, std::vector<ByteRun>> found;
  for (const Race& race : races) {
    found[{race.other, race.how, race.other_how}].push_back(race.bytes);
  }
  for (auto& [pair, runs] : found) {
    std::ranges::sort(runs, {}, &ByteRun::begin);
    std::vector<ByteRun> merged;
    for (const ByteRun& run : runs) {
      if (merged.empty() || merged.back().end < run.begin) merged.push_back(run);
      merged.back().end = std::max(merged.back().end, run.end);
    }
    runs = std::move(merged);
  }
  return found;
}

std::string place_of(const ByteRun& run) {
  return AddressSpace::instance().describe(run.begin, run.end - run.begin);
}

std::string bytes_text(const std::vector<ByteRun>& runs) {
  const ByteRun& first = runs.front();
  const std::string more = runs.size() == 1 ? "" : ", and others up to " + hex(runs.back().end);
  return "[" + hex(first.begin) + ", " + hex(first.end) + ")" + more + ": " + place_of(first);
}

std::string party_json(const std::string& party, Touch how) {
  return JsonObject().add("name", party).add("access", name(how)).text();
}

std::string ranges_json(const std::vector<ByteRun>& runs) {
  JsonArray ranges;
  for (const ByteRun& run : runs) {
    ranges.add_raw("[\"" + hex(run.begin) + "\", \"" + hex(run.end) + "\"]");
  }
  return ranges.text();
}

}  // namespace

void report_races(const std::string& party, std::span<const Race> races) {
  std::string text =
      "emulated device: race: no stream order, edge, event or host synchronisation "
      "is between these:\n";
  JsonArray conflicts;
  for (const auto& [pair, runs] : bytes_by_pair(races)) {
    const auto& [other, how, other_how] = pair;
    text += "  bytes " + bytes_text(runs) + "\n    " + name(how) + ": " + party + "\n    " +
            name(other_how) + ": " + other + "\n";
    JsonObject conflict;
    conflict.add_raw("last", party_json(party, how)).add_raw("first", party_json(other, other_how));
    conflict.add_raw("ranges", ranges_json(runs)).add("allocation", place_of(runs.front()));
    conflicts.add_raw(conflict.text());
  }
  JsonObject json;
  json.add("kind", "race").add("text", text).add_raw("conflicts", conflicts.text());
  publish_report(text, json.text());
}

}  // namespace hipgraph::emu
