#include <algorithm>
#include <vector>

#include "isa/tables.h"
#include "isa/vop3_rows.h"

namespace hipgraph::emu::tables {
namespace {

std::vector<Row> joined() {
  std::vector<Row> all;
  for (const auto rows : {vop3_integer(), vop3_float(), vop3_division(), vop3_convert(),
                          vop3_scaled_convert(), vop3_lane()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Row& a, const Row& b) { return a.opcode < b.opcode; });
  return all;
}

}  // namespace

std::span<const Row> vop3() {
  static const std::vector<Row> rows = joined();
  return rows;
}

}  // namespace hipgraph::emu::tables
