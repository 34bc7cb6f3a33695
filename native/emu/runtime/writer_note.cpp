#include "runtime/writer_note.h"

namespace hipgraph::emu {
namespace {

constexpr unsigned wave_shift = 48;
constexpr std::uint64_t pc_mask = (std::uint64_t{1} << wave_shift) - 1;

}  // namespace

void WriterNote::take(const Writer& writer) {
  const auto number = static_cast<std::uint32_t>(writer.launch);
  if (wave_and_pc != 0 && launch != number) before = launch + 1;
  wave_and_pc = (std::uint64_t{writer.wave} + 1) << wave_shift | (writer.pc & pc_mask);
  launch = number;
  workgroup = writer.workgroup;
}

std::optional<Writer> WriterNote::writer() const {
  if (wave_and_pc == 0) return std::nullopt;
  return Writer{launch, workgroup, static_cast<std::uint32_t>((wave_and_pc >> wave_shift) - 1),
                wave_and_pc & pc_mask};
}

}  // namespace hipgraph::emu
