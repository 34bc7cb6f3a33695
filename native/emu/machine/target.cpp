#include "machine/target.h"

#include <array>

namespace hipgraph::emu {
namespace {

constexpr std::array all_facts{
    TargetFacts{Target::gfx90a, "gfx90a", 0x3f, 104, 64 * 1024, 512, 1, false, false},
    TargetFacts{Target::gfx942, "gfx942", 0x4c, 304, 64 * 1024, 512, 8, true, true},
    TargetFacts{Target::gfx950, "gfx950", 0x4f, 256, 160 * 1024, 1280, 8, true, true},
};

}  // namespace

const TargetFacts& facts(Target target) {
  for (const TargetFacts& entry : all_facts) {
    if (entry.target == target) return entry;
  }
  __builtin_unreachable();  // the enumeration has no other member
}

}  // namespace hipgraph::emu
